"""Data that come piece by piece: the one protocol for files, iterators and clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

from feaslearn.data.checks import Names
from feaslearn.data.chunk import Chunk
from feaslearn.exceptions import DataError

Answer = TypeVar("Answer")


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
