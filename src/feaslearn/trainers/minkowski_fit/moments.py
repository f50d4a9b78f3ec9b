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

    def some(self, chosen: NDArray[np.bool_]) -> Rows:
        """Return some of the samples; functions that are the features themselves remain so."""
        part = Rows(*(array[chosen] for array in self))
        return part._replace(phi=part.psi) if self.psi is self.phi else part

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
        y = np.ascontiguousarray(rows.points.transpose(1, 2, 0))
        (G, n, count), M, k = y.shape, rows.psi.shape[1], rows.phi.shape[1]
        same = rows.psi is rows.phi
        both = rows.psi if same else np.hstack([rows.psi, rows.phi])
        basis, x = np.ascontiguousarray(both.T), np.ascontiguousarray(rows.decisions.T)
        w = np.where(np.isnan(x), 0.0, rows.weights)
        x = np.nan_to_num(x, copy=False)
        values = np.zeros((G * G + G * n + n, count))
        between, wy = (
            values[: G * G].reshape(G, G, count),
            values[G * G : -n].reshape(G, n, count),
        )
        np.multiply(w, y, out=wy)
        for j in range(n):
            between += wy[:, None, j] * y[None, :, j]
        values[-n:] = w
        first, second = np.triu_indices(len(basis))
        table = np.empty((len(basis), len(basis), len(values)))
        table[first, second] = (basis[first] * basis[second]) @ values.T
        table[second, first] = table[first, second]
        phi = slice(0 if same else M, None)
        aa, ab, bb = np.split(table, [G * G, G * G + G * n], axis=2)
        return cls(
            aa[:M, :M].reshape(M, M, G, G).transpose(2, 0, 3, 1),
            ab[:M, phi].reshape(M, k, G, n).transpose(2, 0, 1, 3),
            bb[phi, phi],
            np.sum(wy * x, axis=1) @ basis[:M].T,
            basis[phi] @ (w * x).T,
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

    def reduced(self) -> Reduced:
        """Return the problem in ``a`` alone, b being the best for it."""
        inverses = self._inverses()
        ab = self.ab.reshape(self.ra.size, *self.bb.shape[1:])
        H, r = self.matrix.copy(), self.ra.ravel().copy()
        for j, inverse in enumerate(inverses):
            across = ab[:, :, j] @ inverse
            H -= across @ ab[:, :, j].T
            r -= across @ self.rb[:, j]
        return Reduced(self, (H + H.T) / 2.0, r, inverses)

    def _inverses(self) -> list[Array]:
        """Return the pseudo-inverse of the features' moments for each decision."""
        found: list[Array] = []
        for j, table in enumerate(np.moveaxis(self.bb, 2, 0) if self.bb.size else ()):
            if j and np.array_equal(table, self.bb[:, :, j - 1]):
                found.append(found[-1])
            else:
                found.append(np.asarray(np.linalg.pinv(table, DEPENDENT, hermitian=True), float))
        return found


class Reduced(NamedTuple):
    """Squared errors ``a'Ha - 2r'a`` and a constant, where b is the best for ``a``."""

    moments: Moments
    H: Array
    r: Array
    inverses: list[Array]

    def best_offset(self, a: Array) -> Array:
        """Return the b (k, n) that is best for ``a``."""
        left = self.moments.rb - np.einsum("gm,gmkj->kj", a, self.moments.ab)
        b = np.zeros(left.shape)
        for j, inverse in enumerate(self.inverses):
            b[:, j] = inverse @ left[:, j]
        return b
