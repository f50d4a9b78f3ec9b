"""A hypothesis within known constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from feaslearn.exceptions import EmptySetError, InfeasibleProblemError
from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.hypotheses.lifted_region import (
    LiftedRegion,
    NearestKnown,
    SoftRows,
    least_broken,
    lifted_region,
    nearest_known,
)
from feaslearn.known import KnownLimits, KnownShape
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.region.form import RegionForm
from feaslearn.region.minimize import Solved
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.intersection import intersect
from feaslearn.sets.primitive_set import Ties
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.conic_form import ConicForm
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import NUDGE, ROW_ROUNDING, SAME_TOL, SOLVED_ZERO, powers_of_two

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Constrained(Hypothesis):
    r"""Regions :math:`\Pi_s R_\theta(s) \cap \{x : G x \ge g(s),\; l(s) \le x \le u(s)\}`.

    :math:`\Pi_s` is the projection onto the known equalities :math:`E x = e(s)`: the region says
    what the equalities leave open. Right-hand sides stand behind the features of each sample, see
    `KnownShape`; parameters are those of the hypothesis itself.

    Parameters
    ----------
    hypothesis : Hypothesis
        What is learned.
    shape : KnownShape
        The rows that are known.
    """

    def __init__(self, hypothesis: Hypothesis, shape: KnownShape) -> None:
        self.hypothesis = hypothesis
        self.shape = shape

    def check(self, n: int) -> None:
        """Check the hypothesis."""
        self.hypothesis.check(n)

    def layout(self, n: int, k: int) -> Layout:
        """Return the blocks of the hypothesis."""
        return self.hypothesis.layout(n, k - self.shape.width)

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return the rows of the hypothesis within the known ones."""
        return self.hypothesis.describe(theta, n, k - self.shape.width).where(self.shape)

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return for each row a decision of least cost in the region and the known constraints.

        Where there is none, the decision within the known constraints that is nearest to the
        region; and where these contradict each other, the one that breaks them least.
        """
        decisions, empty, _ = self._solve(theta, features, costs)
        if ties == "center":
            for i in np.flatnonzero(self.tied(theta, features, costs) & ~empty):
                image = self.image(theta, features[i], costs.shape[1])
                decisions[i] = image.optimal_face(costs[i]).center()
        return Solved(decisions, empty)

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether several decisions may be optimal."""
        _, empty, tied = self._solve(theta, features, costs)
        rows = np.flatnonzero(tied & ~empty)
        if len(rows) and not isinstance(self.hypothesis, Facets):
            # Several points of Z may make one decision; nudged prices tell.
            direction = np.random.default_rng(0).normal(size=costs.shape[1])
            nudge = NUDGE * np.abs(costs[rows]).max(axis=1, keepdims=True) * direction
            ends = np.array(
                [
                    self._solve(theta, features[rows], costs[rows] + sign * nudge)[0]
                    for sign in (1.0, -1.0)
                ]
            )
            apart = np.abs(ends[0] - ends[1]).max(axis=1)
            tied[rows] = apart > SAME_TOL * np.abs(ends).max(axis=(0, 2))
        return tied & ~empty

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features; a single decision where it is empty."""
        solved = self._solve(theta, phi[None], np.zeros((1, n)))
        if not solved[1][0]:
            try:
                return intersect(self.learned_image(theta, phi, n), self.half_spaces(phi))
            except EmptySetError:
                pass  # within rounding of empty: one point, as the programs see it
        return AffineImage.point(solved[0][0])

    def learned_image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the learned region at one row of features, on the known equalities."""
        own, known = self.shape.split(phi[None])
        image = self.hypothesis.image(theta, own[0], n)
        if isinstance(self.hypothesis, Facets) or not len(known.E):
            return image
        across = pseudo_inverse(known.E) @ known.E
        offset = known.on_flat(image.offset[None])[0]
        return AffineImage(image.primitive, image.matrix - across @ image.matrix, offset)

    def half_spaces(self, phi: Array) -> HalfSpaces:
        """Return the known constraints at one row of features, in rows of length one."""
        return half_spaces_of(self.shape.split(phi[None])[1])

    def account(self, theta: Array, phi: Array, names: Sequence[str]) -> list[str]:
        """Say what the hypothesis lets the decision maker do."""
        return self.hypothesis.account(theta, self.shape.split(phi[None])[0][0], names)

    def _solve(self, theta: Array, features: Array, costs: Array) -> tuple[Array, Mask, Mask]:
        """Return decisions, where there is none in the region, and which may be one of several."""
        phi, known = self.shape.split(features)
        if isinstance(self.hypothesis, Facets):
            return self._solve_facets(self.hypothesis, theta, phi, known, costs)
        inner = known.inner_costs(costs)
        decisions = known.on_flat(self.hypothesis.predict(theta, phi, inner))
        tied = np.asarray(self.hypothesis.tied(theta, phi, inner))
        empty, contradictory = np.zeros((2, len(costs)), dtype=bool)
        rows = np.flatnonzero(known.broken(decisions, ROW_ROUNDING))
        if len(rows):
            part = known.rows(rows)
            lifted = lifted_region(self.hypothesis, theta, phi[rows], costs.shape[1])
            if lifted is None:
                found = self._one_by_one(theta, features[rows], costs[rows])
            else:
                found = _minimize_lifted(lifted.on_flat(part), part, inner[rows])
            decisions[rows], empty[rows], tied[rows], contradictory[rows] = found
        _settle(decisions, empty, contradictory, known)
        return decisions, empty, tied

    def _one_by_one(self, theta: Array, features: Array, costs: Array) -> _Found:
        """Minimise over curved or discrete regions; whether several tie is not known."""
        found = _Found.room(costs.shape)
        for i, c in enumerate(costs):
            image = self.learned_image(theta, features[i], len(c))
            decision, empty = minimize_within(image, self.half_spaces(features[i]), c)
            found.contradictory[i] = decision is None
            if decision is None:
                known = self.shape.split(features[i : i + 1])[1]
                decision = least_broken(known)
            found.decisions[i], found.empty[i] = decision, empty
        return found._replace(tied=~found.empty)

    def _solve_facets(
        self, facets: Facets, theta: Array, phi: Array, known: KnownLimits, costs: Array
    ) -> tuple[Array, Mask, Mask]:
        rows = facets.rows(theta, costs.shape[1], phi.shape[1])
        found = rows.solve(phi, costs, known)
        empty = found.status != OPTIMAL
        contradictory = np.zeros(len(costs), dtype=bool)
        none = np.flatnonzero(empty)
        if len(none):
            soft = SoftRows(*rows.giving_way(phi[none]))
            near = nearest_known(soft, known.rows(none), costs[none])
            found.decisions[none], _, contradictory[none] = near
            empty[none] = near.away()
        _settle(found.decisions, empty, contradictory, known)
        return found.decisions, empty, found.tied


class _Found(NamedTuple):
    """Decisions, where the region has none, which may tie, where what is known has none."""

    decisions: Array
    empty: Mask
    tied: Mask
    contradictory: Mask

    @classmethod
    def room(cls, shape: tuple[int, ...]) -> _Found:
        """Return room for so many decisions."""
        return cls(np.empty(shape), *np.zeros((3, shape[0]), dtype=bool))


def _settle(decisions: Array, empty: Mask, contradictory: Mask, known: KnownLimits) -> None:
    """Remove what solvers leave of violations; where that fails, nothing satisfies all rows."""
    fine = ~contradictory
    decisions[fine] = known.rows(fine).settled(decisions[fine])
    for i in np.flatnonzero(fine & known.broken(decisions, SOLVED_ZERO)):
        decisions[i] = least_broken(known.rows(slice(i, i + 1)))
        empty[i] = True


def half_spaces_of(known: KnownLimits) -> HalfSpaces:
    """Return the constraints of one sample as ``A x <= b, E x = e``, in rows of length one."""
    n = known.shape.n
    rows = np.vstack([-known.G, -np.eye(n), np.eye(n)])
    right = np.concatenate([-known.g[0], -known.lower[0], known.upper[0]])
    there = np.isfinite(right)
    A, b, E, e = rows[there], right[there], known.E, known.e[0]
    lengths, sizes = np.linalg.norm(A, axis=1), np.linalg.norm(E, axis=1)
    return HalfSpaces(A / lengths[:, None], b / lengths, E / sizes[:, None], e / sizes)


def constrained(hypothesis: Hypothesis, shape: KnownShape) -> Hypothesis:
    """Return a hypothesis within known constraints; of a blend, each member within them.

    Weights of a blend sum to one, so that what holds in every member holds in the blend.
    """
    if isinstance(hypothesis, Blend):
        return Blend([constrained(member, shape) for member in hypothesis.members()])
    return Constrained(hypothesis, shape)


def known_shape(hypothesis: Hypothesis) -> KnownShape | None:
    """Return the rows that a hypothesis lies within, None where nothing is known."""
    if isinstance(hypothesis, Blend):
        return known_shape(hypothesis.members()[0])
    return hypothesis.shape if isinstance(hypothesis, Constrained) else None


def without_known(hypothesis: Hypothesis) -> Hypothesis:
    """Return what is learned of a hypothesis, without what is known."""
    if isinstance(hypothesis, Blend):
        return Blend([without_known(member) for member in hypothesis.members()])
    return hypothesis.hypothesis if isinstance(hypothesis, Constrained) else hypothesis


def _minimize_lifted(lifted: LiftedRegion, known: KnownLimits, costs: Array) -> _Found:
    """Minimise by linear programs; where they have no point, take the nearest known one."""
    solved = lifted.minimize(known, costs)
    empty = solved.status != OPTIMAL
    found = _Found(solved.decisions, empty, solved.tied, np.zeros(len(costs), dtype=bool))
    none = np.flatnonzero(empty)
    if len(none):
        near = _nearest_lifted(lifted.rows(none), known.rows(none), costs[none])
        found.decisions[none], _, found.contradictory[none] = near
        found.empty[none] = near.away()
    return found


def _nearest_lifted(lifted: LiftedRegion, known: KnownLimits, costs: Array) -> NearestKnown:
    """Return known decisions nearest to regions ``x = M y + m``, in sum over the decisions."""
    if lifted.M.ndim == 3:
        each = [
            _nearest_lifted(lifted._replace(M=lifted.M[i]).rows(one), known.rows(one), costs[one])
            for i, one in enumerate(np.arange(len(costs))[:, None])
        ]
        return NearestKnown(*(np.concatenate(parts) for parts in zip(*each, strict=True)))
    lifted, known, unit = _of_size_one(lifted, known)
    n, p = lifted.M.shape
    count, r = lifted.w.shape
    S = np.zeros((r + n, n + p + 2 * n))
    S[:r, n : n + p] = lifted.W
    S[r:] = np.hstack([-np.eye(n), lifted.M, np.eye(n), -np.eye(n)])
    beside = np.zeros((count, 2 * n))
    soft = SoftRows(
        S,
        np.hstack([np.where(lifted.slack > 0.0, -np.inf, lifted.w), -lifted.m]),
        np.hstack([lifted.w, -lifted.m]),
        np.hstack([lifted.lower, beside]),
        np.hstack([lifted.upper, beside + np.inf]),
        np.repeat([0.0, 1.0], [p, 2 * n]),
    )
    near = nearest_known(soft, known, costs)
    return near._replace(decisions=unit * near.decisions)


def _of_size_one(
    lifted: LiftedRegion, known: KnownLimits
) -> tuple[LiftedRegion, KnownLimits, float]:
    """Return regions and limits in units in which points y and decisions are of size one."""
    span = np.maximum(np.abs(lifted.lower), np.abs(lifted.upper)).max(axis=0, initial=0.0)
    each = powers_of_two(np.where(np.isfinite(span) & (span > 0.0), span, 1.0))
    M = lifted.M * each
    size = max(float(np.abs(M).max(initial=0.0)), float(np.abs(lifted.m).max(initial=0.0)))
    unit = float(powers_of_two(np.array(size or 1.0)))
    relative = lifted._replace(
        M=M / unit,
        m=lifted.m / unit,
        lower=lifted.lower / each,
        upper=lifted.upper / each,
        W=lifted.W * each,
    )
    return relative, KnownLimits(*known[:2], *(side / unit for side in known[2:])), unit


# Curved and discrete regions within known constraints, one sample at a time.


class Within(NamedTuple):
    """A decision, None where the rows contradict each other, and whether the region has none."""

    decision: Array | None
    empty: bool


def minimize_within(image: AffineImage, rows: HalfSpaces, cost: Array) -> Within:
    """Return a decision of least cost in a region and given rows, or the nearest in the rows."""
    try:
        return Within(intersect(image, rows).minimize(cost), False)
    except (EmptySetError, InfeasibleProblemError):
        return Within(_nearest(image, rows), True)


def _nearest(image: AffineImage, rows: HalfSpaces) -> Array | None:
    """Return the point that satisfies the rows and is nearest to the region, if there is one."""
    form = rows.form()
    try:
        if image.primitive.discrete:
            points = image.primitive.vertices() @ image.matrix.T + image.offset
            near = [nearest_by_solver(form, np.eye(image.n), x, "l2").latent for x in points]
            return near[int(np.linalg.norm(near - points, axis=1).argmin())]
        own = image.primitive.conic_form()
        both = ConicForm(
            block_diag(form.H, own.H), np.concatenate([form.h, own.h]), (*form.cones, *own.cones)
        )
        M = np.hstack([np.eye(image.n), -image.matrix])
        return nearest_by_solver(both, M, image.offset, "l2").latent[: image.n]
    except InfeasibleProblemError:
        return None
