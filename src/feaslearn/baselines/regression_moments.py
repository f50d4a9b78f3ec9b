r"""Least squares from sums over samples, which add up.

.. math:: G_j = \sum_i w_i \phi_i \phi_i', \quad r_j = \sum_i w_i \phi_i x_{ij}, \quad
          \phi_i = (1, (s_i - m) / d)
"""

from __future__ import annotations

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
        count = len(signals)
        weights = weights * forgetting ** np.arange(count - 1.0, -1.0, -1.0)
        phi = np.column_stack([np.ones(count), (signals - self.mean) / self.scale])
        fade = forgetting**count
        gram, right = fade * self.gram, fade * self.right
        patterns, members = np.unique(~np.isnan(decisions), axis=1, return_inverse=True)
        for group, seen in enumerate(patterns.T):
            outputs = np.flatnonzero(members.ravel() == group)
            weighted = phi[seen] * weights[seen, None]
            gram[outputs] += weighted.T @ phi[seen]
            right[outputs] += decisions[np.ix_(seen, outputs)].T @ weighted
        return self._replace(gram=gram, right=right)

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
        n, size = self.right.shape
        coef, intercept = np.zeros((n, size - 1)), np.zeros(n)
        for j, (G, r) in enumerate(zip(self.gram, self.right, strict=True)):
            middle, level = G[0, 1:] / G[0, 0], r[0] / G[0, 0]
            inner = G[1:, 1:] / G[0, 0] - np.outer(middle, middle)
            spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
            unit = np.where(spread > 1e-7 * np.maximum(np.abs(middle), 1e-300), spread, np.inf)
            along = (r[1:] / G[0, 0] - middle * level) / unit
            slopes = np.linalg.pinv(inner / np.outer(unit, unit), DEPENDENT, hermitian=True) @ along
            coef[j] = slopes / unit / self.scale
            intercept[j] = level - (slopes / unit) @ middle - coef[j] @ self.mean
        return coef, intercept
