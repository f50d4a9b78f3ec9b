"""The samples of a training objective, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.chunk import Chunk
from feaslearn.data.chunk_source import ChunkSource
from feaslearn.data.shard import SHARD_ROWS, Shard

Answer = TypeVar("Answer")
Rows: TypeAlias = NDArray[np.intp]
#: Makes a shard of the rows of a chunk that count, and says which those are.
Read: TypeAlias = Callable[[Chunk], tuple[Shard, Rows]]


@dataclass(frozen=True, eq=False)
class ShardSource:
    """The shards of data that come in chunks; each `map` is one pass over the data.

    Parameters
    ----------
    chunks : ChunkSource
        The data.
    read : callable
        Makes of a chunk the shard that a loss reads, and says which rows of the chunk it holds.
    first : Shard
        Some rows at the beginning, which are kept: they tell the sizes.
    features : tuple of int, optional
        The signals that features are made of, where features alone can be had for less.
    """

    chunks: ChunkSource
    read: Read
    first: Shard
    features: tuple[int, ...] | None = None
    _passes: list[int] = field(default_factory=lambda: [0])

    @property
    def passes(self) -> int:
        """How often the data were gone through."""
        return self._passes[0]

    def map(
        self,
        function: Callable[[Shard, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each shard, in order.

        Parameters
        ----------
        function : callable
            Is given a shard and the number of each of its rows in the source.
        n_jobs : int, default=1
            How many chunks are worked on at a time.
        features_only : bool, default=False
            Whether ``function`` looks at features alone: costs and decisions may be zeros.

        Yields
        ------
        object
            The answer for each shard.
        """
        self._passes[0] += 1
        signals = self.features if features_only else None
        for answers in self.chunks.map(_OfChunk(self.read, function), n_jobs, signals):
            yield from answers

    def __iter__(self) -> Iterator[Shard]:
        return self.map(_shard)

    def apply(self, function: Callable[[Shard], Shard]) -> ShardSource:
        """Return the shards that ``function`` makes of these; nothing is read."""
        return replace(self, read=_Then(self.read, function), first=function(self.first))


@dataclass(frozen=True)
class _OfChunk:
    """Applies a function to every shard of a chunk; an object, so that it can be sent."""

    read: Read
    function: Callable[[Shard, Rows], Any]

    def __call__(self, chunk: Chunk) -> list[Any]:
        answers = []
        for start in range(0, chunk.n_rows, SHARD_ROWS):
            part = chunk.rows(start, start + SHARD_ROWS)
            shard, kept = self.read(part)
            if len(kept):
                answers.append(self.function(shard, part.first + kept))
        return answers


@dataclass(frozen=True)
class _Then:
    """A reading, and what is made of the shard."""

    read: Read
    function: Callable[[Shard], Shard]

    def __call__(self, chunk: Chunk) -> tuple[Shard, Rows]:
        shard, kept = self.read(chunk)
        return self.function(shard), kept


def _shard(shard: Shard, _: Rows) -> Shard:
    return shard
