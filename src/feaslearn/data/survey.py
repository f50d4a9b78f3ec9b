"""What a pass over data in chunks learns on its way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray
from feaslearn.data.chunk import Chunk
from feaslearn.data.column_ends import column_ends
from feaslearn.data.observed import observed
from feaslearn.data.shard import Shard

#: Rows that are kept, spread evenly over the data; up to twice as many.
KEPT = 2000


class Survey(NamedTuple):
    """Sizes, ranges and some rows of data that were gone through; surveys of parts add up.

    Parameters
    ----------
    n_rows : int
        Rows of the source.
    n_samples : int
        Those that count: with a positive weight, and something observed.
    weight : float
        The sum of their weights.
    observed : ndarray of shape (n,)
        How often each decision was observed.
    signals, decisions : ndarray of shape (2, K) and (2, n)
        Least and greatest values.
    step : int
        Rows whose number is a multiple of this are kept.
    numbers : ndarray
        The numbers of the rows that are kept.
    rows : Shard
        These rows.
    """

    n_rows: int
    n_samples: int
    weight: float
    observed: NDArray[np.intp]
    signals: FloatArray
    decisions: FloatArray
    step: int
    numbers: NDArray[np.intp]
    rows: Shard

    @classmethod
    def of(cls, chunk: Chunk, shard: Shard, kept: NDArray[np.intp], step: int) -> Survey:
        """Look at a chunk and at the shard that was made of its rows ``kept``."""
        signals = chunk.signals
        if len(kept) == chunk.n_rows:
            chosen = np.arange(-chunk.first % step, chunk.n_rows, step)
        else:
            signals = signals[kept]
            chosen = np.flatnonzero((chunk.first + kept) % step == 0)
        return cls(
            chunk.first + chunk.n_rows,
            len(kept),
            float(shard.weights.sum()),
            observed(shard.decisions),
            column_ends(signals),
            column_ends(shard.decisions),
            step,
            chunk.first + kept[chosen],
            shard.rows(chosen),
        )

    def plus(self, other: Survey) -> Survey:
        """Return the survey of both parts."""
        step = max(self.step, other.step)
        numbers = np.concatenate([self.numbers, other.numbers])
        rows = Shard(*(np.concatenate(pair) for pair in zip(self.rows, other.rows, strict=True)))
        while (chosen := numbers % step == 0).sum() > 2 * KEPT:
            step *= 2
        return Survey(
            max(self.n_rows, other.n_rows),
            self.n_samples + other.n_samples,
            self.weight + other.weight,
            self.observed + other.observed,
            _both(self.signals, other.signals),
            _both(self.decisions, other.decisions),
            step,
            numbers[chosen],
            rows.rows(chosen),
        )


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.array([np.fmin(one[0], other[0]), np.fmax(one[1], other[1])])
