"""What features and decisions are measured in while their products are added up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.tolerances import ROUNDING
from feaslearn.trainers.standardize import moments as mean_and_scale


class Units(NamedTuple):
    """Mean and scale of the features, and the level of the decisions."""

    # The constant keeps mean 0 and scale 1. A feature that never changes has an infinite scale:
    # divided by it, the feature vanishes.

    mean: Array
    scale: Array
    center: Array

    @classmethod
    def of(cls, rows: Block, offset: bool, exact: bool) -> Units:
        """Measure some rows: all of them (``exact``), or a part that others may be unlike."""
        # Without an offset, which takes up the level of the decisions, that is zero.
        mean, scale = mean_and_scale([rows.features], [rows.weights])
        if not exact:
            # What did not change so far may do so later.
            scale = np.where(np.isfinite(scale), scale, np.where(mean == 0.0, 1.0, np.abs(mean)))
        center = np.zeros(rows.decisions.shape[1])
        if offset:
            seen = ~np.isnan(rows.decisions)
            weight = rows.weights @ seen
            total = rows.weights @ np.where(seen, rows.decisions, 0.0)
            center = np.asarray(total / np.where(weight > 0.0, weight, 1.0))
        return cls(mean, scale, center)

    def refined(self, ones: Array, squares: Array, weight: float, level: Array) -> Units:
        """Return the units of all rows, given sums in these units.

        ``ones`` and ``squares`` are the weighted sums of the features, and of their squares;
        ``level`` is the mean of the decisions. Features beyond those given stay as they are.
        """
        mean, scale = self.mean.copy(), self.scale.copy()
        part = slice(1, len(ones))
        away = ones[part] / weight
        spread = np.sqrt(np.maximum(squares[part] / weight - away**2, 0.0))
        mean[part] += self.scale[part] * away
        scale[part] *= spread
        still = scale[part] <= ROUNDING * np.abs(mean[part])
        # A variance that is the difference of larger numbers carries their rounding.
        still |= spread <= np.sqrt(ROUNDING) * np.abs(away)
        scale[part] = np.where(still, np.inf, scale[part])
        return Units(mean, scale, self.center + level)

    def apply(self, features: Array) -> Array:
        """Return features in these units."""
        return np.asarray((features - self.mean) * (1.0 / self.scale))

    def change(self, other: Units) -> Array:
        """Return the matrix that turns features in these units into those in ``other``."""
        change = np.diag(self.scale / other.scale)
        change[:, 0] += (self.mean - other.mean) / other.scale
        change[0] = np.eye(len(change))[0]
        return change
