"""Samples in memory as they were handed over; what a loss reads is made when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, overload

import numpy as np

from feaslearn.data.checks import observed
from feaslearn.data.chunk_source import in_order
from feaslearn.data.shard import SHARD_ROWS, Shard
from feaslearn.data.shard_source import Rows

Answer = TypeVar("Answer")
#: Makes what a loss reads of some rows.
ReadRows = Callable[[Shard], Shard]


@dataclass(frozen=True, eq=False)
class TableShards(Sequence[Shard]):
    """The shards of one table.

    Parameters
    ----------
    table : Shard
        All samples: those that a loss reads or, with ``read``, what it makes them of. Nothing is
        copied, and numbers may have single precision.
    read : callable, optional
        Makes the samples that a loss reads of rows of the table, each time they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Shard, TableShards
    >>> table = Shard(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> twice = TableShards(table).apply(lambda shard: shard._replace(costs=2 * shard.costs))
    >>> twice.n_rows, twice.every(2).costs.ravel().tolist()
    (5, [2.0, 2.0, 2.0])
    """

    table: Shard
    read: ReadRows | None = None

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return len(self.table.weights)

    @property
    def n_decisions(self) -> int:
        """The number of decisions."""
        return int(self.table.decisions.shape[1])

    @property
    def single(self) -> bool:
        """Whether signals have single precision."""
        return self.table.features.dtype == np.float32

    @cached_property
    def n_observed(self) -> int:
        """The number of decisions that were observed."""
        return int(observed(self.table.decisions).sum())

    def __len__(self) -> int:
        return len(range(0, self.n_rows, SHARD_ROWS))

    @overload
    def __getitem__(self, place: int) -> Shard: ...
    @overload
    def __getitem__(self, place: slice) -> list[Shard]: ...
    def __getitem__(self, place: int | slice) -> Shard | list[Shard]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"shard {place} of {len(self)}")
        return self._beginning if place == 0 else self._from((place % len(self)) * SHARD_ROWS)

    @cached_property
    def _beginning(self) -> Shard:
        """The first shard, which tells sizes again and again."""
        return self._from(0)

    def _from(self, start: int, rows: int = SHARD_ROWS) -> Shard:
        return self.rows(slice(start, start + rows))

    def rows(self, chosen: slice | Rows) -> Shard:
        """Return some samples as one shard."""
        some = Shard(*(array[chosen] for array in self.table))
        return some if self.read is None else self.read(some)

    def whole(self) -> Shard:
        """Return all samples as one shard."""
        return self.rows(slice(None))

    def every(self, step: int) -> Shard:
        """Return every so many samples as one shard."""
        some = self.rows(slice(None, None, step))
        return Shard(*(np.ascontiguousarray(array) for array in some))

    @property
    def first(self) -> Shard:
        """All samples, or some from everywhere where there are many."""
        return self.every(-(-self.n_rows // SHARD_ROWS))

    def apply(self, function: ReadRows) -> TableShards:
        """Return the shards that ``function`` makes of these."""
        if self.read is None:
            return TableShards(function(self.table))
        return TableShards(self.table, _Then(self.read, function))

    def map(
        self,
        function: Callable[[Shard, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = SHARD_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each shard and the numbers of its rows, in order."""

        def one(start: int) -> Answer:
            shard = self._from(start, rows)
            return function(shard, np.arange(start, start + len(shard.weights)))

        starts = range(0, self.n_rows, rows)
        return in_order(one, starts, min(n_jobs, len(starts)))


@dataclass(frozen=True)
class _Then:
    """A reading, and what is made of the shard; an object, so that it can be sent."""

    read: ReadRows
    function: ReadRows

    def __call__(self, shard: Shard) -> Shard:
        return self.function(self.read(shard))
