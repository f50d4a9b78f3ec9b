"""The region so far, the rows that it does not explain, and the facets that these miss."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.solvers.small_lp import FacetSolutions
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import (
    DECISION_TOL,
    DEPENDENT_TOL,
    ROUNDING,
    SAME_TOL,
    SOLVED_DEPENDENT_TOL,
)
from feaslearn.trainers.facets.hyperplanes import Metric
from feaslearn.trainers.facets.rows import SPREAD, STEP, Rows, Task

#: Savings of a cheaper point below this are none, for costs of length one.
GAIN = 3.0 * DECISION_TOL


class Missing(NamedTuple):
    """How many facets each row misses, a way out of the region (N, nw), and duals.

    A row with one facet missing has ``duals`` (D, nw) from ``spans[i, 0]`` to ``spans[i, 1]``: rows
    of G with G a >= 0 iff a is the normal of a facet that makes it optimal.
    """

    deficit: Indices
    out: Array
    duals: Array
    spans: Indices

    def violations(self, a: Array, rows: Indices) -> Array:
        """Return by how much these rows are not optimal under a facet of normal a."""
        spans = self.spans[rows]
        found, there = np.zeros(len(rows)), np.flatnonzero(spans[:, 1] > spans[:, 0])
        values = np.append(self.duals @ a, 0.0)
        # Of each pair of ends the first: what lies between two rows does not count.
        ends = spans[there].ravel()
        found[there] = np.minimum.reduceat(values, ends)[::2] if len(there) else 0.0
        return -np.minimum(found, 0.0)


class State:
    """Facets ``a`` (m, n), ``f`` (m, r) with their kinds, and the cheapest points ``y``.

    Facets are vectors t of R numbers, normals modulo the equalities before right-hand sides; the
    slack of row i is ``Z[i] @ t``.
    """

    def __init__(self, rows: Rows, task: Task) -> None:
        self.rows, self.random = rows, task.random
        self.late = task.late
        self.N, self.n = rows.x.shape
        self.a, self.f = np.zeros((0, self.n)), np.zeros((0, rows.F.shape[1]))
        self.kind: list[str] = []
        self.E = np.vstack([rows.E, rows.K])  # orthonormal: E was found across K
        self.free = ~(rows.at_lo | rows.at_up)
        self.rounded = bool(rows.x_error.any())
        raw = rows.E / rows.scale
        apart = np.abs(raw[:, :, None] - raw[:, None]).max(axis=0, initial=0.0)
        self.alike = apart <= SAME_TOL * np.abs(raw).max(initial=0.0)
        # Values at a bound are all rounded alike: only those inside have errors of their own.
        self.errors = rows.x_error**2 * self.free if self.rounded else np.zeros((self.N, 0))
        self._ways: dict[tuple[bytes, ...], tuple[Array, Array]] = {}
        self.y, self.gain, self.todo = rows.x.copy(), np.zeros(self.N), np.arange(self.N)
        self.on = np.zeros((self.N, 0), bool)
        self.use_coordinates(None)

    @property
    def m(self) -> int:
        """The number of facets."""
        return len(self.a)

    def use_coordinates(self, M: Array | None) -> None:
        """Take facets with normals in the span of M (all if None), modulo the equalities."""
        rows = self.rows
        self.merged = M is not None
        M = np.eye(self.n) if M is None else M
        U, s, _ = np.linalg.svd(M - self.E.T @ (self.E @ M), full_matrices=False)
        self.W = np.ascontiguousarray(U[:, s > DEPENDENT_TOL * s[0]] if len(s) else U)
        self.nw = self.W.shape[1]
        self.Z = np.ascontiguousarray(np.c_[-rows.x @ self.W, rows.F])
        self.R = self.Z.shape[1]
        self._exact_metric = Metric(DECISION_TOL**2 * np.eye(self.R), 1.0)
        self.c = rows.c @ self.W
        self.refresh()

    def covariance(self, which: Indices) -> Array:
        """Return the mean covariance of the errors of some rows of Z."""
        found = np.zeros((self.R, self.R))
        if self.rounded and len(which):
            mean = self.errors[which].mean(axis=0)
            found[: self.nw, : self.nw] = (self.W * mean[:, None]).T @ self.W
            found[self.nw :, self.nw :] = self.rows.F_cov
        return found

    def metric(self, which: Indices) -> Metric:
        """Return ranks and null spaces of some rows."""
        if not self.rounded:
            return self._exact_metric
        return Metric(self.covariance(which) + DECISION_TOL**2 * np.eye(self.R), 2.0)

    def tol(self, t: Array) -> Array:
        """Return by how much each row may miss t and still be on it."""
        if not self.rounded:
            return np.full(self.N, DECISION_TOL)
        a, f = self.W @ t[: self.nw], t[self.nw :]
        return self.facet_tol(a[None], f[None])[:, 0]

    def same(self, tol: float) -> float:
        """Return what is zero of normals of length one that rows miss by less than tol."""
        return max(SOLVED_DEPENDENT_TOL, 10.0 / SPREAD * (tol - DECISION_TOL))

    def facet_tol(self, a: Array, f: Array) -> Array:
        """Return by how much each row may miss each facet, (N, m)."""
        if not self.rounded:
            return np.full((self.N, len(a)), DECISION_TOL)
        of_features = np.einsum("mr,rs,ms->m", f, self.rows.F_cov, f)
        var = self.errors @ (a**2).T + of_features.clip(0.0)
        return np.asarray(np.maximum(DECISION_TOL, SPREAD * np.sqrt(var)))

    def split(self, t: Array) -> tuple[Array, Array]:
        """Return the normal of length one and the right-hand side of a facet."""
        size = np.linalg.norm(t[: self.nw])
        return self.W @ t[: self.nw] / size, t[self.nw :] / size

    def vec(self, d: Array) -> Array:
        """Return a direction of the decisions as one of facets."""
        return np.asarray(np.append(d, np.zeros(self.R - self.nw)))

    def region(self, a: Array | None = None, f: Array | None = None) -> FacetRows:
        """Return the region in standard units, with these facets if given."""
        rows = self.rows
        a, f = (self.a if a is None else a), (self.f if f is None else f)
        parts = (rows.E, rows.e, rows.lower, rows.upper, a, f)
        return FacetRows(*map(np.ascontiguousarray, parts))

    def solve(
        self, which: Indices, a: Array | None = None, f: Array | None = None
    ) -> FacetSolutions:
        """Return the cheapest points of some rows."""
        return self.rows.solve(self.region(a, f), which)

    def solve_with(self, t: Array, which: Indices) -> FacetSolutions:
        """Return the cheapest points of some rows with one more facet."""
        a, f = self.split(t)
        return self.solve(which, np.vstack([self.a, a]), np.vstack([self.f, f]))

    # ---- what is left to explain
    def refresh(self) -> None:
        """Find cheapest points, and the rows that could be cheaper."""
        rows, todo = self.rows, self.todo
        if len(todo):
            found = self.solve(todo)
            right = (found.status == OPTIMAL)[:, None]
            self.y[todo] = np.where(right, found.decisions, rows.x[todo])
            self.gain[todo] = np.where(right[:, 0], self.savings(found, todo, self.a, self.f), 0.0)
            self.todo = np.zeros(0, int)
        self.d = (self.y - rows.x) @ self.W
        self.unexplained = self.gain > GAIN
        self.__dict__.pop("missing", None)

    @property
    def left(self) -> tuple[int, float]:
        """What is left to explain: rows, then savings of cheaper points beyond errors."""
        beyond = float((self.gain - GAIN)[self.unexplained].sum())
        return int(self.unexplained.sum()), round(beyond, 9)

    def savings(self, found: FacetSolutions, which: Indices, a: Array, f: Array) -> Array:
        """Return what cheaper points in the region with facets a, f save beyond errors.

        The saving is the sum of reduced costs times distances from bounds and of duals times
        slacks of facets; of each, what rounding explains does not count. Where a region is right
        nothing is left, however close the costs are to a tie.
        """
        rows = self.rows
        x, c = rows.x[which], rows.c[which]
        plain = np.asarray(((x - found.decisions) * c).sum(axis=1))
        if not self.rounded:
            return plain
        if rows.known is not None and len(rows.known.E) + len(rows.known.G):
            # Duals of known rows are not returned.
            return np.asarray(plain - 3.0 * SPREAD * np.sqrt(c**2 @ rows.x_error**2))
        reduced = np.abs(c + found.prices @ np.vstack([rows.E, a]))
        away = np.abs(x - found.decisions) - 1.01 * STEP * rows.x_error
        slack = rows.F[which] @ f.T - x @ a.T - 2.0 * self.facet_tol(a, f)[which]
        duals = np.abs(found.prices[:, len(rows.E) :])
        return np.asarray(
            (reduced * away.clip(0.0)).sum(axis=1) + (duals * slack.clip(0.0)).sum(axis=1)
        )

    @cached_property
    def missing(self) -> Missing:
        """How many facets each unexplained row misses, and the ways out that this leaves it."""
        rows = self.rows
        deficit, ways = np.zeros(self.N, int), np.zeros((self.N, self.nw))
        duals, spans, count = [np.zeros((0, self.nw))], np.zeros((self.N, 2), int), 0
        unexplained = np.flatnonzero(self.unexplained)
        # Directions at random that do not depend on the order of the decisions: mixed costs.
        some = self.random.integers(self.N, size=2 * self.n)
        mixed = self.random.standard_normal((self.N, len(some))) @ rows.c[some]
        pattern = np.c_[self.free, self.on, rows.at_lo, rows.on_G][unexplained]
        _, first, group = np.unique(pattern, axis=0, return_index=True, return_inverse=True)
        for g, k in enumerate(first):
            members = unexplained[group == g]
            B, M = self._ways_out(int(unexplained[k]))
            deficit[members] = B.shape[1]
            if not B.shape[1]:
                continue
            cost = rows.c[members] @ B
            pick = mixed[members] @ B if B.shape[1] > 1 else np.ones((len(members), 1))
            pick = -np.sign((cost * pick).sum(axis=1, keepdims=True)) * pick
            out = pick @ (B.T @ self.W)
            size = np.linalg.norm(out, axis=1, keepdims=True)
            ways[members] = out / np.maximum(size, ROUNDING)
            if B.shape[1] == 1:
                single = np.abs(cost[:, 0]) > DECISION_TOL
                members, cost = members[single], cost[single]
                # mu = -c'b / a'b; what multipliers are per unit of mu is linear in a.
                rate = (rows.c[members] @ M.T) / -cost
                own = M @ self.W + rate[:, :, None] * (B[:, 0] @ self.W)
                duals.append(np.hstack([ways[members, None], own]).reshape(-1, self.nw))
                starts = count + (1 + len(M)) * np.arange(len(members) + 1)
                spans[members, 0], spans[members, 1] = starts[:-1], starts[1:]
                count = int(starts[-1])
        table = np.vstack(duals)
        table /= np.linalg.norm(table, axis=1, keepdims=True).clip(ROUNDING)
        return Missing(deficit, ways, table, spans)

    def _ways_out(self, i: int) -> tuple[Array, Array]:
        """Return directions that nothing known at x_i forbids, and multipliers as a map of costs.

        With a facet of normal a and multiplier mu, those of known facets and of bounds are
        ``M (c + mu a)`` in the sign that they must have.
        """
        rows = self.rows
        facets = self.a[self.on[i]]
        given = (self.free[i], rows.at_lo[i], rows.on_G[i], facets)
        key = tuple(part.tobytes() for part in given)
        if key not in self._ways:
            F, fixed = np.flatnonzero(self.free[i]), np.flatnonzero(~self.free[i])
            A = np.vstack([self.E, facets, rows.G[rows.on_G[i]]])
            U, s, V = np.linalg.svd(A[:, F], full_matrices=True)
            error = np.sqrt(A[:, F] ** 2 @ rows.x_error[F] ** 2).max(initial=0.0)
            zero = self.same(max(DECISION_TOL, SPREAD * float(error)))
            rank = int((s > zero * max(s[0] if len(s) else 0.0, ROUNDING)).sum())
            B = np.zeros((self.n, len(F) - rank))
            B[F] = V[rank:].T
            M = np.zeros((0, self.n))
            if B.shape[1] == 1 and rank == len(A):
                # c_F + A_F' y + mu a_F = 0 gives the multipliers y of known rows.
                inverse = (U / s) @ V[:rank] if rank else np.zeros((0, len(F)))
                y = np.zeros((len(A), self.n))
                y[:, F] = -inverse
                side = A[:, fixed].T @ y
                side[np.arange(len(fixed)), fixed] += 1.0
                side *= np.where(rows.at_lo[i, fixed], 1.0, -1.0)[:, None]
                M = np.vstack([y[len(self.E) :], side])
            self._ways[key] = B, M
        return self._ways[key]

    @property
    def open(self) -> Mask:
        """The rows that miss facets."""
        return np.asarray(self.missing.deficit > 0)

    # ---- changes
    def set_facets(self, a: Array, f: Array, kind: list[str]) -> None:
        """Replace all facets; only rows whose cheapest point may move are solved again."""
        rows = self.rows
        tol = self.facet_tol(a, f)
        kept = [
            any(
                np.array_equal(self.f[j], g) and np.array_equal(self.a[j], b)
                for b, g in zip(a, f, strict=True)
            )
            for j in range(self.m)
        ]
        gone = ~np.array(kept, bool)
        slack = rows.F @ self.f.T - self.y @ self.a.T
        moved = (np.abs(slack[:, gone]) < 10 * DECISION_TOL).any(axis=1)
        moved |= (rows.F @ f.T - self.y @ a.T < -DECISION_TOL).any(axis=1)
        self.a, self.f, self.kind = a, f, list(kind)
        self.on = np.abs(rows.F @ f.T - rows.x @ a.T) < tol
        self.todo = np.union1d(self.todo, np.flatnonzero(moved)).astype(int)
        self.refresh()

    def keep(self, which: Indices) -> None:
        """Keep some of the facets."""
        self.set_facets(self.a[which], self.f[which], [self.kind[j] for j in which])

    def drop(self, *which: int) -> None:
        """Leave out some of the facets."""
        self.keep(np.setdiff1d(np.arange(self.m), which))

    def add(self, a: Array, f: Array, kind: str) -> None:
        """Append a facet."""
        self.set_facets(np.vstack([self.a, a]), np.vstack([self.f, f]), [*self.kind, kind])
