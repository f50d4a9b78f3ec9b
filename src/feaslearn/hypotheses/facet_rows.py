"""A region by its rows: equalities, bounds and facets, each affine in the features."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.kernels.small_lp import INFEASIBLE, OPTIMAL, UNSOLVED, solve_rows, workspace
from feaslearn.sets.polytope import Polytope
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]

#: What relaxing a facet by one unit costs, against relaxing an equality.
RELAX_FACET, RELAX_EQUALITY = 1.0, 100.0
#: A relaxed region is a point or flat; this much more room, relative to the size of its numbers,
#: makes it one that every solver sees.
ROOM = 1e-6


class FacetSolutions(NamedTuple):
    """Optimal decisions, the prices of the rows, and what each program ended with.

    ``prices`` holds how much the cost falls when a row is relaxed by one unit, equalities first.
    """

    decisions: Array
    prices: Array
    status: NDArray[np.int8]
    tied: NDArray[np.bool_]


class Limits(NamedTuple):
    """Right-hand sides of all rows, and bounds, one row for each program."""

    right: Array
    lower: Array
    upper: Array


class FacetRows(NamedTuple):
    r"""The region :math:`\{x : Ex = e\phi,\; l\phi \le x \le u\phi,\; a_j'x \le f_j'\phi\}`.

    ``E`` (q, n) and ``e`` (q, k), ``lower`` and ``upper`` (n, k), ``a`` (m, n) and ``f`` (m, k).
    """

    E: Array
    e: Array
    lower: Array
    upper: Array
    a: Array
    f: Array

    def with_facets(self, a: Array, f: Array) -> Self:
        """Return the region with these facets instead of its own."""
        return self._replace(a=np.ascontiguousarray(a), f=np.ascontiguousarray(f))

    def adding(self, a: Array, f: Array) -> Self:
        """Return the region cut by one more facet."""
        return self.with_facets(np.vstack([self.a, a]), np.vstack([self.f, f]))

    def solve(self, features: Array, costs: Array) -> FacetSolutions:
        """Minimise each cost over its region; empty regions leave their status and no decision."""
        return self._solve(self._limits(features), costs)

    def slack_limits(self) -> Array:
        """Return the largest slack of each row: 0 for equalities, infinity for facets."""
        return np.concatenate([np.zeros(len(self.E)), np.full(len(self.a), np.inf)])

    def relaxed(self, features: Array, costs: Array) -> Array:
        """Return decisions where regions are empty: of least cost in the region relaxed."""
        limits, nearest = self._relaxation(features)
        solutions = self._solve(limits, costs)
        solved = (solutions.status == OPTIMAL)[:, None]
        return np.asarray(np.where(solved, solutions.decisions, nearest))

    def polytope(self, phi: Array, relax: bool = False) -> Polytope:
        """Return the region at one row of features, relaxed as little as possible if asked."""
        q, n = self.E.shape
        limits = self._relaxation(phi[None])[0] if relax else self._limits(phi[None])
        right, lower, upper = (side[0] for side in limits)
        if relax:
            room = ROOM * max(float(np.abs(side).max(initial=0.0)) for side in limits)
            right = right + np.repeat([0.0, room], [q, len(self.a)])
            lower, upper = lower - room, upper + room
        H = np.vstack([np.eye(n), -np.eye(n), -self.a])
        return Polytope(H, np.concatenate([lower, -upper, -right[q:]]), self.E, right[:q])

    def _limits(self, features: Array) -> Limits:
        return Limits(
            np.ascontiguousarray(features @ np.vstack([self.e, self.f]).T),
            np.ascontiguousarray(features @ self.lower.T),
            np.ascontiguousarray(features @ self.upper.T),
        )

    def _solve(self, limits: Limits, costs: Array) -> FacetSolutions:
        G = np.ascontiguousarray(np.vstack([self.E, self.a]))
        return _solve(G, limits, np.ascontiguousarray(costs), self.slack_limits())

    def _relaxation(self, features: Array) -> tuple[Limits, Array]:
        """Return limits that leave no region empty, and a point of each.

        Facets give way before equalities, and bounds never do (crossing bounds meet halfway).
        """
        q, m, n = len(self.E), len(self.a), self.E.shape[1]
        right, lower, upper = self._limits(features)
        middle, crossing = (lower + upper) / 2.0, lower > upper
        lower, upper = np.where(crossing, middle, lower), np.where(crossing, middle, upper)
        G = np.zeros((q + m, n + 2 * q + m))
        G[:, :n] = np.vstack([self.E, self.a])
        G[:q, n : n + q], G[:q, n + q : n + 2 * q] = np.eye(q), -np.eye(q)
        G[q:, n + 2 * q :] = -np.eye(m)
        prices = np.repeat([0.0, RELAX_EQUALITY, RELAX_FACET], [n, 2 * q, m])
        # No row is ever broken by more than its largest value on the box.
        size = np.maximum(np.abs(lower), np.abs(upper)) @ np.abs(G[:, :n]).T + np.abs(right)
        size = size[:, [*range(q), *range(q + m)]]
        wide = Limits(
            right, np.hstack([lower, np.zeros_like(size)]), np.hstack([upper, 1.0 + size])
        )
        costs = np.tile(prices, (len(features), 1))
        found = _solve(G, wide, costs, self.slack_limits()).decisions
        right = right.copy()
        right[:, :q] += found[:, n + q : n + 2 * q] - found[:, n : n + q]
        right[:, q:] += found[:, n + 2 * q :]
        return Limits(right, lower, upper), found[:, :n]


def _solve(G: Array, limits: Limits, costs: Array, slack: Array) -> FacetSolutions:
    count = len(costs)
    solutions = FacetSolutions(
        np.full((count, G.shape[1]), np.nan),
        np.empty((count, len(G))),
        np.full(count, INFEASIBLE, dtype=np.int8),
        np.empty(count, dtype=bool),
    )
    work = workspace(*G.shape)
    right, lower, upper = limits
    solve_rows(work, G, right, costs, lower, upper, slack, *solutions)
    unsolved = np.flatnonzero(solutions.status == UNSOLVED)
    if len(unsolved):
        program, bounds = WarmProgram(G), Bounds(right - slack, right, lower, upper)
        for i in unsolved:
            _solve_again(i, program, costs, bounds, solutions)
    return solutions


def _solve_again(
    i: np.intp, program: WarmProgram, costs: Array, bounds: Bounds, solutions: FacetSolutions
) -> None:
    """Give a program that the kernel did not finish to HiGHS."""
    try:
        answer = program.solve(costs[i][None], Bounds(*(side[i][None] for side in bounds)))
    except InfeasibleProblemError:
        solutions.status[i] = INFEASIBLE
        return
    solutions.decisions[i] = answer.points[0]
    solutions.prices[i] = -answer.row_duals[0]
    solutions.status[i] = OPTIMAL
    # The kernel did not come to say; whoever asks looks at the whole face.
    solutions.tied[i] = True
