"""Data that come piece by piece: the one protocol for files, iterators and clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from feaslearn.costs import FloatArray
from feaslearn.data.checks import Names
from feaslearn.exceptions import DataError

Answer = TypeVar("Answer")

Item = TypeVar("Item")


class ChunkSource(ABC):
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
    >>> from feaslearn.data import Chunk, ChunkSource, Names
    >>> class Made(ChunkSource):
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
            The signals that ``function`` looks at, where it looks at nothing else: a source that
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


# A part of data that are read piece by piece.


class Chunk(NamedTuple):
    """Some rows of a source, one after the other in it, checked.

    Parameters
    ----------
    signals : array of shape (N, K)
        The signals, finite.
    decisions : array of shape (N, n)
        The decisions; NaN means unobserved.
    weights : array of shape (N,)
        The weights of the samples as they were given, or ones.
    first : int
        The number of the first row in the whole source; the first row of all has number 0.
    place : str
        Where the rows stand, for the messages: a file, a partition.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Chunk
    >>> chunk = Chunk(np.ones((5, 2)), np.ones((5, 1)), np.ones(5), first=20, place="a.parquet")
    >>> chunk.rows(3, 9).first, chunk.rows(3, 9).n_rows
    (23, 2)
    """

    signals: FloatArray
    decisions: FloatArray
    weights: FloatArray
    first: int = 0
    place: str = ""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def rows(self, start: int, stop: int) -> Chunk:
        """Return some rows of the chunk, as views."""
        chosen = slice(start, stop)
        return Chunk(
            self.signals[chosen],
            self.decisions[chosen],
            self.weights[chosen],
            self.first + start,
            self.place,
        )


# Work on several items at a time, with the answers in order.


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], n_jobs: int
) -> Iterator[Answer]:
    """Yield what ``function`` makes of each item, in order, on ``n_jobs`` threads.

    Items are taken only as they are needed: not more than ``2 n_jobs`` are under way or waiting.

    Examples
    --------
    >>> from feaslearn.data.chunk_source import in_order
    >>> list(in_order(abs, [-3, 2, -1], n_jobs=2))
    [3, 2, 1]
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
