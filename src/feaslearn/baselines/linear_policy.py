"""The linear policy: decisions regressed on signals."""

from __future__ import annotations

from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import validate_data

from feaslearn.baselines.regression_moments import RegressionMoments
from feaslearn.baselines.samples import check_samples, signals_to_predict
from feaslearn.data import ChunkSource
from feaslearn.exceptions import DataError

FloatArray = NDArray[np.float64]


class LinearPolicy(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Ordinary least squares of the decisions on the signals and a constant.

    .. math:: \hat x(s) = a + B s, \qquad \min_{a, B} \sum_i w_i \|x_i - a - B s_i\|^2

    It is the policy of a decision maker with a quadratic cost and no constraints, and it knows
    neither the cost nor the region. Entries of the decisions that are NaN were not observed and do
    not count.

    Parameters
    ----------
    forgetting : float, default=1.0
        What a sample counts after the next one; below one, for `partial_fit` on a plant that
        drifts.

    Attributes
    ----------
    coef_ : ndarray of shape (n, K), or (K,) for decisions given as one column
        The matrix B.
    intercept_ : ndarray of shape (n,), or float
        The constant a.
    moments_ : RegressionMoments
        What the policy goes on from.
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

    def __init__(self, forgetting: float = 1.0) -> None:
        self.forgetting = forgetting

    def fit(
        self,
        X: ArrayLike | ChunkSource,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the policy.

        Parameters
        ----------
        X : array_like of shape (N, K), or Chunks
            The signals; or `Chunks`, which hold the decisions too and are gone through once.
        y : array_like of shape (N, n) or (N,)
            The decisions; NaN where not observed.
        sample_weight : array_like of shape (N,), optional
            The weight of each sample, not negative.

        Returns
        -------
        LinearPolicy
            The policy itself.
        """
        if isinstance(X, ChunkSource):
            return self._fit_chunks(X, y, sample_weight)
        signals, decisions, weights = check_samples(X, y, sample_weight, "LinearPolicy")
        _check_forgetting(self.forgetting)
        validate_data(self, X, skip_check_array=True)
        ages = np.arange(len(weights) - 1.0, -1.0, -1.0)
        coef, intercept = _least_squares(signals, decisions, weights * self.forgetting**ages)
        one_column = np.asarray(y).ndim == 1
        self.coef_ = coef[0] if one_column else coef
        self.intercept_ = float(intercept[0]) if one_column else intercept
        blank = RegressionMoments.begun(signals, decisions.shape[1])
        self.moments_ = blank.after(signals, decisions, weights, self.forgetting)
        return self

    def _fit_chunks(self, chunks: ChunkSource, *others: object) -> Self:
        if self.forgetting != 1.0 or any(other is not None for other in others):
            raise DataError(
                "LinearPolicy: from Chunks, which hold decisions and weights themselves, all "
                "samples count alike; pass neither y nor sample_weight, and forgetting=1"
            )
        head = np.asarray(chunks.head().signals, dtype=float)
        moments = RegressionMoments.begun(head, len(chunks.names.decisions))
        for part in chunks.map(moments.of_chunk):
            moments = moments.plus(part)
        for j in np.flatnonzero(moments.gram[:, 0, 0] == 0.0):
            raise DataError(
                f"LinearPolicy: column {chunks.names.decisions[j]!r} has no observed entry of "
                "non-zero weight; drop it"
            )
        self.moments_ = moments
        self.coef_, self.intercept_ = moments.solve()
        self.n_features_in_ = head.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if chunks.named:
            self.__dict__["feature_names_in_"] = np.array(chunks.names.signals, dtype=object)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go on with more samples; with ``forgetting`` below one, older ones count less.

        Without, the policy is that of a fit to all samples.

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
        if not hasattr(self, "moments_"):
            return self.fit(X, y, sample_weight)
        signals, decisions, weights = check_samples(X, y, sample_weight, "LinearPolicy")
        _check_forgetting(self.forgetting)
        validate_data(self, X, skip_check_array=True, reset=False)
        if decisions.shape[1] != len(self.moments_.right):
            raise DataError(
                f"LinearPolicy: y has {decisions.shape[1]} columns, those before had "
                f"{len(self.moments_.right)}"
            )
        self.moments_ = self.moments_.after(signals, decisions, weights, self.forgetting)
        coef, intercept = self.moments_.solve()
        one_column = np.ndim(self.intercept_) == 0
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


def _check_forgetting(value: object) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < float(value) <= 1.0:
        raise DataError(f"LinearPolicy: forgetting={value!r} is not a number above 0 and at most 1")


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
