"""Samples in memory as they were handed over; what a loss reads is made when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, overload

import numpy as np

from feaslearn.data.block import BLOCK_ROWS, Block
from feaslearn.data.block_source import Rows
from feaslearn.data.checks import observed
from feaslearn.data.chunk_source import in_order

Answer = TypeVar("Answer")
#: Makes what a loss reads of some rows.
ReadRows = Callable[[Block], Block]


@dataclass(frozen=True, eq=False)
class TableBlocks(Sequence[Block]):
    """The blocks of one table.

    Parameters
    ----------
    table : Block
        All samples: those that a loss reads or, with ``read``, what it makes them of. Nothing is
        copied, and numbers may have single precision.
    read : callable, optional
        Makes the samples that a loss reads of rows of the table, each time they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Block, TableBlocks
    >>> table = Block(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> twice = TableBlocks(table).apply(lambda block: block._replace(costs=2 * block.costs))
    >>> twice.n_rows, twice.every(2).costs.ravel().tolist()
    (5, [2.0, 2.0, 2.0])
    """

    table: Block
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
        return len(range(0, self.n_rows, BLOCK_ROWS))

    @overload
    def __getitem__(self, place: int) -> Block: ...
    @overload
    def __getitem__(self, place: slice) -> list[Block]: ...
    def __getitem__(self, place: int | slice) -> Block | list[Block]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"block {place} of {len(self)}")
        return self._beginning if place == 0 else self._from((place % len(self)) * BLOCK_ROWS)

    @cached_property
    def _beginning(self) -> Block:
        """The first block, which tells sizes again and again."""
        return self._from(0)

    def _from(self, start: int, rows: int = BLOCK_ROWS) -> Block:
        return self.rows(slice(start, start + rows))

    def rows(self, chosen: slice | Rows) -> Block:
        """Return some samples as one block."""
        some = Block(*(array[chosen] for array in self.table))
        return some if self.read is None else self.read(some)

    def whole(self) -> Block:
        """Return all samples as one block."""
        return self.rows(slice(None))

    def every(self, step: int) -> Block:
        """Return every so many samples as one block."""
        some = self.rows(slice(None, None, step))
        return Block(*(np.ascontiguousarray(array) for array in some))

    @property
    def first(self) -> Block:
        """All samples, or some from everywhere where there are many."""
        return self.every(-(-self.n_rows // BLOCK_ROWS))

    def apply(self, function: ReadRows) -> TableBlocks:
        """Return the blocks that ``function`` makes of these."""
        if self.read is None:
            return TableBlocks(function(self.table))
        return TableBlocks(self.table, _Then(self.read, function))

    def map(
        self,
        function: Callable[[Block, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = BLOCK_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block and the numbers of its rows, in order."""

        def one(start: int) -> Answer:
            block = self._from(start, rows)
            return function(block, np.arange(start, start + len(block.weights)))

        starts = range(0, self.n_rows, rows)
        return in_order(one, starts, min(n_jobs, len(starts)))


@dataclass(frozen=True)
class _Then:
    """A reading, and what is made of the block; an object, so that it can be sent."""

    read: ReadRows
    function: ReadRows

    def __call__(self, block: Block) -> Block:
        return self.function(self.read(block))
