"""Decisions of least cost in regions: small linear programs, HiGHS, and Clarabel for cones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import InfeasibleProblemError, UnsupportedError
from feaslearn.region.form import RegionForm, combined
from feaslearn.region.relax import relax
from feaslearn.sets.primitive_set import Ties
from feaslearn.solvers.conic import solve_conic
from feaslearn.solvers.conic_form import kept_cones
from feaslearn.solvers.highs import Bounds, WarmProgram, raise_failures
from feaslearn.solvers.mip import solve_integer
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
        near = relax(form, weights[empty], costs[empty])
        found.decisions[empty] = near.decisions
        found.empty[empty] = near.away
    if exact_ties or ties == "center":
        found = found._replace(tied=_tied(form, weights, costs, found))
    if ties == "center" and found.tied is not None:
        for i in np.flatnonzero(found.tied & ~found.empty):
            found.decisions[i] = form.image(weights[i]).optimal_face(costs[i]).center()
    return found


def _solve(form: RegionForm, weights: Array, costs: Array, duals: bool) -> Solved:
    """Return decisions, NaN where the region is empty."""
    if form.integer.any() or form.curved or (duals and not form.fixed_matrix):
        each = [_solve_one(form.at(w), c, duals) for w, c in zip(weights, costs, strict=True)]
        parts = zip(*each, strict=True)
        decisions, empty, tied, prices = (list(part) for part in parts) if each else ([],) * 4
        return Solved(
            np.array(decisions).reshape(costs.shape),
            np.array(empty, dtype=bool),
            np.array(tied, dtype=bool),
            np.array(prices) if duals else None,
        )
    return _solve_linear(form, weights, costs, duals)


def _solve_one(form: RegionForm, cost: Array, duals: bool) -> tuple[Array, bool, bool, Array]:
    """Return a decision, whether there is none, whether several may be optimal, and duals."""
    rows = len(form.labels)
    try:
        if form.integer.any():
            return _by_branching(form, cost, duals), False, True, np.zeros(0)
        if form.curved:
            decision, prices = _by_cones(form, cost)
            return decision, False, True, prices
    except InfeasibleProblemError:
        return np.full(form.n, np.nan), True, False, np.full(rows, np.nan)
    found = _solve_linear(form, np.ones((1, 1)), cost[None], duals)
    prices = np.zeros(0) if found.duals is None else found.duals[0]
    return found.decisions[0], bool(found.empty[0]), bool(found.tied_or_all()[0]), prices


def _tied(form: RegionForm, weights: Array, costs: Array, found: Solved) -> Mask:
    """Say where several decisions are optimal, not only several latent points."""
    tied = found.tied_or_all() & ~found.empty
    if form.p or form.curved:
        rows = np.flatnonzero(tied)
        tied[rows] = several_minimizers(
            lambda prices: _solve(form, weights[rows], prices, False).decisions, costs[rows]
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


class _Program(NamedTuple):
    """``x = M y + m`` with ``G y + s = right, lower <= y <= upper, 0 <= s <= slack``.

    ``origin`` says what duals of the rows before are read from.
    """

    M: Array
    m: Array
    G: Array
    right: Array
    slack: Array
    lower: Array
    upper: Array
    origin: _Origin | None


class _Origin(NamedTuple):
    """Rows ``W`` of a program before bounds were read from it, and which of them it still has.

    ``holding`` (2, columns, N) are the rows that make the lower and the upper bound of each point,
    -1 where there is none; ``rows`` those that are rows still.
    """

    M: Array
    W: Array
    rows: Indices
    holding: Indices

    def duals(self, prices: Array, costs: Array) -> Array:
        """Return the change of the least cost with each right-hand side of the rows."""
        found = np.zeros((len(costs), len(self.W)))
        found[:, self.rows] = prices
        reduced = costs @ self.M - prices @ self.W[self.rows]
        for k, sign in enumerate((1.0, -1.0)):
            for j, rows in enumerate(self.holding[k]):
                priced = np.flatnonzero((rows >= 0) & (sign * reduced[:, j] > 0.0))
                which = rows[priced]
                found[priced, which] = reduced[priced, j] / self.W[which, j]
        return found


def _solve_linear(form: RegionForm, weights: Array, costs: Array, duals: bool) -> Solved:
    """Minimise by the small-LP kernel; by HiGHS what is large, unbounded, or duals of links."""
    lifted = form.lifted
    if (duals and form.linked) or lifted.W[0].shape[0] * lifted.W[0].shape[1] > MOST_NUMBERS:
        return _by_highs(form, weights, costs)
    m, w = combined(weights, lifted.m), combined(weights, lifted.w)
    equality = form.equality[len(form.labels) - len(lifted.labels) :]
    if form.fixed_matrix:
        M0, W0 = lifted.M[0].toarray(), lifted.W[0].toarray()
        program = _bounded(M0, m, W0, w, equality, duals=duals)
        return _by_kernel(program, costs, duals) or _by_highs(form, weights, costs)
    finite = np.where(np.isfinite(weights), weights, 0.0)
    M = np.tensordot(finite, np.array([each.toarray() for each in lifted.M]), 1)
    W = np.tensordot(finite, np.array([each.toarray() for each in lifted.W]), 1)
    decisions, (empty, tied) = np.empty(costs.shape), np.zeros((2, len(costs)), dtype=bool)
    box = _fixed_box(form)
    for i, one in enumerate(np.arange(len(costs))[:, None]):
        program = _bounded(M[i], m[one], W[i], w[one], equality, box=box)
        answer = _by_kernel(program, costs[one])
        if answer is None:
            answer = _by_highs(form.at(weights[i]), np.ones((1, 1)), costs[one])
        decisions[i], empty[i], tied[i] = (
            answer.decisions[0],
            answer.empty[0],
            answer.tied_or_all()[0],
        )
    return Solved(decisions, empty, tied)


def _by_kernel(program: _Program, costs: Array, duals: bool = False) -> Solved | None:
    """Minimise by the small-LP kernel; None where a point is unbounded or the program large."""
    finite = np.isfinite(program.lower).all() and np.isfinite(program.upper).all()
    if not finite or program.G.size > MOST_ENTRIES:
        return None
    limits = Limits(program.right, program.lower, program.upper)
    latent_costs = np.ascontiguousarray(costs @ program.M)
    found = solve_programs(program.G, limits, latent_costs, program.slack)
    decisions = found.decisions @ program.M.T + program.m
    empty = found.status != OPTIMAL
    if not duals or program.origin is None:
        return Solved(decisions, empty, found.tied)
    prices = program.origin.duals(np.where(empty[:, None], 0.0, found.prices), costs)
    prices[empty] = np.nan
    return Solved(decisions, empty, found.tied, prices)


def _box(
    W: Array, w: Array, equality: Mask, duals: bool = False
) -> tuple[Array, Array, Mask, Indices | None]:
    """Return the bounds of points by rows of one entry, the other rows, and which make bounds."""
    counts = (W != 0.0).sum(axis=1)
    single = np.flatnonzero(counts == 1)
    columns = np.nonzero(W[single])[1]
    factors = W[single, columns]
    limits = (w[:, single] / factors).T
    lower = np.full((W.shape[1], len(w)), -np.inf)
    upper = -lower
    at_least, at_most = (equality[single] | (sign * factors > 0.0) for sign in (1.0, -1.0))
    np.maximum.at(lower, columns[at_least], limits[at_least])
    np.minimum.at(upper, columns[at_most], limits[at_most])
    holding = _holders(lower, upper, columns, limits, single, at_least, at_most) if duals else None
    return lower.T, upper.T, counts != 1, holding


@lru_cache(maxsize=4)
def _fixed_box(form: RegionForm) -> tuple[Array, Array]:
    """Return the bounds of points by the rows that are the same for all samples."""
    lifted = form.lifted
    moves = sum(abs(W).sum(axis=1) for W in lifted.W[1:]) + np.abs(lifted.w[1:]).sum(axis=0)
    fixed = np.flatnonzero(moves == 0.0)
    W, w = lifted.W[0][fixed].toarray(), lifted.w[:1, fixed]
    equality = form.equality[len(form.labels) - len(lifted.labels) :][fixed]
    lower, upper, others, _ = _box(W, w, equality)
    slack = np.where(equality[others], 0.0, np.inf)
    tighten(-W[others], -w[:, others], slack, lower, upper)
    return lower, upper


def _bounded(
    M: Array,
    m: Array,
    W: Array,
    w: Array,
    equality: Mask,
    *,
    box: tuple[Array, Array] | None = None,
    duals: bool = False,
) -> _Program:
    """Return the program in points y: rows of one entry are bounds, fixed entries are gone."""
    lower, upper, others, holding = _box(W, w, equality, duals)
    whole = M
    if box is not None:
        lower, upper = np.maximum(lower, box[0]), np.minimum(upper, box[1])
    G, right = -W[others], -w[:, others]
    slack = np.where(equality[others], 0.0, np.inf)
    # Rows that no point moves hold or not: what they lack counts beside the place of the region.
    right[:, ~G.any(axis=1)] /= extent_of(m)
    tighten(G, right, slack, lower, upper)
    reach = combined(upper, np.maximum(G, 0.0).T) + combined(lower, np.minimum(G, 0.0).T)
    needed = (slack == 0.0) | (right < reach).any(axis=0)
    # A row that is missing gets a limit that no point of the region reaches.
    free = reach + divisors(np.abs(G).max(axis=1, initial=0.0))
    right = np.where(slack == 0.0, right, np.minimum(right, free))
    G, right, slack = G[needed], right[:, needed], slack[needed]
    kept = np.flatnonzero(others)[needed]
    origin = None if holding is None else _Origin(whole, W, kept, holding)
    fixed = (lower == upper).all(axis=0)
    if fixed.any():
        at = lower[:, fixed]
        m, right = m + at @ M[:, fixed].T, right - at @ G[:, fixed].T
        M, G, lower, upper = M[:, ~fixed], G[:, ~fixed], lower[:, ~fixed], upper[:, ~fixed]
    M, m, G, right, slack, lower, upper = (
        np.ascontiguousarray(part) for part in (M, m, G, right, slack, lower, upper)
    )
    return _Program(M, m, G, right, slack, lower, upper, origin)


def _holders(
    lower: Array,
    upper: Array,
    columns: Indices,
    limits: Array,
    single: Indices,
    *sides: Mask,
) -> Indices:
    """Return the row that makes each bound, the first of several, -1 where there is none."""
    found = np.full((2, *lower.shape), -1)
    for k, (bound, which) in enumerate(zip((lower, upper), sides, strict=True)):
        for i in np.flatnonzero(which)[::-1]:
            j = columns[i]
            found[k, j] = np.where(limits[i] == bound[j], single[i], found[k, j])
    return found


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
    n, count = form.n, len(costs)
    matrix = sp.hstack([form.X, form.Z[0]], format="csc")
    right = combined(weights, form.r)
    finite = np.where(np.isfinite(right), np.abs(right), 0.0)
    units = powers_of_two(finite.max(axis=1, keepdims=True, initial=0.0))
    sizes = divisors(np.abs(costs).max(axis=1, keepdims=True, initial=0.0))
    high = np.where(form.equality, right, np.inf)
    free = np.full((count, matrix.shape[1]), np.inf)
    bounds = Bounds(right / units, high / units, -free, free)
    prices = np.hstack([costs / sizes, np.zeros((count, form.p))])
    answers, statuses = WarmProgram(matrix).attempt(prices, bounds)
    empty = statuses == "Infeasible"
    raise_failures(np.where(empty, "Optimal", statuses))
    decisions = answers.points[:, :n] * units
    return Solved(decisions, np.asarray(empty), ~empty, answers.row_duals * sizes)


# Cones and integers, one sample at a time.


def _by_cones(form: RegionForm, cost: Array) -> tuple[Array, Array]:
    """Return the decision and the duals of a curved region at one signal."""
    lifted = form.lifted
    M, W, w = lifted.M[0].toarray(), lifted.W[0].toarray(), lifted.w[0]
    finite = np.isfinite(w)
    cones = lifted.cones if finite.all() else kept_cones(lifted.cones, finite)
    size = float(divisors(np.abs(cost).max()))
    found = solve_conic(M.T @ cost / size, W[finite], w[finite], cones)
    rows = np.zeros(len(w))
    rows[finite] = size * found.dual
    if not form.linked:
        return M @ found.point + lifted.m[0], rows
    links = cost - form.X[form.n :].T @ rows
    return M @ found.point + lifted.m[0], np.concatenate([links, rows])


def _by_branching(form: RegionForm, cost: Array, duals: bool) -> Array:
    """Return the decision of a linear region with integers at one signal."""
    if duals:
        raise UnsupportedError("a region with integers has no duals")
    if form.curved:
        raise UnsupportedError("no solver here takes a region with integers and cones")
    matrix, right = sp.hstack([form.X, form.Z[0]], format="csc"), form.r[0]
    free = np.full(form.n, np.inf)
    limit = np.where(form.integer, 1.0, np.inf)
    bounds = Bounds(
        right,
        np.where(form.equality, right, np.inf),
        np.concatenate([-free, np.where(form.integer, 0.0, -np.inf)]),
        np.concatenate([free, limit]),
    )
    size = float(divisors(np.abs(cost).max()))
    prices = np.append(cost / size, np.zeros(form.p))
    integer = np.append(np.zeros(form.n, dtype=bool), form.integer)
    return solve_integer(matrix, prices, bounds, integer)[: form.n]
