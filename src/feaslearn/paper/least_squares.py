"""Weighted least squares with unobserved entries: the linear policy."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array
from feaslearn.tolerances import LSTSQ_TOL, ROUNDING


def least_squares(features: Array, targets: Array, weights: Array) -> Array:
    """Return the coefficients (k, n) of weighted least squares; NaN targets do not count."""
    # Of dependent features, the solution of least norm in standardised ones: units do not matter,
    # and a feature that never changed has no effect.
    beta = np.zeros((features.shape[1], targets.shape[1]))
    for pattern in np.unique(~np.isnan(targets), axis=1).T:
        columns = (~np.isnan(targets) == pattern[:, None]).all(axis=0)
        if pattern.any():
            beta[:, columns] = _complete(
                features[pattern], targets[pattern][:, columns], weights[pattern]
            )
    return beta


def _complete(features: Array, targets: Array, weights: Array) -> Array:
    """Regress targets that were all observed."""
    mean, scale = moments(features, weights)
    level = weights @ targets / weights.sum()
    roots = np.sqrt(weights)[:, None]
    centered = (features - mean)[:, 1:] / scale[1:] * roots
    slope = np.linalg.lstsq(centered, (targets - level) * roots, rcond=LSTSQ_TOL)[0]
    slope = slope / scale[1:, None]
    return np.vstack([level - mean[1:] @ slope, slope])


def moments(features: Array, weights: Array) -> tuple[Array, Array]:
    """Return mean and deviation of features: 0 and 1 for the constant, which comes first.

    A feature that never changes has an infinite deviation: divided by it, the feature vanishes.
    """
    total = weights.sum()
    mean = weights @ features / total
    scale = np.sqrt(weights @ (features - mean) ** 2 / total)
    scale[scale <= ROUNDING * np.abs(mean)] = np.inf
    mean[0], scale[0] = 0.0, 1.0
    return mean, scale
