"""Which fold of a cross-validation a sample belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Indices
from feaslearn.data import BLOCK_ROWS, Block, Samples
from feaslearn.trainers.out_of_fold import folds_of

#: Of more samples than this, runs of rows are folds: to choose from each block takes longer.
MOST_DRAWN, FOLD_ROWS = 40 * BLOCK_ROWS, 8 * BLOCK_ROWS


class Folds(NamedTuple):
    """Folds of samples that are known by their numbers alone."""

    n_folds: int
    drawn: Indices | None
    rows: int

    @classmethod
    def draw(
        cls,
        samples: Samples,
        n_folds: int,
        random: np.random.Generator,
        between: Callable[[], object] | None = None,
    ) -> Folds:
        """Divide samples into folds at random, equal ones together, or many of them by turns.

        Few samples that are not in memory are read for that, and where nobody knows how many there
        are, all of them; ``between`` blocks of these something may be done.
        """
        if n_folds > 1 and samples.n_rows is None:
            samples.summary(between)
        total = samples.n_rows
        if n_folds == 1 or total is None or total >= MOST_DRAWN:
            return cls(n_folds, None, FOLD_ROWS)
        parts = list(samples.map_rows(_with_numbers))
        drawn = np.zeros(total, dtype=np.intp)
        drawn[np.concatenate([rows for _, rows in parts])] = folds_of(
            [part for part, _ in parts], n_folds, random
        )
        return cls(n_folds, drawn, FOLD_ROWS)

    def of(self, rows: Indices) -> Indices:
        """Return the fold of each of some samples."""
        if self.drawn is not None:
            return np.asarray(self.drawn[rows])
        return np.asarray((rows // self.rows) % self.n_folds)


def _with_numbers(block: Block, rows: Indices) -> tuple[Block, Indices]:
    return block, rows
