"""Which fold of a cross-validation a sample belongs to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import SHARD_ROWS

#: Of more samples than this, blocks of rows are folds: to choose from each shard takes longer.
MOST_DRAWN, BLOCK = 40 * SHARD_ROWS, 8 * SHARD_ROWS

Numbers = NDArray[np.intp]


class Folds(NamedTuple):
    """Folds of samples that are known by their numbers alone.

    Parameters
    ----------
    n_folds : int
        How many folds.
    drawn : ndarray or None
        The fold of each sample, where there are few; otherwise blocks of samples take turns.
    block : int
        The number of samples in a block.
    """

    n_folds: int
    drawn: Numbers | None
    block: int

    @classmethod
    def draw(cls, count: int, n_samples: int | None, random: np.random.Generator) -> Folds:
        """Divide samples into folds at random, or many of them by turns."""
        if count == 1 or n_samples is None or n_samples >= MOST_DRAWN:
            return cls(count, None, 1 if n_samples is None else BLOCK)
        return cls(count, random.permutation(n_samples) % min(count, n_samples), 1)

    def of(self, rows: Numbers) -> Numbers:
        """Return the fold of each of some samples."""
        if self.drawn is not None:
            return np.asarray(self.drawn[rows])
        return np.asarray((rows // self.block) % self.n_folds)
