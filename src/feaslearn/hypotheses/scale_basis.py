r"""The functions :math:`\psi(s)` that the scales of a Minkowski sum are combinations of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from feaslearn.arrays import Array
from feaslearn.tolerances import SAME_TOL, TINY

SCALES = ("auto", "affine", "constant", "index")
#: Share of the variance of decisions that counts as noise in every combination of them.
INDEX_NOISE = 1e-3


@dataclass(frozen=True)
class ScaleBasis:
    r"""Functions :math:`\psi_1(s), \dots, \psi_m(s)` of the features."""

    # "affine" takes the features themselves, "constant" the constant alone. "index" takes piecewise
    # linear functions of one combination of the features that are one at a knot and zero at the
    # others: they are never negative, so coefficients that are not negative make a scale that is
    # not, at any signal. Outside the knots the index counts as the nearest knot. Knots are
    # multiples of a vector of length one, along which the index is measured. "auto" that nobody
    # has resolved is "affine".

    kind: str
    n_features: int
    n_knots: int = 5

    @property
    def knotted(self) -> bool:
        """Whether the functions have knots."""
        return self.kind == "index" and self.n_features > 1

    @property
    def knots_shape(self) -> tuple[int, int]:
        """Knots of each feature but the constant."""
        return self.n_knots, self.n_features - 1

    @property
    def size(self) -> int:
        """Number m of functions."""
        if self.knotted:
            return self.n_knots
        return self.n_features if self.kind in ("auto", "affine") else 1

    @property
    def nonnegative(self) -> bool:
        """Whether no function is ever negative, so that coefficients need not be either."""
        return self.knotted or self.size == 1

    def place_knots(self, features: Array, decisions: Array) -> Array:
        """Return knots at quantiles of the index, spread evenly where those coincide."""
        direction = best_explained(features[:, 1:], decisions)
        values = features[:, 1:] @ direction
        knots = np.quantile(values, np.linspace(0.0, 1.0, self.n_knots))
        if (np.diff(knots) <= SAME_TOL * np.ptp(values)).any():
            knots = np.linspace(values.min(), values.max(), self.n_knots)
        return np.asarray(knots[:, None] * direction)

    def values(self, features: Array, knots: Array | None) -> Array:
        """Return the functions at rows of features, (N, m)."""
        if not self.knotted or knots is None:
            return features[:, : self.size]
        direction = index_direction(knots)
        values, places = features[:, 1:] @ direction, knots @ direction
        # An index that never changed stands at its first knot.
        position = np.zeros(len(values))
        if places[-1] > places[0]:
            position = np.interp(values, places, np.arange(len(places)))
        return np.maximum(0.0, 1.0 - np.abs(position[:, None] - np.arange(len(places))))


def index_direction(knots: Array) -> Array:
    """Return the direction (k - 1,) that the knots of an index stand along; zero for a point."""
    along = knots[-1] - knots[0]
    return np.asarray(along / max(float(np.linalg.norm(along)), TINY))


def best_explained(values: Array, decisions: Array) -> Array:
    r"""Return the combination of features, of length one, that explains decisions best.

    .. math:: \max_v \; \frac{v'Fv}{v'(R + \epsilon I)v}, \qquad u(s) = v'\hat x(s)

    F and R are the covariances of a linear regression :math:`\hat x(s)` of the decisions and of its
    residuals. Where decisions keep a balance :math:`v'x = d(s)`, the index is its right-hand side.
    """
    observed = np.isfinite(decisions).all(axis=1)
    values, decisions = values[observed], decisions[observed]
    spread = values.std(axis=0) if len(values) else np.zeros(values.shape[1])
    changing = spread > SAME_TOL * np.abs(values).max(axis=0, initial=0.0)
    scaled = np.where(changing, values - values.mean(axis=0) if len(values) else values, 0.0)
    scaled = scaled / np.where(changing, spread, 1.0)
    centered = decisions - decisions.mean(axis=0) if len(decisions) else decisions
    total = float((centered**2).sum())
    if not total or not changing.any():
        return np.zeros(len(spread))
    slopes = np.linalg.lstsq(scaled, centered)[0]
    fitted = scaled @ slopes
    left = centered - fitted
    noise = INDEX_NOISE * total / decisions.shape[1] * np.eye(decisions.shape[1])
    along = eigh(fitted.T @ fitted, left.T @ left + noise)[1][:, -1]
    direction = np.where(changing, slopes @ along / np.where(changing, spread, 1.0), 0.0)
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    return np.asarray(direction / max(float(np.linalg.norm(direction)), TINY))
