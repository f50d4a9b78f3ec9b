"""R², with unobserved entries."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

Array = NDArray[np.float64]


def pooled_r2(observed: Array, predicted: Array, weights: Array | None = None) -> float:
    r"""Return R² pooled over outputs.

    .. math:: R^2 = 1 - \frac{\sum_i w_i \|x_i - \hat x_i\|^2}{\sum_i w_i \|x_i - \bar x\|^2}

    Parameters
    ----------
    observed : ndarray of shape (N, n)
        Decisions; NaN where not observed, which does not count. An output that never changes does
        not count either, as in scikit-learn's ``r2_score`` with ``"variance_weighted"``.
    predicted : ndarray of shape (N, n)
        Predictions.
    weights : ndarray of shape (N,), default=None
        Weights of the samples.

    Returns
    -------
    float
        One for perfect predictions, zero for the mean; NaN, with a warning, for one sample.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.metrics import pooled_r2
    >>> pooled_r2(np.array([[0.0], [np.nan], [2.0]]), np.array([[0.0], [7.0], [1.0]]))
    0.5
    """
    if len(observed) < 2:
        warnings.warn(
            "R² is not defined for fewer than two samples", UndefinedMetricWarning, stacklevel=3
        )
        return float("nan")
    each = np.ones(len(observed)) if weights is None else weights
    counted = np.where(np.isnan(observed), 0.0, each[:, None])
    filled = np.nan_to_num(observed)
    mean = (counted * filled).sum(axis=0) / np.maximum(counted.sum(axis=0), np.finfo(float).tiny)
    residual = (counted * (filled - predicted) ** 2).sum(axis=0)
    spread = (counted * (filled - mean) ** 2).sum(axis=0)
    changes = spread != 0.0
    if not changes.any():
        return float((residual == 0.0).mean())
    return float(1.0 - residual[changes].sum() / spread[changes].sum())
