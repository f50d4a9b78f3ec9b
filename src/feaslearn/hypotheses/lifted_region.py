"""Learned regions as linear programs in the points they are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from feaslearn.arrays import Array, Indices
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.known import KnownLimits
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.sets.l1_ball import L1Ball
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic_form import ConicForm
from feaslearn.tolerances import ROUNDING


class LiftedRegion(NamedTuple):
    r"""The regions :math:`\{M y + m : l \le y \le u,\; W y \le w\}`, one for each sample.

    ``M`` is one matrix (n, p), or one for each sample (N, n, p). Rows of slack 0 are equalities.
    """

    M: Array
    m: Array
    lower: Array
    upper: Array
    W: Array
    w: Array
    slack: Array

    def on_flat(self, known: KnownLimits) -> LiftedRegion:
        """Return the regions moved straight onto the known equalities."""
        if not len(known.E):
            return self
        across = pseudo_inverse(known.E) @ known.E
        return self._replace(M=self.M - across @ self.M, m=known.on_flat(self.m))


class LiftedSlopes(NamedTuple):
    """Derivatives of a loss in the numbers of lifted regions, one row for each sample."""

    M: Array
    m: Array
    lower: Array
    upper: Array
    w: Array


def lifted_region(
    hypothesis: Hypothesis, theta: Array, features: Array, n: int, every_term: bool = False
) -> LiftedRegion | None:
    """Return the regions of a hypothesis at rows of features; None where they are curved."""
    if isinstance(hypothesis, Minkowski):
        return _lifted_sum(hypothesis, theta, features, n, every_term)
    if isinstance(hypothesis, MapHypothesis):
        return _lifted_map(hypothesis, theta, features, n)
    return None


def _lifted_map(
    hypothesis: MapHypothesis, theta: Array, features: Array, n: int
) -> LiftedRegion | None:
    form = boxed_form(hypothesis.latent(n))
    if form is None:
        return None
    A, b = hypothesis.maps(theta, n, features.shape[1]).at(features)
    count = (len(features), 1)
    lower, upper, w = (np.tile(side, count) for side in (form.lower, form.upper, form.w))
    # One matrix for all samples makes one program of them.
    constant = len(A) > 0 and (A[0] == A).all()
    return LiftedRegion((A[0] if constant else A) @ form.M, b, lower, upper, form.W, w, form.slack)


def _lifted_sum(
    hypothesis: Minkowski, theta: Array, features: Array, n: int, every_term: bool
) -> LiftedRegion | None:
    r"""Return a sum of sets in the variables :math:`\zeta_t = \alpha_t z_t`."""
    scales, offsets = (f(theta, features, n) for f in (hypothesis.scales, hypothesis.offsets))
    terms = hypothesis.terms_at(theta, n, features.shape[1])
    counting = _counting(scales, every_term)
    found = [boxed_form(terms[t].primitive) for t in counting]
    forms = [form for form in found if form is not None]
    if len(forms) < len(found):
        return None
    if not forms:
        nothing = np.zeros((len(features), 0))
        M, W, slack = np.zeros((n, 0)), np.zeros((0, 0)), np.zeros(0)
        return LiftedRegion(M, offsets, nothing, nothing, W, nothing, slack)
    scales = scales[:, counting]
    embedded = [terms[t].embedding(n) @ form.M for t, form in zip(counting, forms, strict=True)]
    entries, rows = [len(form.lower) for form in forms], [len(form.w) for form in forms]
    wide = np.repeat(scales, entries, axis=1)
    lower, upper = (np.concatenate(sides) for sides in zip(*(f[2:4] for f in forms), strict=True))
    return LiftedRegion(
        np.hstack(embedded),
        offsets,
        lower * wide,
        upper * wide,
        block_diag(*(form.W for form in forms)),
        np.concatenate([form.w for form in forms]) * np.repeat(scales, rows, axis=1),
        np.concatenate([form.slack for form in forms]),
    )


def pull_back(
    hypothesis: Hypothesis,
    theta: Array,
    features: Array,
    slopes: LiftedSlopes,
    every_term: bool = False,
) -> Array:
    """Return the gradient in theta, given the derivatives in the numbers of `lifted_region`."""
    n, k = slopes.m.shape[1], features.shape[1]
    if isinstance(hypothesis, MapHypothesis):
        form = boxed_form(hypothesis.latent(n))
        if form is None:
            raise TypeError("a curved set has no lifted region")
        A = np.einsum("ik,inp->knp", features, slopes.M @ form.M.T)
        return hypothesis.pull_back(Maps(A, features.T @ slopes.m))
    if not isinstance(hypothesis, Minkowski):
        raise TypeError(f"{hypothesis!r} has no lifted region")
    blocks = hypothesis.layout(n, k).unpack(theta)
    found = {name: np.zeros_like(block) for name, block in blocks.items()}
    if hypothesis.offset:
        found["b"] = features.T @ slopes.m
    if "alpha" in blocks:
        by_scale = _scale_slopes(hypothesis, theta, features, slopes, every_term)
        psi = hypothesis.basis(k).values(features, blocks.get("knots"))
        found["alpha"] = by_scale.T @ psi
        if len(blocks["alpha"]) == 1:
            found["alpha"] = found["alpha"].sum(axis=0, keepdims=True)
    return hypothesis.layout(n, k).pack(found)


def _counting(scales: Array, every_term: bool) -> Indices:
    """Return all terms, or those that have a scale above rounding at some row."""
    counts = (scales > ROUNDING * scales.max(initial=0.0)).any(axis=0)
    return np.flatnonzero(counts | every_term)


def _scale_slopes(
    hypothesis: Minkowski, theta: Array, features: Array, slopes: LiftedSlopes, every_term: bool
) -> Array:
    """Return the derivative in each scale (N, terms); where a scale is clipped it has none."""
    n, k = slopes.m.shape[1], features.shape[1]
    scales = hypothesis.unclipped_scales(theta, features, n)
    counts = scales >= -ROUNDING * scales.max(initial=0.0)
    found, entry, row = np.zeros(counts.shape), 0, 0
    terms = hypothesis.terms_at(theta, n, k)
    for t in _counting(scales, every_term):
        form = boxed_form(terms[t].primitive)
        if form is None:
            raise TypeError("a curved set has no lifted region")
        entries, rows = slice(entry, entry + len(form.lower)), slice(row, row + len(form.w))
        entry, row = entries.stop, rows.stop
        slope = slopes.lower[:, entries] @ form.lower + slopes.upper[:, entries] @ form.upper
        found[:, t] = slope + slopes.w[:, rows] @ form.w
    return np.asarray(found * counts)


# Polyhedral sets as rows over a box, the form in which small linear programs read them.


def boxed_form(primitive: PrimitiveSet) -> LiftedRegion | None:
    """Return a primitive set as such a region; None if it is curved or holds single points."""
    if primitive.discrete:
        return None
    if isinstance(primitive, L1Ball):
        # Its rows are many, its vertices few.
        simplex = boxed_form(Simplex(2 * primitive.dimension))
        return None if simplex is None else simplex._replace(M=primitive.vertices().T)
    form = primitive.conic_form()
    if not form.polyhedral:
        return None
    p = primitive.dimension
    ends = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
    W, w, slack = _rows(form)
    return LiftedRegion(np.eye(p), np.zeros(p), ends[:p], -ends[p:], W, w, slack)


def _rows(form: ConicForm) -> tuple[Array, Array, Array]:
    """Return the rows that are no bounds of single entries, as ``W y <= w``."""
    equality = form.equality_rows
    kept = equality | ((form.H != 0.0).sum(axis=1) > 1)
    return -form.H[kept], -form.h[kept], np.where(equality[kept], 0.0, np.inf)
