"""Decisions of least cost in regions: small linear programs, HiGHS, and Clarabel for cones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Programs with more numbers than this in their dense tableau are given to HiGHS.
MOST_ENTRIES = 100_000
#: Rounds in which rows tighten the bounds of points.
ROUNDS = 4


class Solved(NamedTuple):
    """Decisions of least cost, and what is known about them.

    ``decisions`` is (N, n); ``empty`` says where the region is empty, so that rows are relaxed
    in the order of their labels; ``tied`` where several decisions may be optimal (None if it was
    not asked); ``duals`` (N, m) is the change of the least cost with each right-hand side r.
    """

    decisions: Array
    empty: Mask
    tied: Mask | None = None
    duals: Array | None = None


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

    Parameters
    ----------
    form : RegionForm
        The regions.
    features : ndarray of shape (N, k)
        Features, the constant first.
    costs : ndarray of shape (N, n)
        Costs.
    ties : {"first", "center"}, default="first"
        Which of several minimisers to return.
    known : ndarray of shape (N, w), default=None
        Right-hand sides of known rows, where the form has some.
    duals : bool, default=False
        Whether the duals of the rows are found as well.
    exact_ties : bool, default=False
        Whether ``tied`` is about decisions; otherwise it may be about latent points.

    Returns
    -------
    Solved
        The decisions. Where a region is empty, those within its hard rows that are nearest to it.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import L1Ball
    >>> from feaslearn.region import RegionForm, minimize
    >>> from feaslearn.sets import AffineImage
    >>> ball = RegionForm.of_image(AffineImage(L1Ball(2), np.eye(2), np.zeros(2)))
    >>> minimize(ball, np.ones((1, 1)), np.array([[0.3, -0.9]])).decisions + 0.0
    array([[0., 1.]])
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
    if form.integer.any() or form.curved or not form.fixed_matrix:
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
    tied = bool(found.tied is None or found.tied[0])
    prices = np.zeros(0) if found.duals is None else found.duals[0]
    return found.decisions[0], bool(found.empty[0]), tied, prices


def _tied(form: RegionForm, weights: Array, costs: Array, found: Solved) -> Mask:
    """Say where several decisions are optimal: nudged prices tell."""
    tied = np.ones(len(costs), dtype=bool) if found.tied is None else found.tied
    tied &= ~found.empty
    rows = np.flatnonzero(tied)
    if not len(rows) or not (form.p or form.curved):
        return tied
    direction = np.random.default_rng(0).normal(size=costs.shape[1])
    nudge = NUDGE * np.abs(costs[rows]).max(axis=1, keepdims=True) * direction
    ends = [
        _solve(form, weights[rows], costs[rows] + sign * nudge, False).decisions
        for sign in (1.0, -1.0)
    ]
    apart = np.abs(ends[0] - ends[1]).max(axis=1)
    tied[rows] = apart > SAME_TOL * np.abs(ends).max(axis=(0, 2))
    return tied


# Linear programs whose right-hand sides alone move.


class _Program(NamedTuple):
    """``x = M y + m`` with ``G y + s = right, lower <= y <= upper, 0 <= s <= slack``."""

    M: Array
    m: Array
    G: Array
    right: Array
    slack: Array
    lower: Array
    upper: Array


def _solve_linear(form: RegionForm, weights: Array, costs: Array, duals: bool) -> Solved:
    """Minimise by the small-LP kernel; large programs, unbounded points and duals by HiGHS."""
    if duals:
        return _by_highs(form, weights, costs)
    program = _bounded(form, weights)
    finite = np.isfinite(program.lower).all() and np.isfinite(program.upper).all()
    if not finite or program.G.size > MOST_ENTRIES:
        return _by_highs(form, weights, costs)
    limits = Limits(program.right, program.lower, program.upper)
    latent_costs = np.ascontiguousarray(costs @ program.M)
    found = solve_programs(program.G, limits, latent_costs, program.slack)
    decisions = found.decisions @ program.M.T + program.m
    return Solved(decisions, found.status != OPTIMAL, found.tied)


def _bounded(form: RegionForm, weights: Array) -> _Program:
    """Return the program in points y: rows of one entry are bounds, fixed entries are gone."""
    lifted = form.lifted
    M, m = lifted.M[0].toarray(), combined(weights, lifted.m)
    W, w = lifted.W[0], combined(weights, lifted.w)
    W.eliminate_zeros()
    equality = form.equality[len(form.labels) - len(lifted.labels) :]
    counts = np.diff(W.indptr)
    lower = np.full((len(weights), M.shape[1]), -np.inf)
    upper = -lower
    for i in np.flatnonzero(counts == 1):
        j, factor = W.indices[W.indptr[i]], W.data[W.indptr[i]]
        limit = w[:, i] / factor
        if equality[i] or factor > 0.0:
            lower[:, j] = np.maximum(lower[:, j], limit)
        if equality[i] or factor < 0.0:
            upper[:, j] = np.minimum(upper[:, j], limit)
    others = counts != 1
    G, right = -W[np.flatnonzero(others)].toarray(), -w[:, others]
    slack = np.where(equality[others], 0.0, np.inf)
    # Rows that no point moves hold or not: what they lack counts beside the place of the region.
    right[:, ~G.any(axis=1)] /= extent_of(m)
    _tighten(G, right, slack, lower, upper)
    reach = combined(upper, np.maximum(G, 0.0).T) + combined(lower, np.minimum(G, 0.0).T)
    needed = (slack == 0.0) | (right < reach).any(axis=0)
    # A row that is not there gets a limit that no point of the region reaches.
    free = reach + divisors(np.abs(G).max(axis=1, initial=0.0))
    right = np.where(slack == 0.0, right, np.minimum(right, free))
    G, right, slack = G[needed], right[:, needed], slack[needed]
    fixed = (lower == upper).all(axis=0)
    if fixed.any():
        at = lower[:, fixed]
        m, right = m + at @ M[:, fixed].T, right - at @ G[:, fixed].T
        M, G, lower, upper = M[:, ~fixed], G[:, ~fixed], lower[:, ~fixed], upper[:, ~fixed]
    parts = (M, m, G, right, slack, lower, upper)
    return _Program(*(np.ascontiguousarray(part) for part in parts))


def _tighten(G: Array, right: Array, slack: Array, lower: Array, upper: Array) -> None:
    """Set infinite bounds to what the rows imply, in place: ``y <= (right - least others) / G``."""
    rows = [(G, right), (-G[slack == 0.0], -right[:, slack == 0.0])]
    matrix = np.vstack([part for part, _ in rows])
    limits = np.hstack([part for _, part in rows])
    for _ in range(ROUNDS):
        low_open, high_open = (np.isinf(side).any(axis=0) for side in (lower, upper))
        columns = np.flatnonzero(low_open | high_open)
        if not len(columns):
            return
        up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
        for j in columns:
            which = np.flatnonzero(matrix[:, j])
            if not len(which):
                continue
            others = np.arange(matrix.shape[1]) != j
            least = combined(lower[:, others], up[which][:, others].T)
            least = least + combined(upper[:, others], down[which][:, others].T)
            implied = (limits[:, which] - least) / matrix[which, j]
            above = matrix[which, j] > 0.0
            high = np.where(above, implied, np.inf).min(axis=1)
            low = np.where(above, -np.inf, implied).max(axis=1)
            upper[:, j] = np.where(np.isinf(upper[:, j]), high, upper[:, j])
            lower[:, j] = np.where(np.isinf(lower[:, j]), low, lower[:, j])


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
    there = np.isfinite(w)
    cones = lifted.cones if there.all() else kept_cones(lifted.cones, there)
    size = float(divisors(np.abs(cost).max()))
    found = solve_conic(M.T @ cost / size, W[there], w[there], cones)
    rows = np.zeros(len(w))
    rows[there] = size * found.dual
    if not form.linked:
        return M @ found.point + lifted.m[0], rows
    links = cost - form.X[form.n :].T @ rows
    return M @ found.point + lifted.m[0], np.concatenate([links, rows])


def _by_branching(form: RegionForm, cost: Array, duals: bool) -> Array:
    """Return the decision of a linear region with integers at one signal."""
    if duals:
        raise UnsupportedError("a region with integers has no duals")
    if form.curved:
        raise UnsupportedError("a region with integers and cones is beyond the solvers here")
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
