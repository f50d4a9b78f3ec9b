"""Decisions of least cost in regions: small linear programs, HiGHS, and Clarabel for cones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import InfeasibleProblemError, UnsupportedError
from feaslearn.region.form import RegionForm, combined
from feaslearn.region.relax import RowBounds, bounds_of, relax
from feaslearn.sets.primitive_set import Ties
from feaslearn.solvers.conic import solve_conic
from feaslearn.solvers.conic_form import equality_rows, kept_cones
from feaslearn.solvers.highs import Bounds, WarmProgram
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import NUDGE, SAME_TOL, divisors, extent_of, powers_of_two

#: Programs with more numbers than this in their dense tableau are given to HiGHS.
MOST_ENTRIES = 100_000
#: Rows and columns with more numbers than this are not even written as a dense matrix.
MOST_NUMBERS = 10_000_000
#: Rounds in which rows tighten the bounds of points.
ROUNDS = 4


class Solved(NamedTuple):
    """Decisions of least cost, and their properties.

    ``decisions`` is (N, n); ``empty`` says where the region is empty, so that rows are relaxed
    in the order of their labels; ``tied`` where several decisions may be optimal (None if it was
    not asked); ``duals`` (N, m) is the change of the least cost with each right-hand side r.
    """

    decisions: Array
    empty: Mask
    tied: Mask | None = None
    duals: Array | None = None

    def tied_or_all(self) -> Mask:
        """Return where several decisions may be optimal: everywhere if it was not asked."""
        return np.ones(len(self.empty), dtype=bool) if self.tied is None else self.tied


def minimize(
    form: RegionForm,
    features: Array,
    costs: Array,
    ties: Ties = "first",
    known: Array | None = None,
    *,
    duals: bool = False,
    exact_ties: bool = False,
) -> Solved:
    r"""Return for each sample a decision of least cost in its region.

    .. math:: \min_{x, z} \; c_i'x \quad \text{s.t.} \quad
        X x + \sum_k w_k(s_i) (Z_k z - r_k) \in K
    """
    weights = form.weights(features, known)
    found = _solve(form, weights, costs, duals)
    empty = np.flatnonzero(found.empty)
    if len(empty):
        found.decisions[empty], found.empty[empty] = relax(form, weights[empty], costs[empty])
    if exact_ties or ties == "center":
        found = found._replace(tied=_tied(form, weights, costs, found))
    if ties == "center" and found.tied is not None:
        for i in np.flatnonzero(found.tied & ~found.empty):
            found.decisions[i] = form.image(weights[i]).optimal_face(costs[i]).center()
    return found


def _solve(form: RegionForm, weights: Array, costs: Array, duals: bool = False) -> Solved:
    """Return decisions, NaN where the region is empty."""
    if duals and not form.plain:
        raise UnsupportedError("duals are those of linear rows of the decisions alone")
    rows, columns = form.lifted.W[0].shape
    by_highs = rows * columns > MOST_NUMBERS
    if form.curved or (by_highs and not form.fixed_matrix):
        decide = _by_cones if form.curved else _by_highs_alone
        each = [decide(form.at(w), c) for w, c in zip(weights, costs, strict=True)]
        decisions = np.array(each).reshape(costs.shape)
        empty = np.isnan(decisions[:, 0])
        return Solved(decisions, empty, ~empty)
    if by_highs:
        return _by_highs(form, weights, costs)
    return _by_small_programs(form, weights, costs, duals)


def _tied(form: RegionForm, weights: Array, costs: Array, found: Solved) -> Mask:
    """Say where several decisions are optimal, not only several latent points."""
    tied = found.tied_or_all() & ~found.empty
    if form.p or form.curved:
        rows = np.flatnonzero(tied)
        tied[rows] = several_minimizers(
            lambda prices: _solve(form, weights[rows], prices).decisions, costs[rows]
        )
    return tied


def several_minimizers(decide: Callable[[Array], Array], costs: Array) -> Mask:
    """Say for which costs there are several decisions of least cost: nudged prices tell."""
    if not len(costs):
        return np.zeros(0, dtype=bool)
    direction = np.random.default_rng(0).normal(size=costs.shape[1])
    nudge = NUDGE * np.abs(costs).max(axis=1, keepdims=True) * direction
    ends = np.array([decide(costs + sign * nudge) for sign in (1.0, -1.0)])
    apart = np.abs(ends[0] - ends[1]).max(axis=1)
    return np.asarray(apart > SAME_TOL * np.abs(ends).max(axis=(0, 2)))


# Linear programs whose right-hand sides alone move.


def _by_small_programs(form: RegionForm, weights: Array, costs: Array, duals: bool) -> Solved:
    """Minimise by the small-LP kernel; by HiGHS what it does not take."""
    lifted = form.lifted
    m, w = combined(weights, lifted.m), combined(weights, lifted.w)
    equality = equality_rows(lifted.cones)
    if form.fixed_matrix:
        M0, W0 = lifted.M[0].toarray(), lifted.W[0].toarray()
        found = _by_kernel(M0, m, W0, w, equality, costs, duals=duals)
        return found or _by_highs(form, weights, costs)
    finite = np.where(np.isfinite(weights), weights, 0.0)
    M = np.tensordot(finite, np.array([each.toarray() for each in lifted.M]), 1)
    W = np.tensordot(finite, np.array([each.toarray() for each in lifted.W]), 1)
    decisions, (empty, tied) = np.empty(costs.shape), np.zeros((2, len(costs)), dtype=bool)
    box = _fixed_box(form)
    for i, one in enumerate(np.arange(len(costs))[:, None]):
        answer = _by_kernel(M[i], m[one], W[i], w[one], equality, costs[one], box=box)
        answer = answer or _by_highs(form.at(weights[i]), np.ones((1, 1)), costs[one])
        decisions[one], empty[one], tied[one] = answer[0], answer[1], answer.tied_or_all()
    return Solved(decisions, empty, tied)


@lru_cache(maxsize=4)
def _fixed_box(form: RegionForm) -> tuple[Array, Array]:
    """Return the bounds of points by the rows that are the same for all samples."""
    lifted = form.lifted
    moves = sum(abs(W).sum(axis=1) for W in lifted.W[1:]) + np.abs(lifted.w[1:]).sum(axis=0)
    fixed = np.flatnonzero(moves == 0.0)
    W, w = lifted.W[0][fixed].toarray(), lifted.w[:1, fixed]
    equality = equality_rows(lifted.cones)[fixed]
    lower, upper = bounds_of(W, w, equality)[:2]
    tighten(-W, -w, np.where(equality, 0.0, np.inf), lower, upper)
    return lower, upper


def _by_kernel(
    M: Array,
    m: Array,
    W: Array,
    w: Array,
    equality: Mask,
    costs: Array,
    *,
    box: tuple[Array, Array] | None = None,
    duals: bool = False,
) -> Solved | None:
    """Minimise over ``M y + m : W y >= w`` (or = w) by the small-LP kernel.

    Rows of one entry are bounds, entries that are fixed are no variables. None where a point is
    unbounded or the program large.
    """
    bounds = bounds_of(W, w, equality)
    lower, upper = bounds.lower, bounds.upper
    if box is not None:
        lower, upper = np.maximum(lower, box[0]), np.minimum(upper, box[1])
    rows = np.delete(np.arange(len(W)), bounds.single)
    G, right, slack = -W[rows], -w[:, rows], np.where(equality[rows], 0.0, np.inf)
    # Rows that no point moves hold or not: what they lack counts beside the place of the region.
    right[:, ~G.any(axis=1)] /= extent_of(m)
    tighten(G, right, slack, lower, upper)
    reach = combined(upper, np.maximum(G, 0.0).T) + combined(lower, np.minimum(G, 0.0).T)
    needed = (slack == 0.0) | (right < reach).any(axis=0)
    # A row that is missing gets a limit that no point of the region reaches.
    free = reach + divisors(np.abs(G).max(axis=1, initial=0.0))
    right = np.where(slack == 0.0, right, np.minimum(right, free))
    G, right, slack, rows = G[needed], right[:, needed], slack[needed], rows[needed]
    fixed = (lower == upper).all(axis=0)
    if fixed.any():
        at = lower[:, fixed]
        m, right = m + at @ M[:, fixed].T, right - at @ G[:, fixed].T
        M, G, lower, upper = M[:, ~fixed], G[:, ~fixed], lower[:, ~fixed], upper[:, ~fixed]
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()) or G.size > MOST_ENTRIES:
        return None
    parts = (np.ascontiguousarray(part) for part in (G, right, lower, upper, costs @ M))
    G, *limits, latent_costs = parts
    found = solve_programs(G, Limits(*limits), latent_costs, slack)
    decisions, empty = found.decisions @ M.T + m, found.status != OPTIMAL
    prices = None
    if duals:
        prices = np.zeros((len(costs), len(W)))
        prices[:, rows] = np.where(empty[:, None], 0.0, found.prices)
        _price_bounds(prices, costs - prices @ W, W, equality, bounds)
        prices[empty] = np.nan
    return Solved(decisions, empty, found.tied, prices)


def _price_bounds(
    prices: Array, reduced: Array, W: Array, equality: Mask, bounds: RowBounds
) -> None:
    """Write the duals of the rows that are bounds: the first of those that hold takes all."""
    for i, j, limit in zip(bounds.single, bounds.columns, bounds.limits, strict=True):
        dual, cheap = reduced[:, j] / W[i, j], reduced[:, j] > 0.0
        holds = limit == np.where(cheap, bounds.lower[:, j], bounds.upper[:, j])
        holds &= (dual > 0.0) | (equality[i] & (dual != 0.0))
        prices[holds, i], reduced[holds, j] = dual[holds], 0.0


def tighten(G: Array, right: Array, slack: Array, lower: Array, upper: Array) -> None:
    """Set infinite bounds to what the rows imply, in place: ``y <= (right - least others) / G``."""
    if np.isfinite(lower).all() and np.isfinite(upper).all():
        return
    matrix = np.vstack([G, -G[slack == 0.0]])
    limits = np.hstack([right, -right[:, slack == 0.0]])
    up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    for _ in range(ROUNDS):
        open_ended = np.isinf(lower) | np.isinf(upper)
        columns = np.flatnonzero(open_ended.any(axis=0) & (matrix != 0.0).any(axis=0))
        if not len(columns):
            return
        # The least value of each row, and how many of its entries have none.
        low, high = (np.where(np.isinf(side), 0.0, side) for side in (lower, upper))
        least = low @ up.T + high @ down.T
        none = np.isinf(lower) @ (up > 0.0).T.astype(float)
        none += np.isinf(upper) @ (down < 0.0).T.astype(float)
        for j in columns:
            factors = matrix[:, j]
            which = np.flatnonzero(factors)
            above = factors[which] > 0.0
            entry = np.where(above, low[:, j : j + 1], high[:, j : j + 1]) * factors[which]
            without = np.where(above, np.isinf(lower[:, j : j + 1]), np.isinf(upper[:, j : j + 1]))
            known = none[:, which] == without
            implied = (limits[:, which] - (least[:, which] - entry)) / factors[which]
            new = np.where(known & above, implied, np.inf).min(axis=1)
            upper[:, j] = np.where(np.isinf(upper[:, j]), new, upper[:, j])
            new = np.where(known & ~above, implied, -np.inf).max(axis=1)
            lower[:, j] = np.where(np.isinf(lower[:, j]), new, lower[:, j])


def _by_highs(form: RegionForm, weights: Array, costs: Array) -> Solved:
    """Minimise by HiGHS, all rows as they are, in units of each sample's numbers."""
    n, shape = form.n, (len(costs), form.n + form.p)
    matrix = sp.hstack([form.X, form.Z[0]], format="csc")
    right = combined(weights, form.r)
    finite = np.where(np.isfinite(right), np.abs(right), 0.0)
    units = powers_of_two(finite.max(axis=1, keepdims=True, initial=0.0))
    sizes = divisors(np.abs(costs).max(axis=1, keepdims=True, initial=0.0))
    bounds = Bounds(
        right / units,
        np.where(form.equality, right, np.inf) / units,
        np.full(shape, -np.inf),
        np.full(shape, np.inf),
    )
    prices = np.hstack([costs / sizes, np.zeros((len(costs), form.p))])
    found = WarmProgram(matrix).solve(prices, bounds, infeasible=True)
    empty = np.isnan(found.points[:, 0])
    return Solved(found.points[:, :n] * units, empty, ~empty, found.row_duals * sizes)


def _by_highs_alone(form: RegionForm, cost: Array) -> Array:
    """Return the decision in a region at one signal, NaN where it is empty."""
    return np.asarray(_by_highs(form, np.ones((1, 1)), cost[None]).decisions[0])


def _by_cones(form: RegionForm, cost: Array) -> Array:
    """Return the decision in a curved region at one signal by Clarabel, NaN where it is empty."""
    lifted = form.lifted
    M, W, w = lifted.M[0].toarray(), lifted.W[0].toarray(), lifted.w[0]
    finite = np.isfinite(w)
    size = float(divisors(np.abs(cost).max()))
    try:
        q, cones = M.T @ cost / size, kept_cones(lifted.cones, finite)
        return np.asarray(M @ solve_conic(q, W[finite], w[finite], cones).point + lifted.m[0])
    except InfeasibleProblemError:
        return np.full(form.n, np.nan)
