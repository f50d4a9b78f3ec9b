"""A region by its rows: equalities, bounds and facets, each affine in the features."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from feaslearn.arrays import Array
from feaslearn.known import KnownLimits
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.polytope import Polytope
from feaslearn.solvers.small_lp import FacetSolutions, Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import NUDGE, extent_of, powers_of_two


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
        """Return for each decision by how much it violates a row or a bound at most."""
        right, lower, upper = self._limits(features)
        violation = [np.abs(decisions @ self.E.T - right[:, : len(self.E)])]
        violation += [decisions @ self.a.T - right[:, len(self.E) :]]
        violation += [lower - decisions, decisions - upper]
        return np.asarray(np.hstack(violation).max(axis=1, initial=0.0))

    def slack_limits(self) -> Array:
        """Return the largest slack of each row: 0 for equalities, infinity for facets."""
        return np.concatenate([np.zeros(len(self.E)), np.full(len(self.a), np.inf)])

    def solve_around(self, features: Array, costs: Array, held: Array) -> Array:
        """Return decisions of least cost in regions relaxed as far as held decisions need."""
        found = self._solve(self._around(features, held), costs)
        return np.where((found.status == OPTIMAL)[:, None], found.decisions, held)

    def image(self, phi: Array, held: Array | None = None) -> AffineImage:
        """Return the region at one row of features, relaxed as far as a held decision needs.

        Its polytope is in units of its own, so that tolerances mean the same in any unit.
        """
        q, n = self.E.shape
        limits = self._limits(phi[None]) if held is None else self._around(phi[None], held[None])
        margin = NUDGE * max(float(np.abs(side).max(initial=0.0)) for side in limits)
        smaller = self._widened(limits, -margin)
        if held is not None or self._solve(smaller, np.zeros((1, n))).status[0] != OPTIMAL:
            limits = self._widened(limits, margin)
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

    def _around(self, features: Array, held: Array) -> Limits:
        """Return limits relaxed as far as they must be for the held decisions to be feasible."""
        right, lower, upper = self._limits(features)
        q, levels = len(self.E), held @ np.vstack([self.E, self.a]).T
        levels[:, q:] = np.maximum(levels[:, q:], right[:, q:])
        return Limits(levels, np.minimum(lower, held), np.maximum(upper, held))

    def _widened(self, limits: Limits, margin: float) -> Limits:
        """Return limits of a region that has this much more margin across its equalities."""
        rows = np.repeat([0.0, margin], [len(self.E), len(self.a)])
        return Limits(limits.right + rows, limits.lower - margin, limits.upper + margin)

    def _solve(self, limits: Limits, costs: Array) -> FacetSolutions:
        G = np.ascontiguousarray(np.vstack([self.E, self.a]))
        return solve_programs(G, limits, np.ascontiguousarray(costs), self.slack_limits())
