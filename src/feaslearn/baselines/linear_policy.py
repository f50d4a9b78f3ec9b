"""The linear policy: decisions regressed on signals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array, Mask
from feaslearn.data import BLOCK_ROWS, Chunk, Source, as_matrix
from feaslearn.data.checks import check_target, check_weights
from feaslearn.exceptions import DataError, NotFittedError, Problems, checked
from feaslearn.runs import one_blas_thread
from feaslearn.tolerances import CORRELATION_TOL, GAIN_TOL, ROUNDING, TINY

Samples = tuple[Array, Array, Array]


@dataclass(eq=False, repr=False)
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

    def fit(
        self,
        X: ArrayLike | Source,
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
        if isinstance(X, Source):
            return self._fit_chunks(X, y, sample_weight)
        samples = check_samples(X, y, sample_weight, "LinearPolicy", as_it_is=True)
        validate_data(self, X, skip_check_array=True)
        return self._keep(*_fitted(samples), np.asarray(y).ndim == 1)

    def _keep(self, coef: Array, intercept: Array, one_column: bool) -> Self:
        """Store what was fitted, in the shape of the decisions."""
        self.coef_ = coef[0] if one_column else coef
        self.intercept_ = float(intercept[0]) if one_column else intercept
        return self

    @one_blas_thread()
    def _fit_chunks(self, chunks: Source, *others: object) -> Self:
        if any(other is not None for other in others):
            raise DataError(
                "LinearPolicy: Chunks hold decisions and weights themselves; pass neither y nor "
                "sample_weight"
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
        self.n_features_in_ = head.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if chunks.named:
            self.__dict__["feature_names_in_"] = np.array(chunks.names.signals, dtype=object)
        return self._keep(*moments.solve(), one_column=False)

    def predict(self, X: ArrayLike) -> Array:
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


@one_blas_thread()
def _fitted(samples: Samples) -> tuple[Array, Array]:
    """Return coefficients and constants of all samples, in two passes over blocks of rows."""
    # The second adds up what the first solution leaves and corrects it: sums of squares alone hold
    # only half of the digits.
    signals, decisions, _ = samples
    step = -(-len(signals) // BLOCK_ROWS)
    some = np.asarray(signals[::step], dtype=np.float64)
    moments = RegressionMoments.begun(some, decisions.shape[1])
    for X, y, weights in _blocks(samples):
        moments = moments.after(X, y, weights)
    unseen = np.flatnonzero(moments.gram[:, 0, 0] == 0.0)
    if len(unseen):
        raise DataError(
            f"LinearPolicy: columns {unseen.tolist()} of y have no observed entry of non-zero "
            "weight; drop them, or check sample_weight"
        )
    beta, left = moments.best(moments.right), np.zeros(moments.right.shape)
    for X, y, weights in _blocks(samples):
        phi = moments.functions(X)
        errors = np.nan_to_num(y - phi @ beta.T)
        left += (weights[:, None] * errors).T @ phi
    return moments.of_signals(beta + moments.best(left))


def _blocks(samples: Samples) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows in double precision, some at a time."""
    count = len(samples[0])
    for start in range(0, count, BLOCK_ROWS):
        X, y, weights = (table[start : start + BLOCK_ROWS].astype(np.float64) for table in samples)
        yield X, y, weights


class RegressionMoments(NamedTuple):
    r"""The sums of each decision over the samples in which it was observed.

    .. math:: G_j = \sum_i w_i \phi_i \phi_i', \quad r_j = \sum_i w_i \phi_i x_{ij}, \quad
              \phi_i = (1, (s_i - m) / d)
    """

    mean: Array
    scale: Array
    gram: Array
    right: Array

    @classmethod
    def begun(cls, signals: Array, n_outputs: int) -> Self:
        """Return the sums over no samples, in units of those that come first."""
        mean, scale = signals.mean(axis=0), signals.std(axis=0)
        scale = np.where(scale > ROUNDING * np.abs(mean), scale, np.maximum(np.abs(mean), 1.0))
        size = signals.shape[1] + 1
        return cls(mean, scale, np.zeros((n_outputs, size, size)), np.zeros((n_outputs, size)))

    def after(self, signals: Array, decisions: Array, weights: Array) -> Self:
        """Return the sums with some more samples."""
        phi = self.functions(signals)
        gram, right = self.gram.copy(), self.right.copy()
        for seen, outputs in _observed_together(decisions):
            weighted = phi[seen] * weights[seen, None]
            gram[outputs] += weighted.T @ phi[seen]
            right[outputs] += decisions[seen][:, outputs].T @ weighted
        return self._replace(gram=gram, right=right)

    def functions(self, signals: Array) -> Array:
        """Return the constant and the standardised signals, (N, K + 1)."""
        return np.column_stack([np.ones(len(signals)), (signals - self.mean) / self.scale])

    def of_chunk(self, chunk: Chunk) -> Self:
        """Return the sums over a chunk alone, in the same units."""
        signals, decisions = np.asarray(chunk.signals, float), np.asarray(chunk.decisions, float)
        empty = self._replace(gram=0.0 * self.gram, right=0.0 * self.right)
        return empty.after(signals, decisions, chunk.weights)

    def plus(self, other: Self) -> Self:
        """Return the sums over both, which are in the same units."""
        return self._replace(gram=self.gram + other.gram, right=self.right + other.right)

    def solve(self) -> tuple[Array, Array]:
        """Return coefficients (n, K) and constants (n,); those of dependent signals are small."""
        return self.of_signals(self.best(self.right))

    def best(self, right: Array) -> Array:
        """Return the coefficients (n, K + 1) of constant and measured signals for vectors r."""
        beta = np.zeros(right.shape)
        for row, G, r in zip(beta, self.gram, right, strict=True):
            middle, level = G[0, 1:] / G[0, 0], r[0] / G[0, 0]
            inner = G[1:, 1:] / G[0, 0] - np.outer(middle, middle)
            spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
            unit = np.where(spread > GAIN_TOL * np.maximum(np.abs(middle), TINY), spread, np.inf)
            along = (r[1:] / G[0, 0] - middle * level) / unit
            correlations = inner / np.outer(unit, unit)
            row[1:] = np.linalg.pinv(correlations, CORRELATION_TOL, hermitian=True) @ along / unit
            row[0] = level - row[1:] @ middle
        return beta

    def of_signals(self, beta: Array) -> tuple[Array, Array]:
        """Return coefficients (n, K) of the signals themselves, and constants (n,)."""
        coef = beta[:, 1:] / self.scale
        return coef, np.asarray(beta[:, 0] - coef @ self.mean)


def _observed_together(decisions: Array) -> Iterator[tuple[Mask | slice, list[int]]]:
    """Yield rows, and the decisions that were observed in just these."""
    outputs = list(range(decisions.shape[1]))
    if not np.isnan(decisions.sum()):
        yield slice(None), outputs
        return
    together: dict[bytes, list[int]] = {}
    observed = ~np.isnan(decisions)
    for j in outputs:
        together.setdefault(observed[:, j].tobytes(), []).append(j)
    for columns in together.values():
        yield observed[:, columns[0]], columns


# Checks.


def signals_to_predict(model: BaseEstimator, X: ArrayLike, learned: str) -> Array:
    """Return the signals of a prediction, or raise all problems; ``fit`` sets ``learned``."""
    owner = type(model).__name__
    if not hasattr(model, learned):
        raise NotFittedError(f"{owner} is not fitted yet; call fit before predict")
    problems = Problems()
    signals = as_matrix(X, name="X", problems=problems)
    signals = checked(signals, problems, owner)
    validate_data(model, X, skip_check_array=True, reset=False)
    return signals


def check_samples(
    X: ArrayLike,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    owner: str,
    as_it_is: bool = False,
) -> tuple[Array, Array, Array]:
    """Return signals, decisions and weights; ``as_it_is`` keeps single precision."""
    problems = Problems()
    signals = as_matrix(X, name="X", problems=problems, as_it_is=as_it_is)
    decisions = check_target(y, signals, as_it_is, problems)
    check_weights(sample_weight, None if signals is None else len(signals), problems)
    signals, decisions = checked(signals, problems, owner), checked(decisions, problems, owner)
    if sample_weight is None:
        return signals, decisions, np.ones(len(signals))
    return signals, decisions, np.asarray(sample_weight, dtype=np.float64)
