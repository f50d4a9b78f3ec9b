r"""The functions :math:`\psi(s)` that the scales of a Minkowski sum are combinations of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feaslearn.arrays import Array
from feaslearn.tolerances import SAME_TOL

SCALES = ("affine", "shared", "constant", "box", "tents")


@dataclass(frozen=True)
class ScaleBasis:
    r"""Functions :math:`\psi_1(s), \dots, \psi_m(s)` of the features."""

    # "affine" and "shared" take the features themselves, "constant" the constant alone. "tents"
    # takes for each feature piecewise linear functions that are one at a knot and zero at the
    # others, and "box" those of two knots, u and 1 - u: they are never negative, so coefficients
    # that are not negative make a scale that is not, at any signal. Outside the knots a feature
    # counts as the nearest knot.

    kind: str
    n_features: int
    n_knots: int = 5

    @property
    def knotted(self) -> bool:
        """Whether the functions have knots."""
        return self.kind in ("box", "tents") and self.n_features > 1

    @property
    def knots_shape(self) -> tuple[int, int]:
        """Knots of each feature but the constant."""
        return (2 if self.kind == "box" else self.n_knots, self.n_features - 1)

    @property
    def size(self) -> int:
        """Number m of functions."""
        if self.knotted:
            return self.knots_shape[0] * self.knots_shape[1]
        return self.n_features if self.kind in ("affine", "shared") else 1

    @property
    def nonnegative(self) -> bool:
        """Whether no function is ever negative, so that coefficients need not be either."""
        return self.knotted or self.size == 1

    def place_knots(self, features: Array) -> Array:
        """Return knots at quantiles of the features, spread evenly where those coincide."""
        count = self.knots_shape[0]
        values = features[:, 1:]
        knots = np.quantile(values, np.linspace(0.0, 1.0, count), axis=0)
        even = np.linspace(values.min(axis=0), values.max(axis=0), count)
        coincide = (np.diff(knots, axis=0) <= SAME_TOL * np.ptp(values, axis=0)).any(axis=0)
        return np.asarray(np.where(coincide, even, knots))

    def values(self, features: Array, knots: Array | None) -> Array:
        """Return the functions at rows of features, (N, m)."""
        if not self.knotted or knots is None:
            return features[:, : self.size]
        count = len(knots)
        columns = []
        for values, places in zip(features[:, 1:].T, knots.T, strict=True):
            # A feature that never changed stands at its first knot.
            position = np.zeros(len(values))
            if places[-1] > places[0]:
                position = np.interp(values, places, np.arange(count))
            columns += [np.maximum(0.0, 1.0 - np.abs(position - i)) for i in range(count)]
        return np.column_stack(columns)
