r"""Second moments of a linear model of decisions, which add up over samples.

.. math:: \hat x_i = \sum_{t,m} a_{tm} \psi_m(s_i) y_{ti} + \sum_l b_l \phi_l(s_i)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.tolerances import RANK_TOL, ROUNDING, SAME_TOL
from feaslearn.trainers.standardize import moments as mean_and_scale
from feaslearn.trainers.standardize import observed_mean


class Rows(NamedTuple):
    """Some samples: ``points`` (N, G, n), ``psi`` (N, M), ``phi`` (N, k), decisions, weights."""

    points: Array
    psi: Array
    phi: Array
    decisions: Array
    weights: Array

    def predict(self, a: Array, b: Array) -> Array:
        """Return the decisions for coefficients ``a`` (G, M) and ``b`` (k, n)."""
        return np.asarray(np.einsum("it,itj->ij", self.psi @ a.T, self.points) + self.phi @ b)

    def errors(self, a: Array, b: Array) -> Array:
        """Return the errors of these decisions; zero where nothing was observed."""
        return np.nan_to_num(self.predict(a, b) - self.decisions)


class Moments(NamedTuple):
    """Weighted sums of all products that squared errors need.

    ``aa`` (G, M, G, M), ``ab`` (G, M, k, n), ``bb`` (k, k, n), ``ra`` (G, M), ``rb`` (k, n), and
    the sum of squared decisions. Beside them, whether decisions were observed or not, ``gram``
    (B, B) of all functions and the ``weight`` of the samples; and how many values were
    ``observed``, how many samples ``tied``.

    All of them add up over samples, and a plain table of arrays (`state`) says everything.
    """

    aa: Array
    ab: Array
    bb: Array
    ra: Array
    rb: Array
    xx: float
    gram: Array
    weight: float
    observed: float
    tied: float = 0.0

    @classmethod
    def of(cls, rows: Rows, split: Split) -> Moments:
        """Return the moments of some samples."""
        basis = _basis(rows, split)
        G, n = rows.points.shape[1:]
        B, psi, phi = basis.shape[1], split.psi, split.phi
        values = G * (G + 1) // 2 + G * n + n
        table, right_terms, right_offset, xx = _sums(basis, rows, values)
        first, second = np.triu_indices(B)
        full = np.empty((B, B, values))
        full[first, second] = full[second, first] = table
        between, ab, bb = np.split(full, [G * (G + 1) // 2, values - n], axis=2)
        aa = np.empty((B, B, G, G))
        upper = np.triu_indices(G)
        aa[:, :, *upper] = aa[:, :, *upper[::-1]] = between
        sizes = (split.n_psi, rows.phi.shape[1], G, n)
        return cls(
            aa[psi, psi].transpose(2, 0, 3, 1),
            ab[psi, phi].reshape(sizes).transpose(2, 0, 1, 3),
            bb[phi, phi],
            np.ascontiguousarray(right_terms[psi].T),
            right_offset[phi],
            xx,
            gram_of(rows, split),
            float(rows.weights.sum()),
            float(np.count_nonzero(~np.isnan(rows.decisions))),
        )

    @classmethod
    def total(cls, parts: Sequence[Moments]) -> Moments:
        """Return the moments of all parts together."""
        # To leave a part out, add up the others: a difference would hold rounding where they hold
        # nothing.
        return cls(*(sum(terms[1:], terms[0]) for terms in zip(*parts, strict=True)))

    def scaled(self, factor: float) -> Moments:
        """Return the moments of samples whose weights are multiplied by a factor."""
        weighted = (value * factor for value in self[:-2])
        return Moments(*weighted, self.observed, self.tied)  # type: ignore[call-arg, arg-type]

    def own_units(self, before: Units, split: Split) -> Units:
        """Return the units of these samples, which are measured in others."""
        ones = self.gram[split.constant].sum(axis=0)
        start = split.n_psi if split.knotted else 0
        level = np.zeros(len(before.center))
        if split.offset:
            seen = self.bb[0, 0]
            level = self.rb[0] / np.where(seen > 0.0, seen, 1.0)
        return before.refined(ones[start:], np.diag(self.gram)[start:], self.weight, level)

    def in_units(self, before: Units, after: Units, split: Split) -> Moments:
        """Return the moments of the same samples measured in other units."""
        B = split.n_functions
        whole = np.eye(B)
        own = before.change(after)
        places = slice(split.n_psi, None) if split.knotted else slice(0, B)
        size = B - (split.n_psi if split.knotted else 0)
        whole[places, places] = own[:size, :size]
        psi, phi = whole[split.psi, split.psi], whole[split.phi, split.phi]
        aa = np.einsum("am,gmhl,bl->gahb", psi, self.aa, psi, optimize=True)
        ab = np.einsum("am,gmlj,bl->gabj", psi, self.ab, phi, optimize=True)
        bb = np.einsum("am,mlj,bl->abj", phi, self.bb, phi, optimize=True)
        ra, rb = self.ra @ psi.T, phi @ self.rb
        xx = self.xx
        if split.offset:
            level = after.center - before.center
            xx += float((level**2 * bb[0, 0] - 2.0 * level * rb[0]).sum())
            ra = ra - ab[:, :, 0] @ level
            rb = rb - bb[:, 0] * level
        return Moments(aa, ab, bb, ra, rb, xx, whole @ self.gram @ whole.T, *self[7:])

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

    def rise(self, a: Array, b: Array, to_a: Array, to_b: Array) -> float:
        """Return by how much the squared errors of ``to_a, to_b`` exceed those of ``a, b``."""
        da, db = to_a - a, to_b - b
        slope_a = np.tensordot(self.aa, a + 0.5 * da, 2) - self.ra
        slope_a += np.tensordot(self.ab, b + 0.5 * db, 2)
        slope_b = np.einsum("gmkj,gm->kj", self.ab, a + 0.5 * da) - self.rb
        slope_b += np.einsum("klj,lj->kj", self.bb, b + 0.5 * db)
        return 2.0 * float((slope_a * da).sum() + (slope_b * db).sum())

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
                found.append(np.asarray(np.linalg.pinv(table, RANK_TOL, hermitian=True), float))
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


def _basis(rows: Rows, split: Split) -> Array:
    """Return all functions at the samples (N, B)."""
    if split.knotted and split.offset:
        return np.hstack([rows.psi, rows.phi])
    return rows.phi if split.offset else rows.psi


def gram_of(rows: Rows, split: Split) -> Array:
    """Return the weighted products (B, B) of all functions."""
    basis = _basis(rows, split)
    return np.asarray(basis.T @ (rows.weights[:, None] * basis))


def _sums(basis: Array, rows: Rows, values: int) -> tuple[Array, Array, Array, float]:
    """Return the sums of products of functions and terms."""
    y = np.ascontiguousarray(rows.points.transpose(1, 2, 0))
    G, n, count = y.shape
    functions, x = np.ascontiguousarray(basis.T), np.array(rows.decisions.T, order="C")
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


class Split(NamedTuple):
    """Which functions scales and offset are made of.

    Scales take the first ``n_psi`` of the features, which an offset takes too; or, if ``knotted``,
    functions of their own, which stand before the features and add up to one.
    """

    n_psi: int
    n_features: int
    knotted: bool
    offset: bool

    @property
    def n_functions(self) -> int:
        """Number B of functions."""
        features = self.n_features if self.offset else 0
        return self.n_psi + features if self.knotted else max(self.n_psi, features)

    @property
    def psi(self) -> slice:
        """The functions of the scales."""
        return slice(0, self.n_psi)

    @property
    def phi(self) -> slice:
        """The functions of the offset."""
        if not self.offset:
            return slice(0, 0)
        return slice(self.n_psi if self.knotted else 0, self.n_functions)

    @property
    def constant(self) -> slice:
        """Functions that add up to one: the constant, or those with the knots."""
        if self.knotted and not self.offset:
            return slice(0, self.n_psi)
        start = self.n_psi if self.knotted else 0
        return slice(start, start + 1)


def leave_one_out(rows: Rows, a: Array, b: Array, ridge: Array) -> Array:
    r"""Return the errors (N, n) of samples that are left out one at a time, with no further fit.

    .. math:: e_i^- = (I - w_i X_i K^{-1} X_i')^{-1} e_i, \qquad K = \sum_i w_i X_i'X_i + D

    :math:`X_i` holds what the positive coefficients and the offset are multiplied by, D the
    factors ``ridge`` of :math:`a^2`. That is exact while the same coefficients stay positive.
    Errors are infinite where a sample alone determines a coefficient.
    """
    n = rows.points.shape[2]
    chosen = np.flatnonzero(a.ravel() > ROUNDING * a.max(initial=0.0))
    t, m = np.divmod(chosen, a.shape[1])
    offset = np.einsum("ik,jl->ikjl", rows.phi, np.eye(n)).reshape(len(rows.phi), -1, n)
    design = np.concatenate([rows.points[:, t] * rows.psi[:, m, None], offset], axis=1)
    design = design * np.sqrt(rows.weights)[:, None, None]
    design = np.where(np.isnan(rows.decisions)[:, None], 0.0, design).transpose(0, 2, 1)
    flat = design.reshape(len(design) * n, design.shape[2])
    D = np.append(ridge.ravel()[chosen], np.zeros(offset.shape[1]))
    inverse = np.linalg.pinv(flat.T @ flat + np.diag(D), RANK_TOL, hermitian=True)
    leverage = (flat @ inverse).reshape(design.shape) @ design.transpose(0, 2, 1)
    free = np.linalg.eigvalsh(leverage)[:, -1] < 1.0 - SAME_TOL
    errors = np.full(rows.decisions.shape, np.inf)
    errors[free] = np.linalg.solve(np.eye(n) - leverage[free], rows.errors(a, b)[free][:, :, None])[
        :, :, 0
    ]
    return errors


# What features and decisions are measured in while their products are added up.


class Units(NamedTuple):
    """Mean and scale of the features, and the level of the decisions."""

    # The constant keeps mean 0 and scale 1. A feature that never changes has an infinite scale:
    # divided by it, the feature vanishes.

    mean: Array
    scale: Array
    center: Array

    @classmethod
    def of(cls, rows: Block, offset: bool, exact: bool) -> Units:
        """Measure some rows: all of them (``exact``), or a part that others may be unlike."""
        # Without an offset, which takes up the level of the decisions, that is zero.
        mean, scale = mean_and_scale([rows.features], [rows.weights])
        if not exact:
            # What did not change so far may do so later.
            scale = np.where(np.isfinite(scale), scale, np.where(mean == 0.0, 1.0, np.abs(mean)))
        center = np.zeros(rows.decisions.shape[1])
        if offset:
            center = observed_mean(rows.decisions, rows.weights)
        return cls(mean, scale, center)

    def refined(self, ones: Array, squares: Array, weight: float, level: Array) -> Units:
        """Return the units of all rows, given sums in these units."""
        mean, scale = self.mean.copy(), self.scale.copy()
        part = slice(1, len(ones))
        away = ones[part] / weight
        spread = np.sqrt(np.maximum(squares[part] / weight - away**2, 0.0))
        mean[part] += self.scale[part] * away
        scale[part] *= spread
        still = scale[part] <= ROUNDING * np.abs(mean[part])
        # A variance that is the difference of larger numbers carries their rounding.
        still |= spread <= np.sqrt(ROUNDING) * np.abs(away)
        scale[part] = np.where(still, np.inf, scale[part])
        return Units(mean, scale, self.center + level)

    def apply(self, features: Array) -> Array:
        """Return features in these units."""
        return np.asarray((features - self.mean) * (1.0 / self.scale))

    def change(self, other: Units) -> Array:
        """Return the matrix that turns features in these units into those in ``other``."""
        change = np.diag(self.scale / other.scale)
        change[:, 0] += (self.mean - other.mean) / other.scale
        change[0] = np.eye(len(change))[0]
        return change
