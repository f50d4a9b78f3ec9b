"""The samples that a loss reads at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray
from feaslearn.exceptions import DataError

#: Rows of a shard: as many as fit a processor's cache with what is made of them.
SHARD_ROWS = 8192


class Shard(NamedTuple):
    """What a loss reads of some samples; NaN in the decisions means unobserved."""

    features: FloatArray
    costs: FloatArray
    decisions: FloatArray
    weights: FloatArray

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Shard:
        """Return some of the samples."""
        return Shard(*(np.ascontiguousarray(array[chosen]) for array in self))

    def negated(self) -> Shard:
        """Return the same samples with what they maximise as something that they minimise."""
        return self._replace(costs=-self.costs)


def shards(shard: Shard, size: int = SHARD_ROWS) -> Iterator[Shard]:
    """Cut a shard into shards of at most ``size`` samples, in order; they are views.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Shard, shards
    >>> whole = Shard(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1)), np.ones(5))
    >>> [len(part.weights) for part in shards(whole, size=2)]
    [2, 2, 1]
    """
    if size < 1:
        raise DataError(f"shards: size is {size}, must be at least 1")
    for start in range(0, len(shard.weights), size):
        yield Shard(*(array[start : start + size] for array in shard))
