"""How a chunk becomes what a loss reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import ResolvedCost
from feaslearn.data import Chunk, Shard
from feaslearn.data.observed import counting
from feaslearn.exceptions import DataError
from feaslearn.features import FeatureMap
from feaslearn.regressor.sample_reader import SampleReader


@dataclass(frozen=True)
class ChunkReader:
    """Makes features and costs of a chunk's signals, and leaves out rows that do not count.

    Parameters
    ----------
    features : FeatureMap
        How features are made of signals.
    cost : ResolvedCost or None
        How costs are read from signals; without, they are zero.
    sign : float
        -1 where decisions maximise their cost.
    """

    features: FeatureMap
    cost: ResolvedCost | None
    sign: float

    def __call__(self, chunk: Chunk) -> tuple[Shard, NDArray[np.intp]]:
        """Return the shard, and which rows of the chunk it holds."""
        signals, decisions, weights = (np.asarray(a, dtype=float) for a in chunk[:3])
        kept = np.arange(len(weights))
        count = counting(decisions, weights)
        if not count.all():
            kept = np.flatnonzero(count)
            signals, decisions, weights = signals[kept], decisions[kept], weights[kept]
        try:
            shard = SampleReader(self.features, self.cost).made(signals, decisions, weights)
        except DataError as error:
            raise DataError(
                f"{chunk.place}: {error} (rows are counted from row {chunk.first} of the data)"
            ) from error
        return shard.negated() if self.sign < 0.0 else shard, kept
