"""Rows of signals and decisions, in memory, in files or on a cluster, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data.checks import Names
from feaslearn.exceptions import DataError

Answer = TypeVar("Answer")
Item = TypeVar("Item")

#: Rows of a block: as many as fit a processor's cache with what is made of them.
BLOCK_ROWS = 8192


class Source(ABC):
    """Chunks of signals and decisions that can be gone through again and again.

    Everything that is learned from chunks is a sum over them, so a source needs one method: `map`.
    It applies a function to every chunk *where the chunk is* (a thread, another machine) and hands
    the answers back in the order of the chunks: what travels are functions and their answers,
    never the data. Functions can be pickled by value, depend on the chunk alone, and may be called
    again for a chunk whose answer was lost.

    Examples
    --------
    A source that makes its chunks up:

    >>> import numpy as np
    >>> from feaslearn.data import Chunk, Names, Source
    >>> class Made(Source):
    ...     names = Names(("price", "demand"), ("power",))
    ...
    ...     def map(self, function, n_jobs=1, signals=None):
    ...         for seed in range(3):
    ...             table = np.random.default_rng(seed).uniform(size=(10, 3))
    ...             yield function(Chunk(table[:, :2], table[:, 2:], np.ones(10), 10 * seed))
    >>> sum(Made().map(lambda chunk: chunk.n_rows))
    30
    """

    #: Names of the signals and of the decisions.
    names: Names
    #: Whether the names of the signals are those of the user, and not just s0, s1, ...
    named: bool = True
    #: Whether answers that are to be added up are added where a chunk is, because they travel far.
    adds: bool = False
    #: The number of all rows, where it is known without reading them.
    n_rows: int | None = None

    @abstractmethod
    def map(
        self,
        function: Callable[[Chunk], Answer],
        n_jobs: int = 1,
        signals: tuple[int, ...] | None = None,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each chunk, in order: one pass over the data.

        Parameters
        ----------
        function : callable
            What to do with a chunk.
        n_jobs : int, default=1
            How many chunks are worked on at a time.
        signals : tuple of int, default=None
            The signals that ``function`` reads, where it reads nothing else: a source that
            can spare the others may hand over zeros in their place, and in that of the decisions.

        Yields
        ------
        object
            The answer for each chunk. Not more of them are kept than ``n_jobs`` chunks need.
        """

    def head(self) -> Chunk:
        """Return the first chunk."""
        found = next(iter(self.map(_itself)), None)
        if found is None:
            raise DataError("Chunks: there are no rows")
        return found


def _itself(chunk: Chunk) -> Chunk:
    return chunk


class Chunk(NamedTuple):
    """Some rows of a source, one after the other in it, checked."""

    signals: Array
    decisions: Array
    weights: Array
    first: int = 0
    place: str = ""
    costs: Array | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def rows(self, start: int, stop: int) -> Chunk:
        """Return some rows of the chunk, as views."""
        return self.chosen(slice(start, stop))._replace(first=self.first + start)

    def chosen(self, rows: slice | Mask | Indices) -> Chunk:
        """Return any rows of the chunk; their numbers are lost."""
        return self._replace(
            signals=self.signals[rows],
            decisions=self.decisions[rows],
            weights=self.weights[rows],
            costs=None if self.costs is None else self.costs[rows],
        )


@dataclass(frozen=True, eq=False)
class Memory(Source):
    """One table in memory, which is read in windows; nothing is copied."""

    table: Chunk
    rows: int = BLOCK_ROWS

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise DataError(f"Samples: rows is {self.rows}, must be at least 1")

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self.table.n_rows

    def cut(self, rows: int) -> Memory:
        """Return the same rows in other windows, unless these are smaller."""
        return self if self.rows < BLOCK_ROWS else replace(self, rows=rows)

    def map(
        self,
        function: Callable[[Chunk], Answer],
        n_jobs: int = 1,
        signals: tuple[int, ...] | None = None,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each window, in order; empty tables have one, too."""
        starts = range(0, max(1, self.n_rows), self.rows)

        def one(start: int) -> Answer:
            return function(self.table.rows(start, start + self.rows))

        return in_order(one, starts, min(n_jobs, len(starts)))


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], n_jobs: int
) -> Iterator[Answer]:
    """Yield what ``function`` makes of each item, in order, on ``n_jobs`` threads.

    Items are taken only as they are needed: not more than ``2 n_jobs`` are under way or waiting.
    """
    if n_jobs <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Answer]] = deque()
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
