"""What a fit remembers of its data: ranges, directions of prices, what they pushed to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.data import Block
from feaslearn.hypotheses import Blend, Facets, MapHypothesis, Minkowski
from feaslearn.hypotheses.constrained import Constrained, constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.term import Term
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import FEASIBILITY_TOL, SAME_TOL, TINY, VISIBLE_TOL, ZERO_PRICE

if TYPE_CHECKING:
    from feaslearn.regressor.checks import FitData

Array = NDArray[np.float64]

#: Samples that are looked at, and those where each decision takes known constraints, a linear or a
#: conic program.
LOOKED_AT, BY_KNOWN, BY_LINEAR, BY_CONIC = 2000, 60, 200, 60
#: Fewest that are, in so many seconds and this share of a time limit.
FEWEST, GRACE, SHARE = 5, 0.2, 0.05
#: Directions of prices that are kept.
DIRECTIONS = 64

Truth = NDArray[np.bool_]

#: Decisions of curved regions this share of the range away from a limit are next to it.
NEXT_TO = 0.05
#: Directions in which learned parts extend by less than this share of the largest are none: noise
#: on a balance leaves such.
FLAT = 0.1


@dataclass(frozen=True, eq=False)
class Coverage:
    """A summary of the samples of a fit.

    Parameters
    ----------
    n_samples, looked_at : int
        Their number, and how many were looked at for the shares.
    signals, decisions : ndarray of shape (2, K) and (2, n)
        Least and greatest values.
    directions : ndarray of shape (m, n)
        Prices of length one that stand for all others.
    upper, lower : ndarray of shape (n,)
        Share of the samples that show the upper and the lower limit of each decision.
    parts : ndarray
        Share of the samples in which each entry of a latent point is used, or the mean scale of
        each term; empty for other hypotheses.
    """

    n_samples: int
    looked_at: int
    signals: Array
    decisions: Array
    directions: Array
    upper: Array
    lower: Array
    parts: Array


def coverage_of(
    hypothesis: Hypothesis,
    theta: Array,
    data: FitData,
    max_seconds: float | None = None,
) -> Coverage:
    """Return what is to be remembered of a fit; one with a time limit looks at fewer samples."""
    samples, n = data.samples, data.n_decisions
    most = _most(hypothesis, n) if data.known is None else min(BY_KNOWN, _most(hypothesis, n))
    region = hypothesis if data.known is None else constrained(hypothesis, data.known.shape)
    some, shown = None, None
    if max_seconds is not None and np.isfinite(max_seconds):
        began, some = time.monotonic(), samples.spread(FEWEST)
        shown = exposure(region, theta, some.features, some.costs)
        each = (time.monotonic() - began) / len(some.weights)
        most = min(most, max(FEWEST, int((GRACE + SHARE * float(max_seconds)) / each)))
    if some is None or shown is None or most > FEWEST:
        some = samples.spread(most)
        shown = exposure(region, theta, some.features, some.costs)
    if data.known is not None:
        shape = data.known.shape
        some = some._replace(features=shape.split(some.features)[0])
    ends = samples.summary()
    return Coverage(
        samples.n_samples,
        len(some.weights),
        ends.signals if data.signals is None else data.signals,
        ends.decisions,
        _spread_out(some.costs),
        shown.upper.mean(axis=0),
        shown.lower.mean(axis=0),
        _parts(hypothesis, theta, some),
    )


def extend_coverage(
    seen: Coverage, hypothesis: Hypothesis, theta: Array, rows: Block, signals: Array
) -> Coverage:
    """Return what is remembered after some more rows, whose costs are to be minimised.

    Shares count every row alike.
    """
    count, n = rows.decisions.shape
    step = -(-count // _most(hypothesis, n))
    some = Block(*(np.ascontiguousarray(part[::step]) for part in rows))
    shown = exposure(hypothesis, theta, some.features, some.costs)
    share = len(some.weights) / (seen.looked_at + len(some.weights))

    def mixed(before: Array, now: Array) -> Array:
        return np.asarray((1.0 - share) * before + share * now)

    ends = np.vstack([seen.decisions, rows.decisions])
    reach = np.vstack([seen.signals, signals])
    return Coverage(
        seen.n_samples + count,
        seen.looked_at + len(some.weights),
        np.array([reach.min(axis=0), reach.max(axis=0)]),
        np.array([np.nanmin(ends, axis=0), np.nanmax(ends, axis=0)]),
        _spread_out(np.vstack([seen.directions, some.costs])),
        mixed(seen.upper, shown.upper.mean(axis=0)),
        mixed(seen.lower, shown.lower.mean(axis=0)),
        mixed(seen.parts, _parts(hypothesis, theta, some)),
    )


def angle(cost: Array, directions: Array) -> float | None:
    """Return the least angle in degrees between a price and those kept, if there are any."""
    size = float(np.linalg.norm(cost))
    if size == 0.0 or not len(directions):
        return None
    return float(np.degrees(np.arccos(np.clip((directions @ cost / size).max(), -1.0, 1.0))))


def _most(hypothesis: Hypothesis, n: int) -> int:
    """Return how many samples to look at: fewer where a decision takes a solver."""
    if not isinstance(hypothesis, MapHypothesis) or hypothesis.latent(n).code() is not None:
        return LOOKED_AT
    return BY_CONIC if is_curved(hypothesis.latent(n)) else BY_LINEAR


def _spread_out(costs: Array) -> Array:
    """Return directions of prices, each the farthest from those before."""
    sizes = np.linalg.norm(costs, axis=1)
    units = costs[sizes > 0.0] / sizes[sizes > 0.0, None]
    if not len(units):
        return np.zeros((0, costs.shape[1]))
    chosen, nearest = [0], units @ units[0]
    while len(chosen) < DIRECTIONS and nearest.min() < 1.0 - SAME_TOL:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, units @ units[chosen[-1]])
    return np.ascontiguousarray(units[chosen])


def _parts(hypothesis: Hypothesis, theta: Array, some: Block) -> Array:
    n, k = some.costs.shape[1], some.features.shape[1]
    if isinstance(hypothesis, Minkowski):
        return np.asarray(hypothesis.scales(theta, some.features, n).mean(axis=0))
    if isinstance(hypothesis, MapHypothesis):
        A, _ = hypothesis.maps(theta, n, k).at(some.features)
        z = hypothesis.latent(n).argmin(np.einsum("inp,in->ip", A, some.costs))
        return np.asarray((np.abs(z) > ZERO_PRICE).mean(axis=0))
    return np.zeros(0)


# Which limits of a region the prices of samples push decisions to.
#
# A price c pushes decision j up where :math:`(P(-c))_j > 0`, P being the projection on the
# directions in which the region extends: with a balance, prices count relative to each other. The
# limit is then seen where the decision is the largest of the region as well. For a row of a region
# of half-spaces that is so where relaxing it would lower the cost.


class Exposure(NamedTuple):
    """Whether each row shows the upper and the lower limit of each decision, both (N, n)."""

    upper: Truth
    lower: Truth


def exposure(hypothesis: Hypothesis, theta: Array, features: Array, costs: Array) -> Exposure:
    """Say which limits the rows show."""
    n, k = costs.shape[1], features.shape[1]
    reached = _reached(hypothesis, theta, features, costs)
    U = extent(hypothesis, theta, features.mean(axis=0), n, k)
    pushed = -(costs @ U) @ U.T
    least = ZERO_PRICE * np.abs(costs).max(axis=1, keepdims=True)
    return Exposure(reached.upper & (pushed > least), reached.lower & (pushed < -least))


def extent(hypothesis: Hypothesis, theta: Array, phi: Array, n: int, k: int) -> Array:
    """Return an orthonormal basis (n, r) of the directions in which the region extends."""
    if isinstance(hypothesis, Blend):
        parts = [extent(each, own, phi, n, k) for _, each, own in hypothesis.parts(theta, n, k)]
        return _basis(np.hstack(parts), FLAT)
    if isinstance(hypothesis, Constrained):
        own, known = hypothesis.shape.split(phi[None])
        inside = extent(hypothesis.hypothesis, theta, own[0], n, own.shape[1])
        if not len(known.E) or not inside.size:
            return inside
        flat = np.asarray(null_space(known.E))
        return _basis(flat @ (flat.T @ inside), VISIBLE_TOL)
    if isinstance(hypothesis, Facets):
        E = hypothesis.rows(theta, n, k).E
        return np.asarray(null_space(E)) if len(E) else np.eye(n)
    if isinstance(hypothesis, Minkowski):
        scales = hypothesis.scales(theta, phi[None], n)[0]
        terms = hypothesis.terms_at(theta, n, k)
        used = [term for term, scale in zip(terms, scales, strict=True) if scale > 0.0]
        moves = [term.embedding(n) @ _moves(term.primitive) for term in used]
        return _basis(np.hstack(moves), VISIBLE_TOL) if moves else np.zeros((n, 0))
    if isinstance(hypothesis, MapHypothesis):
        A, _ = hypothesis.maps(theta, n, k).at(phi[None])
        return _basis(A[0] @ _moves(hypothesis.latent(n)), FLAT)
    return np.eye(n)


def _moves(primitive: PrimitiveSet) -> Array:
    """Return directions that span those in which a set extends."""
    p = primitive.dimension
    return np.eye(p) - 1.0 / p if primitive.absorbs_offset else np.eye(p)


def _basis(matrix: Array, negligible: float) -> Array:
    U, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(U[:, sizes > negligible * sizes.max(initial=TINY)])


def _reached(hypothesis: Hypothesis, theta: Array, features: Array, costs: Array) -> Exposure:
    n, k = costs.shape[1], features.shape[1]
    if isinstance(hypothesis, Blend):
        parts = hypothesis.parts(theta, n, k)
        each = [_reached(member, own, features, costs) for _, member, own in parts]
        return Exposure(*(np.all(sides, axis=0) for sides in zip(*each, strict=True)))
    if isinstance(hypothesis, Facets):
        return _binding(hypothesis, theta, features, costs)
    if isinstance(hypothesis, Constrained) and isinstance(hypothesis.hypothesis, Facets):
        return _tight(hypothesis, hypothesis.hypothesis, theta, features, costs)
    if isinstance(hypothesis, Minkowski):
        ends = _ends_of_sum(hypothesis, theta, features, costs)
        curved = any(is_curved(term.primitive) for term in hypothesis.terms_at(theta, n, k))
    else:
        ends = _ends(hypothesis, theta, features, costs)
        learned = hypothesis.hypothesis if isinstance(hypothesis, Constrained) else hypothesis
        curved = isinstance(learned, MapHypothesis) and is_curved(learned.latent(n))
    low, at, high = ends
    width = high - low
    slack = (NEXT_TO if curved else VISIBLE_TOL) * width
    wide = width > VISIBLE_TOL * max(
        float(np.abs(at).max(initial=0.0)), float(width.max(initial=0.0))
    )
    return Exposure(wide & (at >= high - slack), wide & (at <= low + slack))


def is_curved(primitive: PrimitiveSet) -> bool:
    """Whether a set is described with cones that are not linear."""
    kinds = {cone.kind for cone in primitive.conic_form().cones}
    return not kinds <= {"nonnegative", "zero"}


def _ends(
    hypothesis: Hypothesis, theta: Array, features: Array, costs: Array
) -> tuple[Array, Array, Array]:
    """Return the least, the chosen and the greatest value of each decision."""
    low, high = np.empty(costs.shape), np.empty(costs.shape)
    for j, axis in enumerate(np.eye(costs.shape[1])):
        along = np.tile(axis, (len(costs), 1))
        low[:, j] = hypothesis.predict(theta, features, along)[:, j]
        high[:, j] = hypothesis.predict(theta, features, -along)[:, j]
    return low, hypothesis.predict(theta, features, costs), high


def _ends_of_sum(
    hypothesis: Minkowski, theta: Array, features: Array, costs: Array
) -> tuple[Array, Array, Array]:
    """Return the same for a Minkowski sum, whose terms have ends that do not change."""
    n, k = costs.shape[1], features.shape[1]
    terms = hypothesis.terms_at(theta, n, k)
    low, high = ends_of_terms(terms, n)
    scales = hypothesis.scales(theta, features, n)
    offsets = hypothesis.offsets(theta, features, n)
    at = hypothesis.predict(theta, features, costs)
    return offsets + scales @ low, at, offsets + scales @ high


def ends_of_terms(terms: list[Term], n: int) -> tuple[Array, Array]:
    """Return the least and the greatest value of each decision in each term, (T, n)."""
    if not terms:
        return np.zeros((0, n)), np.zeros((0, n))
    minimizers = TermMinimizers(terms, n)
    axes = np.arange(n)
    low, high = (minimizers.at(side * np.eye(n)).points[axes, :, axes].T for side in (1.0, -1.0))
    return low, high


def _binding(hypothesis: Facets, theta: Array, features: Array, costs: Array) -> Exposure:
    """Return where a bound, or a facet that limits a decision, has a price."""
    rows = hypothesis.rows(theta, costs.shape[1], features.shape[1])
    solutions = rows.solve(features, costs)
    least = ZERO_PRICE * np.abs(costs).max(axis=1, keepdims=True)
    upward, downward = _limited(rows.a, rows.E, solutions.prices[:, len(rows.E) :] > least)
    reduced = costs + solutions.prices @ np.vstack([rows.E, rows.a])
    low, high = (
        np.abs(solutions.decisions - features @ side.T)
        <= FEASIBILITY_TOL * (1.0 + np.abs(side[:, 0]))
        for side in (rows.lower, rows.upper)
    )
    return Exposure((high & (reduced < -least)) | upward, (low & (reduced > least)) | downward)


def _tight(
    hypothesis: Constrained, facets: Facets, theta: Array, features: Array, costs: Array
) -> Exposure:
    """Return where a bound, known or learned, or a facet holds with equality."""
    phi, known = hypothesis.shape.split(features)
    rows = facets.rows(theta, costs.shape[1], phi.shape[1])
    x = hypothesis.predict(theta, features, costs)
    upper, lower = (
        np.minimum(phi @ rows.upper.T, known.upper),
        np.maximum(phi @ rows.lower.T, known.lower),
    )
    met = phi @ rows.f.T - x @ rows.a.T <= FEASIBILITY_TOL * (1.0 + np.abs(phi @ rows.f.T))
    upward, downward = _limited(rows.a, np.vstack([rows.E, known.E]), met)
    rounding = FEASIBILITY_TOL * (1.0 + np.abs(x))
    return Exposure((upper - x <= rounding) | upward, (x - lower <= rounding) | downward)


def _limited(a: Array, E: Array, counting: Truth) -> Exposure:
    """Return which decisions the facets that count limit, along the equalities ``E``."""
    normals = a - a @ (pseudo_inverse(E) @ E) if len(E) else a
    largest = np.abs(normals).max(axis=1, keepdims=True, initial=TINY)
    sides = (counting.astype(float) @ (side * normals > FLAT * largest) for side in (1.0, -1.0))
    return Exposure(*(side > 0.0 for side in sides))
