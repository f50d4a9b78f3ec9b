"""Shards in memory, behind the interface of those that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from feaslearn.data.chunk_source import in_order
from feaslearn.data.shard import SHARD_ROWS, Shard
from feaslearn.data.shard_source import Rows, ShardSource
from feaslearn.data.table_shards import TableShards

Answer = TypeVar("Answer")


class Shards(Protocol):
    """The samples of a training objective, wherever they are: sums over them are all there is."""

    @property
    def first(self) -> Shard:
        """Some samples, which tell sizes and units."""
        ...

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        ...

    def map(
        self,
        function: Callable[[Shard, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = SHARD_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each shard and the numbers of its rows, in order."""
        ...


class ShardList:
    """Shards in memory.

    Parameters
    ----------
    shards : sequence of Shard
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Shard, ShardList
    >>> shard = Shard(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> list(ShardList([shard, shard]).map(lambda shard, rows: int(rows[0])))
    [0, 5]
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self._ends = np.cumsum([len(shard.weights) for shard in shards])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._ends[-1])

    @property
    def first(self) -> Shard:
        """All samples, or some from everywhere where there are many."""
        step = -(-self.n_rows // SHARD_ROWS)
        if len(self._shards) == 1 and step == 1:
            return self._shards[0]
        parts = [[array[::step] for array in shard] for shard in self._shards]
        return Shard(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def map(
        self,
        function: Callable[[Shard, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = SHARD_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each shard and the numbers of its rows, in order."""

        def one(place: int) -> Answer:
            shard = self._shards[place]
            end = int(self._ends[place])
            return function(shard, np.arange(end - len(shard.weights), end))

        return in_order(one, range(len(self._shards)), n_jobs)


def shards_of(shards: Sequence[Shard] | ShardSource) -> Shards:
    """Return shards behind one interface, whether they are in memory or not."""
    return shards if isinstance(shards, ShardSource | TableShards) else ShardList(shards)
