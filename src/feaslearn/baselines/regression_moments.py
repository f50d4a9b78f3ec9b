r"""Least squares from sums over samples, which add up.

.. math:: G_j = \sum_i w_i \phi_i \phi_i', \quad r_j = \sum_i w_i \phi_i x_{ij}, \quad
          \phi_i = (1, (s_i - m) / d)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Chunk

Array = NDArray[np.float64]

#: Eigenvalues of the signals' correlations below this are zero.
DEPENDENT = 1e-11


class RegressionMoments(NamedTuple):
    """The sums of each decision over the samples in which it was observed.

    Parameters
    ----------
    mean, scale : ndarray of shape (K,)
        What signals are measured from and in, so that rounding stays small.
    gram : ndarray of shape (n, K + 1, K + 1)
        The matrices G.
    right : ndarray of shape (n, K + 1)
        The vectors r.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.baselines.regression_moments import RegressionMoments
    >>> signals, decisions = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> sums = RegressionMoments.begun(signals, 1).after(signals, decisions, np.ones(3))
    >>> coef, intercept = sums.solve()
    >>> coef.round(9).tolist(), intercept.round(9).tolist()
    ([[2.0]], [1.0])
    """

    mean: Array
    scale: Array
    gram: Array
    right: Array

    @classmethod
    def begun(cls, signals: Array, n_outputs: int) -> Self:
        """Return the sums over no samples, in units of those that come first."""
        mean, scale = signals.mean(axis=0), signals.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(mean), scale, np.maximum(np.abs(mean), 1.0))
        size = signals.shape[1] + 1
        return cls(mean, scale, np.zeros((n_outputs, size, size)), np.zeros((n_outputs, size)))

    def after(
        self, signals: Array, decisions: Array, weights: Array, forgetting: float = 1.0
    ) -> Self:
        """Return the sums with some more samples; each counts ``forgetting`` times the next."""
        weights = faded(weights, forgetting)
        phi = self._functions(signals)
        fade = forgetting ** len(signals)
        gram, right = fade * self.gram, fade * self.right
        for seen, outputs in _observed_together(decisions):
            weighted = phi[seen] * weights[seen, None]
            gram[outputs] += weighted.T @ phi[seen]
            right[outputs] += decisions[seen][:, outputs].T @ weighted
        return self._replace(gram=gram, right=right)

    def _functions(self, signals: Array) -> Array:
        return np.column_stack([np.ones(len(signals)), (signals - self.mean) / self.scale])

    def left(self, beta: Array, signals: Array, decisions: Array, weights: Array) -> Array:
        """Return the vectors r (n, K + 1) of what ``beta`` leaves of the decisions."""
        phi = self._functions(signals)
        errors = np.nan_to_num(decisions - phi @ beta.T)
        return np.asarray((weights[:, None] * errors).T @ phi)

    def of_chunk(self, chunk: Chunk) -> Self:
        """Return the sums over a chunk alone, in the same units."""
        signals, decisions = np.asarray(chunk.signals, float), np.asarray(chunk.decisions, float)
        nothing = self._replace(gram=0.0 * self.gram, right=0.0 * self.right)
        return nothing.after(signals, decisions, chunk.weights)

    def plus(self, other: Self) -> Self:
        """Return the sums over both, which are in the same units."""
        return self._replace(gram=self.gram + other.gram, right=self.right + other.right)

    def solve(self) -> tuple[Array, Array]:
        """Return coefficients (n, K) and constants (n,); those of dependent signals are small."""
        return self.of_signals(self.best(self.right))

    def best(self, right: Array) -> Array:
        """Return the coefficients (n, K + 1) of constant and measured signals for vectors r."""
        beta = np.zeros(right.shape)
        for own, G, r in zip(beta, self.gram, right, strict=True):
            middle, level = G[0, 1:] / G[0, 0], r[0] / G[0, 0]
            inner = G[1:, 1:] / G[0, 0] - np.outer(middle, middle)
            spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
            unit = np.where(spread > 1e-7 * np.maximum(np.abs(middle), 1e-300), spread, np.inf)
            along = (r[1:] / G[0, 0] - middle * level) / unit
            slopes = np.linalg.pinv(inner / np.outer(unit, unit), DEPENDENT, hermitian=True) @ along
            own[1:] = slopes / unit
            own[0] = level - own[1:] @ middle
        return beta

    def of_signals(self, beta: Array) -> tuple[Array, Array]:
        """Return coefficients (n, K) of the signals themselves, and constants (n,)."""
        coef = beta[:, 1:] / self.scale
        return coef, np.asarray(beta[:, 0] - coef @ self.mean)


def faded(weights: Array, forgetting: float, younger: int = 0) -> Array:
    """Return what samples count after ``younger`` others came, each ``forgetting`` times the next.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.baselines.regression_moments import faded
    >>> faded(np.ones(3), 0.5).tolist()
    [0.25, 0.5, 1.0]
    """
    if forgetting == 1.0:
        return weights
    ages = younger + np.arange(len(weights) - 1.0, -1.0, -1.0)
    return np.asarray(weights * forgetting**ages)


def _observed_together(decisions: Array) -> Iterator[tuple[NDArray[np.bool_] | slice, list[int]]]:
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
