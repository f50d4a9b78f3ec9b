r"""Second moments of a linear model of decisions, which add up over samples.

.. math:: \hat x_i = \sum_{t,m} a_{tm} \psi_m(s_i) y_{ti} + \sum_l b_l \phi_l(s_i)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Eigenvalues of the features' moments below this share of the largest are zero.
DEPENDENT = 1e-10


class Rows(NamedTuple):
    """Some samples: ``points`` (N, G, n), ``psi`` (N, M), ``phi`` (N, k), decisions, weights.

    Decisions that were not observed are NaN.
    """

    points: Array
    psi: Array
    phi: Array
    decisions: Array
    weights: Array

    def predict(self, a: Array, b: Array) -> Array:
        """Return the decisions for coefficients ``a`` (G, M) and ``b`` (k, n)."""
        return np.asarray(np.einsum("it,itj->ij", self.psi @ a.T, self.points) + self.phi @ b)


class Moments(NamedTuple):
    """Weighted sums of all products that squared errors need.

    ``aa`` (G, M, G, M), ``ab`` (G, M, k, n), ``bb`` (k, k, n), ``ra`` (G, M), ``rb`` (k, n), and
    the sum of squared decisions.
    """

    aa: Array
    ab: Array
    bb: Array
    ra: Array
    rb: Array
    xx: float

    @classmethod
    def of(cls, rows: Rows) -> Moments:
        """Return the moments of some samples.

        Samples are the last axis here, so that every product runs along memory.
        """
        seen = (~np.isnan(rows.decisions)).astype(float)
        weights = rows.weights[:, None] * seen
        x, w = (
            np.ascontiguousarray(np.nan_to_num(rows.decisions).T),
            np.ascontiguousarray(weights.T),
        )
        psi, phi = np.ascontiguousarray(rows.psi.T), np.ascontiguousarray(rows.phi.T)
        y = np.ascontiguousarray(rows.points.transpose(1, 2, 0))
        (G, n, count), M, k = y.shape, len(psi), len(phi)
        wy = w * y
        between = np.zeros((G, G, count))
        for j in range(n):
            between += wy[:, None, j] * y[None, :, j]
        products = (psi[:, None] * psi[None]).reshape(M * M, count)
        aa = (products @ between.reshape(G * G, count).T).reshape(M, M, G, G)
        products = (psi[:, None] * phi[None]).reshape(M * k, count)
        ab = (products @ wy.reshape(G * n, count).T).reshape(M, k, G, n)
        products = (phi[:, None] * phi[None]).reshape(k * k, count)
        bb = (products @ w.T).reshape(k, k, n)
        return cls(
            aa.transpose(2, 0, 3, 1),
            ab.transpose(2, 0, 1, 3),
            bb,
            np.sum(wy * x, axis=1) @ psi.T,
            phi @ (w * x).T,
            float((w * x * x).sum()),
        )

    @classmethod
    def total(cls, parts: Sequence[Moments]) -> Moments:
        """Return the moments of all parts together.

        To leave a part out, add up the others: a difference would hold rounding where they hold
        nothing.
        """
        return cls(*(sum(terms[1:], terms[0]) for terms in zip(*parts, strict=True)))

    @property
    def matrix(self) -> Array:
        """``aa`` as a matrix."""
        size = self.ra.size
        return self.aa.reshape(size, size)

    def value(self, a: Array, b: Array) -> float:
        """Return the weighted sum of squared errors."""
        flat = a.ravel()
        inner = flat @ self.matrix @ flat - 2.0 * float((self.ra * a).sum())
        inner += 2.0 * float(np.einsum("gm,gmkj,kj->", a, self.ab, b)) - 2.0 * (self.rb * b).sum()
        return float(self.xx + inner + np.einsum("kj,klj,lj->", b, self.bb, b))

    def without_offset(self) -> tuple[Array, Array]:
        """Return H and r of the errors as a function of ``a`` alone, b being the best for it."""
        ab = self.ab.reshape(self.ra.size, *self.bb.shape[1:])
        H, r = self.matrix.copy(), self.ra.ravel().copy()
        for j, inverse in enumerate(self._inverses()):
            across = ab[:, :, j] @ inverse
            H -= across @ ab[:, :, j].T
            r -= across @ self.rb[:, j]
        return (H + H.T) / 2.0, r

    def best_offset(self, a: Array) -> Array:
        """Return the b (k, n) that is best for ``a``."""
        left = self.rb - np.einsum("gm,gmkj->kj", a, self.ab)
        return np.array([inv @ left[:, j] for j, inv in enumerate(self._inverses())]).T.reshape(
            left.shape
        )

    def _inverses(self) -> list[Array]:
        """Return the pseudo-inverse of the features' moments for each decision."""
        if not self.bb.size:
            return []
        return [
            np.asarray(np.linalg.pinv(table, DEPENDENT, hermitian=True), dtype=np.float64)
            for table in np.moveaxis(self.bb, 2, 0)
        ]
