"""Blocks in memory, behind the interface of those that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from feaslearn.data.block import BLOCK_ROWS, Block
from feaslearn.data.block_source import BlockSource, Rows
from feaslearn.data.chunk_source import in_order
from feaslearn.data.table_blocks import TableBlocks

Answer = TypeVar("Answer")


class Blocks(Protocol):
    """The samples of a training objective, wherever they are: sums over them are all there is."""

    @property
    def first(self) -> Block:
        """Some samples, which tell sizes and units."""
        ...

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        ...

    def map(
        self,
        function: Callable[[Block, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = BLOCK_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block and the numbers of its rows, in order."""
        ...


class BlockList:
    """Blocks in memory.

    Parameters
    ----------
    blocks : sequence of Block
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Block, BlockList
    >>> block = Block(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> list(BlockList([block, block]).map(lambda block, rows: int(rows[0])))
    [0, 5]
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._ends = np.cumsum([len(block.weights) for block in blocks])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._ends[-1])

    @property
    def first(self) -> Block:
        """All samples, or some from everywhere where there are many."""
        step = -(-self.n_rows // BLOCK_ROWS)
        if len(self._blocks) == 1 and step == 1:
            return self._blocks[0]
        parts = [[array[::step] for array in block] for block in self._blocks]
        return Block(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def map(
        self,
        function: Callable[[Block, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = BLOCK_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block and the numbers of its rows, in order."""

        def one(place: int) -> Answer:
            block = self._blocks[place]
            end = int(self._ends[place])
            return function(block, np.arange(end - len(block.weights), end))

        return in_order(one, range(len(self._blocks)), n_jobs)


def as_blocks(blocks: Sequence[Block] | BlockSource) -> Blocks:
    """Return blocks behind one interface, whether they are in memory or not."""
    return blocks if isinstance(blocks, BlockSource | TableBlocks) else BlockList(blocks)
