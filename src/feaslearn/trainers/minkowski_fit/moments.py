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
        """Return the moments of some samples."""
        G, n = rows.points.shape[1:]
        M, k = rows.psi.shape[1], rows.phi.shape[1]
        same = rows.psi is rows.phi
        basis = rows.psi if same else np.hstack([rows.psi, rows.phi])
        B = basis.shape[1]
        values = G * (G + 1) // 2 + G * n + n
        table, right_terms, right_offset, xx = _sums(basis, rows, values)
        first, second = np.triu_indices(B)
        full = np.empty((B, B, values))
        full[first, second] = full[second, first] = table
        between, ab, bb = np.split(full, [G * (G + 1) // 2, values - n], axis=2)
        aa = np.empty((B, B, G, G))
        upper = np.triu_indices(G)
        aa[:, :, *upper] = aa[:, :, *upper[::-1]] = between
        phi = slice(0 if same else M, None)
        return cls(
            aa[:M, :M].transpose(2, 0, 3, 1),
            ab[:M, phi].reshape(M, k, G, n).transpose(2, 0, 1, 3),
            bb[phi, phi],
            np.ascontiguousarray(right_terms[:M].T),
            right_offset[phi],
            xx,
        )

    @classmethod
    def total(cls, parts: Sequence[Moments]) -> Moments:
        """Return the moments of all parts together.

        To leave a part out, add up the others: a difference would hold rounding where they hold
        nothing.
        """
        return cls(*(sum(terms[1:], terms[0]) for terms in zip(*parts, strict=True)))

    def scaled(self, factor: float) -> Moments:
        """Return the moments of samples that count so many times as much."""
        return Moments(*(factor * part for part in self))  # type: ignore[arg-type]

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


def _sums(basis: Array, rows: Rows, values: int) -> tuple[Array, Array, Array, float]:
    """Return the sums of products of functions and terms.

    For every pair of functions: their product times ``w y_t'y_u``, ``w y_t`` and ``w``. For every
    function: it times ``w y_t'x`` and ``w x``. Samples run along memory, and nothing is copied
    that can be a view: there may be millions of them.
    """
    y = np.ascontiguousarray(rows.points.transpose(1, 2, 0))
    G, n, count = y.shape
    functions, x = np.ascontiguousarray(basis.T), np.ascontiguousarray(rows.decisions.T)
    table = np.empty((values, count))
    between, wy, w = np.split(table, [values - G * n - n, values - n])
    wy = wy.reshape(G, n, count)
    w[:] = rows.weights
    hidden = np.isnan(x)
    if hidden.any():
        w[hidden], x[hidden] = 0.0, 0.0
    np.multiply(w, y, out=wy)
    start = 0
    for t in range(G):
        own = between[start : start + G - t]
        np.multiply(wy[t, 0], y[t:, 0], out=own)
        for j in range(1, n):
            own += wy[t, j] * y[t:, j]
        start += G - t
    B = len(functions)
    products = np.empty((B * (B + 1) // 2, count))
    for a, start in enumerate(np.cumsum([0, *range(B, 1, -1)])):
        np.multiply(functions[a:], functions[a], out=products[start : start + B - a])
    weighted = w * x
    return (
        products @ table.T,
        functions @ np.einsum("tji,ji->ti", wy, x).T,
        functions @ weighted.T,
        float((weighted * x).sum()),
    )
