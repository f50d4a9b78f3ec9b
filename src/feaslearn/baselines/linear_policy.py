"""The linear policy: decisions regressed on signals."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import validate_data

from feaslearn.baselines.samples import check_samples, signals_to_predict
from feaslearn.exceptions import DataError

FloatArray = NDArray[np.float64]


class LinearPolicy(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Ordinary least squares of the decisions on the signals and a constant.

    .. math:: \hat x(s) = a + B s, \qquad \min_{a, B} \sum_i w_i \|x_i - a - B s_i\|^2

    It is the policy of a decision maker with a quadratic cost and no constraints, and it knows
    neither the cost nor the region. Entries of the decisions that are NaN were not observed and do
    not count.

    Attributes
    ----------
    coef_ : ndarray of shape (n, K), or (K,) for decisions given as one column
        The matrix B.
    intercept_ : ndarray of shape (n,), or float
        The constant a.
    n_features_in_ : int
        The number K of signals.
    feature_names_in_ : ndarray of shape (K,)
        The names of the signals, where they have names.

    References
    ----------
    Keshavarz, Wang and Boyd, "Imputing a convex objective function", IEEE International Symposium
    on Intelligent Control, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.baselines import LinearPolicy
    >>> signals = np.array([[0.0], [1.0], [2.0]])
    >>> policy = LinearPolicy().fit(signals, [[0.0, 5.0], [2.0, np.nan], [4.0, 5.0]])
    >>> policy.predict([[3.0]]).round(9)
    array([[6., 5.]])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the policy.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.
        y : array_like of shape (N, n) or (N,)
            The decisions; NaN where not observed.
        sample_weight : array_like of shape (N,), optional
            The weight of each sample, not negative.

        Returns
        -------
        LinearPolicy
            The policy itself.
        """
        signals, decisions, weights = check_samples(X, y, sample_weight, "LinearPolicy")
        validate_data(self, X, skip_check_array=True)
        coef, intercept = _least_squares(signals, decisions, weights)
        one_column = np.asarray(y).ndim == 1
        self.coef_ = coef[0] if one_column else coef
        self.intercept_ = float(intercept[0]) if one_column else intercept
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the decisions of the policy.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.

        Returns
        -------
        ndarray of shape (N, n) or (N,)
            The decisions, in the shape of those it was fitted to.
        """
        signals = signals_to_predict(self, X, "coef_")
        return np.asarray(signals @ self.coef_.T + self.intercept_)


def _least_squares(
    signals: FloatArray, decisions: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Regress the outputs that are observed in the same rows together."""
    n_outputs = decisions.shape[1]
    coef, intercept = np.empty((n_outputs, signals.shape[1])), np.empty(n_outputs)
    observed = ~np.isnan(decisions)
    unseen = np.flatnonzero(~(observed & (weights > 0)[:, None]).any(axis=0))
    if len(unseen):
        raise DataError(
            f"LinearPolicy: columns {unseen.tolist()} of y have no observed entry of non-zero "
            "weight; drop them, or check sample_weight"
        )
    patterns, members = np.unique(observed, axis=1, return_inverse=True)
    members = members.ravel()
    for group in range(patterns.shape[1]):
        rows, outputs = patterns[:, group], np.flatnonzero(members == group)
        line = LinearRegression().fit(
            signals[rows], decisions[rows][:, outputs], sample_weight=weights[rows]
        )
        coef[outputs], intercept[outputs] = line.coef_, line.intercept_
    return coef, intercept
