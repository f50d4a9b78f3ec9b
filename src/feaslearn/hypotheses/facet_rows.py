"""A region by its rows: equalities, bounds and facets, each affine in the features."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels.small_lp import INFEASIBLE, OPTIMAL, UNSOLVED, solve_rows, workspace
from feaslearn.sets.polytope import Polytope
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]

#: What relaxing a facet by one unit costs, in units of the largest cost; equalities cost more.
RELAX_FACET, RELAX_EQUALITY = 1e3, 1e5


class FacetSolutions(NamedTuple):
    """Optimal decisions, the prices of the rows, and what each program ended with.

    ``prices`` holds how much the cost falls when a row is relaxed by one unit, equalities first.
    """

    decisions: Array
    prices: Array
    status: NDArray[np.int8]
    tied: NDArray[np.bool_]


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
        G = np.ascontiguousarray(np.vstack([self.E, self.a]))
        right = np.ascontiguousarray(features @ np.vstack([self.e, self.f]).T)
        solutions = _solve(
            G,
            right,
            np.ascontiguousarray(costs),
            np.ascontiguousarray(features @ self.lower.T),
            np.ascontiguousarray(features @ self.upper.T),
            self.slack_limits(),
        )
        for i in np.flatnonzero(solutions.status == UNSOLVED):
            self._solve_again(i, features, costs, solutions)
        return solutions

    def slack_limits(self) -> Array:
        """Return the largest slack of each row: 0 for equalities, infinity for facets."""
        return np.concatenate([np.zeros(len(self.E)), np.full(len(self.a), np.inf)])

    def _solve_again(
        self, i: np.intp, features: Array, costs: Array, solutions: FacetSolutions
    ) -> None:
        """Give a program that the kernel did not finish to HiGHS."""
        phi = features[i]
        right = np.concatenate([self.e @ phi, self.f @ phi])
        low = np.concatenate([self.e @ phi, np.full(len(self.a), -np.inf)])
        bounds = Bounds(low[None], right[None], (self.lower @ phi)[None], (self.upper @ phi)[None])
        answer = WarmProgram(np.vstack([self.E, self.a])).solve(costs[i][None], bounds)
        solutions.decisions[i] = answer.points[0]
        solutions.prices[i] = -answer.row_duals[0]
        solutions.status[i] = OPTIMAL

    def relaxed(self, features: Array, costs: Array) -> Array:
        """Return decisions where some regions are empty: rows are broken as little as possible.

        Facets give way before equalities, and bounds never do (crossing bounds meet halfway).
        """
        q, m, n = len(self.E), len(self.a), self.E.shape[1]
        lower, upper = features @ self.lower.T, features @ self.upper.T
        middle = (lower + upper) / 2.0
        crossing = lower > upper
        lower, upper = np.where(crossing, middle, lower), np.where(crossing, middle, upper)
        G = np.zeros((q + m, n + 2 * q + m))
        G[:, :n] = np.vstack([self.E, self.a])
        G[:q, n : n + q], G[:q, n + q : n + 2 * q] = np.eye(q), -np.eye(q)
        G[q:, n + 2 * q :] = -np.eye(m)
        right = features @ np.vstack([self.e, self.f]).T
        size = np.abs(costs).max(axis=1, keepdims=True) + 1.0
        price = np.concatenate([np.full(2 * q, RELAX_EQUALITY), np.full(m, RELAX_FACET)])
        reach = np.abs(right).max() + np.abs(G[:, :n]).sum(axis=1).max(initial=1.0) * max(
            np.abs(lower).max(), np.abs(upper).max()
        )
        room = np.zeros((len(features), 2 * q + m))
        solutions = _solve(
            G,
            np.ascontiguousarray(right),
            np.hstack([costs, size * price]),
            np.hstack([lower, room]),
            np.hstack([upper, room + 2.0 * reach]),
            self.slack_limits(),
        )
        return solutions.decisions[:, :n]

    def polytope(self, phi: Array) -> Polytope:
        """Return the region at one row of features."""
        n = self.E.shape[1]
        H = np.vstack([np.eye(n), -np.eye(n), -self.a])
        h = np.concatenate([self.lower @ phi, -(self.upper @ phi), -(self.f @ phi)])
        return Polytope(H, h, self.E, self.e @ phi)


def _solve(
    G: Array, right: Array, costs: Array, lower: Array, upper: Array, slack: Array
) -> FacetSolutions:
    count = len(right)
    solutions = FacetSolutions(
        np.full((count, G.shape[1]), np.nan),
        np.empty((count, len(G))),
        np.full(count, INFEASIBLE, dtype=np.int8),
        np.empty(count, dtype=bool),
    )
    work = workspace(*G.shape)
    solve_rows(work, G, right, costs, lower, upper, slack, *solutions)
    return solutions
