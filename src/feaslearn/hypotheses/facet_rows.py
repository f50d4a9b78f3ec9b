"""A region by its rows: equalities, bounds and facets, each affine in the features."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from feaslearn.arrays import Array
from feaslearn.known import KnownLimits
from feaslearn.region.form import RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.polytope import Polytope
from feaslearn.solvers.small_lp import FacetSolutions, Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import NUDGE, TINY, extent_of, powers_of_two

#: How much more it costs to relax a bound of a decision with all the range than of one with none.
WIDER = 0.1


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

    def solve(
        self, features: Array, costs: Array, known: KnownLimits | None = None
    ) -> FacetSolutions:
        """Minimise each cost over its region; empty regions leave their status and no decision.

        ``known`` constraints count beside the rows.
        """
        if known is None:
            return self._solve(self._limits(features), costs)
        right, lower, upper = self._limits(features)
        G = np.ascontiguousarray(np.vstack([self.E, self.a, known.E, -known.G]))
        limits = Limits(
            np.hstack([right, known.e, -known.g]),
            np.maximum(lower, known.lower),
            np.minimum(upper, known.upper),
        )
        slack = np.repeat([0.0, np.inf], [len(known.E), len(known.G)])
        slack = np.append(self.slack_limits(), slack)
        found = solve_programs(G, limits, np.ascontiguousarray(costs), slack)
        return found._replace(
            prices=np.ascontiguousarray(found.prices[:, : len(self.E) + len(self.a)])
        )

    def largest_violation(self, features: Array, decisions: Array) -> Array:
        """Return for each decision by how much it breaks a row or a bound at most."""
        right, lower, upper = self._limits(features)
        beyond = [np.abs(decisions @ self.E.T - right[:, : len(self.E)])]
        beyond += [decisions @ self.a.T - right[:, len(self.E) :]]
        beyond += [lower - decisions, decisions - upper]
        return np.asarray(np.hstack(beyond).max(axis=1, initial=0.0))

    def slack_limits(self) -> Array:
        """Return the largest slack of each row: 0 for equalities, infinity for facets."""
        return np.concatenate([np.zeros(len(self.E)), np.full(len(self.a), np.inf)])

    def relaxed(self, features: Array, costs: Array, firm: bool = False) -> Array:
        """Return decisions where regions are empty: of least cost in the region relaxed.

        ``firm`` bounds do not give way.
        """
        limits, nearest = self._relaxation(features, firm)
        solutions = self._solve(limits, costs)
        solved = (solutions.status == OPTIMAL)[:, None]
        return np.asarray(np.where(solved, solutions.decisions, nearest))

    def image(self, phi: Array, relax: bool = False, firm: bool = False) -> AffineImage:
        """Return the region at one row of features, relaxed as little as possible if asked.

        Its polytope is in units of its own, so that tolerances mean the same in any unit.
        """
        q, n = self.E.shape
        limits = self._relaxation(phi[None], firm)[0] if relax else self._limits(phi[None])
        room = NUDGE * max(float(np.abs(side).max(initial=0.0)) for side in limits)
        smaller = self._widened(limits, -room)
        if relax or self._solve(smaller, np.zeros((1, n))).status[0] != OPTIMAL:
            limits = self._widened(limits, room)
        right, lower, upper = (side[0] for side in limits)
        H, h = np.vstack([np.eye(n), -np.eye(n), -self.a]), np.concatenate([lower, -upper])
        own = powers_of_two(extent_of(h))
        h = np.append(h, -right[q:])
        return AffineImage(
            Polytope(H, h / own, self.E, right[:q] / own), own * np.eye(n), np.zeros(n)
        )

    def _limits(self, features: Array) -> Limits:
        return Limits(
            np.ascontiguousarray(features @ np.vstack([self.e, self.f]).T),
            np.ascontiguousarray(features @ self.lower.T),
            np.ascontiguousarray(features @ self.upper.T),
        )

    def _widened(self, limits: Limits, room: float) -> Limits:
        """Return limits of a region that has this much more room across its equalities."""
        rows = np.repeat([0.0, room], [len(self.E), len(self.a)])
        return Limits(limits.right + rows, limits.lower - room, limits.upper + room)

    def _solve(self, limits: Limits, costs: Array) -> FacetSolutions:
        G = np.ascontiguousarray(np.vstack([self.E, self.a]))
        return solve_programs(G, limits, np.ascontiguousarray(costs), self.slack_limits())

    def _relaxation(self, features: Array, firm: bool) -> tuple[Limits, Array]:
        """Return limits that leave no region empty, and a point of each."""
        # Facets give way first, then bounds that are not firm, then equalities. Crossing bounds
        # meet halfway. Where any of several bounds would do, that of the decision with the least
        # range gives way, whatever the units and the order of the decisions.
        q, m, n = len(self.E), len(self.a), self.E.shape[1]
        right, lower, upper = self._limits(features)
        middle, crossing = (lower + upper) / 2.0, lower > upper
        lower, upper = np.where(crossing, middle, lower), np.where(crossing, middle, upper)
        rows, give = np.vstack([self.E, self.a]), np.eye(q + m)
        # Columns: x within its bounds, x beyond them either way, and what the rows give.
        G = np.hstack([rows, rows, -rows, give[:, :q], -give])
        kinds = [n, 2 * n, 2 * q, m]
        prices = np.repeat([0.0, RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET], kinds)
        prices = np.tile(prices, (len(features), 1))
        ranges = upper - lower
        share = ranges / np.maximum(ranges.sum(axis=1, keepdims=True), TINY)
        prices[:, n : 3 * n] *= 1.0 + WIDER * np.hstack([share, share])
        # No row and no bound is ever broken by more than the largest number there is.
        size = np.abs(right).max(axis=1, initial=0.0)
        size += (np.maximum(np.abs(lower), np.abs(upper)) * (1.0 + np.abs(rows).sum(axis=0))).sum(1)
        size = np.where(size > 0.0, size, 1.0)
        room = np.repeat([0.0, 0.0 if firm else 1.0, 1.0, 1.0], kinds)[n:] * size[:, None]
        wide = Limits(right, np.hstack([lower, 0.0 * room]), np.hstack([upper, room]))
        found = solve_programs(G, wide, prices, self.slack_limits()).decisions
        inner, over, under, less, more = np.split(found, np.cumsum([n, n, n, q]), axis=1)
        right = right + more
        right[:, :q] -= less
        return Limits(right, lower - under, upper + over), inner + over - under
