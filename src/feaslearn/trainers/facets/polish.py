"""Gauss-Newton steps of facets and bounds that keep explained decisions optimal.

While its active limits stay, a decision y is linear in facets and bounds, so the squared misfit to
all decisions has a Newton step. Prices carry no noise: at a vertex with edges w and multipliers
lam >= 0, ``c'w >= 0`` holds exactly, to first order ``c'w + sum_j lam_j w'da_j >= 0``. A step keeps
these *dual rows* of the decisions that are explained, and grants *wishes*: that what other
decisions lie on should hold them, too, where that is not many posterior deviations off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.tolerances import DEPENDENT_TOL, ROUNDING, SAME_TOL, TINY

#: Rows of a vertex with a smaller singular value say nothing about each of them.
SINGULAR = 1e-3
#: Posterior deviations within which dual rows are looked at, and by which wishes may be off.
AT_RISK, WISHES = 6.0, (2.0, 6.0, 20.0)
#: Weight of a wish beside the step, rounds of row generation, and rows that each adds at least.
SOFT, ROUNDS, CHUNK = 30.0, 40, 20


class Vertex(NamedTuple):
    """What holds one decision: free columns, columns at bounds, facets on it, and the inverse."""

    free: Indices
    at: Indices
    on: Indices
    inverse: Array
    cross: Array  # the active rows on the columns at bounds
    signs: Array  # which way columns leave their bounds
    own: Mask  # lower and upper bounds (2 n,) that may move
    n: int

    def answers(self, s: int) -> tuple[Array, Array]:
        """Return how the decision moves with the first s rows (n, s) and with bounds (n, 2 n)."""
        rows, box = np.zeros((self.n, s)), np.zeros((self.n, self.n))
        rows[np.ix_(self.free, self.on[self.on < s])] = self.inverse[:, self.on < s]
        box[self.at, self.at] = 1.0
        box[np.ix_(self.free, self.at)] = -self.inverse @ self.cross
        return rows, np.hstack([box, box]) * self.own

    def edges(self) -> Array:
        """Return the directions in which the decision leaves one of its bounds, or facets."""
        found = np.zeros((len(self.at) + len(self.on), self.n))
        found[np.arange(len(self.at)), self.at] = self.signs
        found[np.ix_(np.arange(len(self.at)), self.free)] = (
            -(self.inverse @ self.cross).T * self.signs[:, None]
        )
        found[np.ix_(len(self.at) + np.arange(len(self.on)), self.free)] = -self.inverse.T
        return found


class Vertices(NamedTuple):
    """Optimal decisions and what holds them.

    ``A`` (r, n) facets above ``n_fixed`` other rows that always hold, ``active`` (N, r) which of
    them hold each decision, ``at_lower`` and ``at_upper`` (N, n) the bounds that do, and of those
    ``own_lower`` and ``own_upper`` the ones that may move.
    """

    A: Array
    n_fixed: int
    active: Mask
    at_lower: Mask
    at_upper: Mask
    own_lower: Mask
    own_upper: Mask

    def groups(self, which: Indices) -> Iterator[tuple[Indices, Vertex]]:
        """Yield rows that the same limits hold, and these, where they leave one decision."""
        pattern = np.hstack(self[2:])[which]
        _, first, group = np.unique(pattern, axis=0, return_index=True, return_inverse=True)
        for k, i in enumerate(which[first]):
            vertex = self._vertex(int(i))
            if vertex is not None:
                yield which[group.ravel() == k], vertex

    def _vertex(self, i: int) -> Vertex | None:
        fixed = self.at_lower[i] | self.at_upper[i]
        free, on = np.flatnonzero(~fixed), np.flatnonzero(self.active[i])
        at = np.flatnonzero(fixed)
        if len(on) != len(free):
            return None
        U, sizes, V = np.linalg.svd(self.A[np.ix_(on, free)])
        if sizes.min(initial=1.0) < SINGULAR:
            return None
        inverse = (V.T / sizes) @ U.T
        signs = np.where(self.at_lower[i, at], 1.0, -1.0)
        own = np.append(self.own_lower[i], self.own_upper[i])
        return Vertex(free, at, on, inverse, self.A[np.ix_(on, at)], signs, own, len(fixed))


class Step(NamedTuple):
    """The normal equations ``H step = g`` of all facets, lower and upper bounds."""

    H: Array
    g: Array

    @property
    def free(self) -> Array:
        """The step without dual rows."""
        return np.asarray(np.linalg.solve(self.H, self.g))


def newton(points: Vertices, z: Array, miss: Array, w: Array, damping: Array) -> Step:
    """Return the step of facets, each of the width of z, and of lower and upper bounds.

    ``z`` (N, R) is how the slack of a facet at a decision answers to its numbers, ``miss`` (N, n)
    what the decisions lack, ``w`` (N, n) weights.
    """
    (N, n), R = miss.shape, z.shape[1]
    s = (len(damping) - 2 * n) // R
    # How decisions answer to the right-hand sides of facets and to bounds, by products.
    SS, SB, gs = np.zeros((N, s, s)), np.zeros((N, s, 2 * n)), np.zeros((N, s))
    BB, gb = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    for members, vertex in points.groups(np.arange(N)):
        rows, box = vertex.answers(s)
        v, wanted = w[members], w[members] * miss[members]
        SS[members] = np.einsum("is,mi,it->mst", rows, v, rows, optimize=True)
        SB[members] = np.einsum("is,mi,ib->msb", rows, v, box, optimize=True)
        BB += (box * v.sum(axis=0)[:, None]).T @ box
        gs[members] = wanted @ rows
        gb += wanted.sum(axis=0) @ box
    H = np.diag(damping)
    for j in range(s):
        block = slice(j * R, (j + 1) * R)
        H[block, : s * R] += z.T @ (SS[:, j, :, None] * z[:, None, :]).reshape(N, s * R)
        H[block, s * R :] += z.T @ SB[:, j]
    H[s * R :, : s * R] = H[: s * R, s * R :].T
    H[s * R :, s * R :] += BB
    H += DEPENDENT_TOL * np.diag(H.diagonal())  # exact rows leave no room for the damping
    return Step(H, np.append((gs.T @ z).ravel(), gb))


def dual_rows(
    points: Vertices, which: Indices, costs: Array, W: Array, R: int
) -> tuple[Array, Array]:
    """Return rows (r, m R) and margins (r,): each edge of these vertices keeps from saving money.

    ``W`` (n, nw) is the basis that normals of facets have their first nw numbers in.
    """
    s = len(points.A) - points.n_fixed
    rows, margins = [np.zeros((0, s * R))], [np.zeros(0)]
    for members, vertex in points.groups(which):
        holds = vertex.on < s
        if not holds.any():
            continue
        c, edges = costs[members], vertex.edges()
        lam = -(c[:, vertex.free] @ vertex.inverse)[:, holds]
        along = edges @ W
        G = np.zeros((len(members), len(edges), s, R))
        G[:, :, vertex.on[holds], : W.shape[1]] = lam[:, None, :, None] * along[None, :, None, :]
        rows.append(G.reshape(-1, s * R))
        margins.append((c @ edges.T).ravel())
    return np.vstack(rows), np.concatenate(margins)


def steps(step: Step, kept: tuple[Array, Array], wished: tuple[Array, Array]) -> Iterator[Array]:
    """Yield the free step, one that keeps dual rows, and some that grant wishes besides."""
    free = step.free
    yield free
    C = np.linalg.cholesky(step.H)
    m = kept[0].shape[1]
    G, h = np.vstack([kept[0], wished[0]]), np.concatenate([kept[1], wished[1]])
    soft = np.arange(len(G)) >= len(kept[0])
    if not len(G):
        return
    T = solve_triangular(C, np.pad(G, ((0, 0), (0, len(free) - m))).T, lower=True).T
    size = np.linalg.norm(T, axis=1)
    there = size > ROUNDING
    T, h, soft = T[there] / size[there, None], h[there] / size[there], soft[there]
    wanted = -h - T @ (C.T @ free)
    risky = wanted > -AT_RISK
    for limit in (None, *(WISHES if soft.any() else ())):
        granted = ~soft if limit is None else ~soft | (-h < limit)
        some = granted & risky
        move = least_norm(T[some], wanted[some], soft[some]) if some.any() else None
        if move is not None:
            yield free + solve_triangular(C.T, move, lower=False)


def least_norm(G: Array, h: Array, soft: Mask) -> Array | None:
    """Return ``min |s|^2 + SOFT |xi|^2`` such that ``G s + xi >= h``, xi = 0 on hard rows.

    By non-negative least squares of the dual, rows added as they are violated; None if infeasible.
    """
    d, give = G.shape[1], 1.0 / np.sqrt(SOFT)
    work = np.flatnonzero(h > 0.0)
    found = np.zeros(d)
    for k in range(ROUNDS):
        if not len(work):
            return found
        own = np.flatnonzero(soft[work])
        H = np.zeros((len(work), d + len(own)))
        H[:, :d], H[own, d + np.arange(len(own))] = G[work], give
        program = np.vstack([H.T, h[work]])
        try:
            u, left = nnls(program, np.eye(len(program))[-1])
        except RuntimeError:
            return None
        residual = program @ u
        residual[-1] -= 1.0
        if left < SAME_TOL or abs(residual[-1]) < TINY:
            return None
        all_ = -residual[:-1] / residual[-1]
        found = np.asarray(all_[:d])
        miss = G @ found - h
        miss[work[own]] += give * all_[d:]
        bad = np.flatnonzero(miss < -SAME_TOL * max(1.0, float(np.linalg.norm(found))))
        worst = bad[np.argsort(miss[bad], kind="stable")[: max(CHUNK, d)]]
        new = np.setdiff1d(worst, work)
        if not len(new):
            return found
        work = np.append(work if k < CHUNK else work[u > 0.0], new)
    return found
