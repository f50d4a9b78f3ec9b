"""Weighted least squares with unobserved entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.trainers.standardize import moments, weighted_sum

Array = NDArray[np.float64]


def least_squares(features: Array, targets: Array, weights: Array) -> Array:
    r"""Return the :math:`\beta` (k, n) that minimises :math:`\sum_i w_i \|x_i - \beta'\phi_i\|^2`.

    The first feature is the constant. NaN targets do not count; a target that was never observed
    gets zeros. Where features are dependent, the solution of least norm in standardised features
    is taken: units do not matter, and a feature that never changed has no effect.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.trainers.least_squares import least_squares
    >>> features = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> least_squares(features, np.array([[1.0], [3.0], [5.0]]), np.ones(3)).ravel().round(9)
    array([1., 2.])
    """
    observed = ~np.isnan(targets) & (weights > 0.0)[:, None]
    together: dict[bytes, list[int]] = {}
    for j, seen in enumerate(observed.T):
        together.setdefault(seen.tobytes(), []).append(j)
    beta = np.zeros((features.shape[1], targets.shape[1]))
    for columns in together.values():
        rows = observed[:, columns[0]]
        if rows.any():
            beta[:, columns] = _complete(features[rows], targets[rows][:, columns], weights[rows])
    return beta


def _complete(features: Array, targets: Array, weights: Array) -> Array:
    """Regress targets that were all observed."""
    mean, scale = moments([features], [weights])
    level = weighted_sum(targets, weights) / weights.sum()
    roots = np.sqrt(weights)[:, None]
    centered = (features - mean)[:, 1:] / scale[1:] * roots
    slope = np.linalg.lstsq(centered, (targets - level) * roots, rcond=1e-12)[0]
    slope = slope / scale[1:, None]
    return np.vstack([level - mean[1:] @ slope, slope])
