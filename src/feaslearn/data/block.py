"""The samples that a loss reads at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray
from feaslearn.exceptions import DataError

#: Rows of a block: as many as fit a processor's cache with what is made of them.
BLOCK_ROWS = 8192


class Block(NamedTuple):
    """What a loss reads of some samples; NaN in the decisions means unobserved."""

    features: FloatArray
    costs: FloatArray
    decisions: FloatArray
    weights: FloatArray

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Block:
        """Return some of the samples."""
        return Block(*(np.ascontiguousarray(array[chosen]) for array in self))

    def negated(self) -> Block:
        """Return the same samples with what they maximise as something that they minimise."""
        return self._replace(costs=-self.costs)


def blocks_of(block: Block, size: int = BLOCK_ROWS) -> Iterator[Block]:
    """Cut a block into blocks of at most ``size`` samples, in order; they are views.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Block, blocks_of
    >>> whole = Block(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> [len(part.weights) for part in blocks_of(whole, size=2)]
    [2, 2, 1]
    """
    if size < 1:
        raise DataError(f"blocks: size is {size}, must be at least 1")
    for start in range(0, len(block.weights), size):
        yield Block(*(array[start : start + size] for array in block))
