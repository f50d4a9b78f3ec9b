"""Facets of exact rows: what is missing, and the heavy hyperplanes that explain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.solvers.small_lp import FacetSolutions
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.trainers.facets.hyperplanes import EXCESS, Metric, Rays, least_norm
from feaslearn.trainers.facets.rows import EXACT, SPREAD, Rows

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
Progress = Callable[[int, int], None]

#: How much a row that would not be optimal counts as far from a hyperplane.
WRONG = 10.0


@dataclass
class Candidate:
    """A hyperplane t with its rows T, those that confirm each other C, and their rank.

    ``optimal`` are the rows of T that a facet t would make optimal.
    """

    t: Array
    T: Indices
    C: Indices
    rank: int
    optimal: Indices

    @property
    def excess(self) -> int:
        return len(self.C) - self.rank

    @property
    def weight(self) -> tuple[int, int, int]:
        """What speaks for it."""
        return min(self.excess, 10), self.rank if self.excess >= EXCESS else 0, len(self.optimal)


class Missing(NamedTuple):
    """How many facets each row misses, a way out (N, nw), a basis of all of them, and duals.

    ``duals`` (D, nw) are rows of G with G a >= 0 iff a is the normal of a facet that makes a row
    optimal, from ``first`` on those of each row in ``single``.
    """

    deficit: Indices
    out: Array
    null: dict[int, Array]
    single: Indices
    duals: Array
    first: Indices

    def of(self, rows: Indices, most: int = 100) -> Array:
        """The duals of some of these rows."""
        chosen = np.flatnonzero(np.isin(self.single, rows))[:most]
        ends = np.append(self.first[1:], len(self.duals))
        parts = [self.duals[self.first[k] : ends[k]] for k in chosen]
        return np.vstack(parts) if parts else self.duals[:0]

    def violations(self, a: Array, N: int) -> Array:
        """By how much each row with one facet missing is not optimal under a facet of normal a."""
        found = np.zeros(N)
        if len(self.single):
            least = np.minimum.reduceat(self.duals @ a, self.first)
            found[self.single] = np.maximum(0.0, -least)
        return found


class Search:
    """State: facets ``a`` (m, n), ``f`` (m, r) with their kinds, and the cheapest points ``y``."""

    tries = 8
    rounds = 12

    def __init__(
        self,
        rows: Rows,
        random: np.random.Generator,
        late: Callable[[], bool] = lambda: False,
        progress: Progress | None = None,
    ) -> None:
        self.rows, self.random, self.late, self.progress = rows, random, late, progress
        self.N, self.n = rows.x.shape
        self.a, self.f = np.zeros((0, self.n)), np.zeros((0, rows.F.shape[1]))
        self.kind: list[str] = []
        self.E = np.vstack([rows.E, rows.K])  # orthonormal: E was found across K
        self.free = ~(rows.at_lo | rows.at_up)
        self.gain_tol = np.maximum(EXACT, SPREAD * np.sqrt(rows.c**2 @ rows.x_error**2)) * 3.0
        self.same = max(1e-5, 10 * float(rows.x_error.max(initial=0.0)))
        self._ways: dict[tuple[bytes, ...], tuple[Array, Array, Array]] = {}
        self.y, self.todo = rows.x.copy(), np.arange(self.N)
        self.on = np.zeros((self.N, 0), bool)
        self.use_coordinates(None)

    @property
    def m(self) -> int:
        return len(self.a)

    # ---- coordinates modulo the equalities
    def use_coordinates(self, M: Array | None) -> None:
        """Facets with normals in the span of M (all if None), modulo the equalities."""
        rows = self.rows
        self.merged = M is not None
        M = np.eye(self.n) if M is None else M
        U, s, _ = np.linalg.svd(M - self.E.T @ (self.E @ M), full_matrices=False)
        self.W = U[:, s > 1e-9 * s[0]] if len(s) else U
        self.nw = self.W.shape[1]
        self.Z = np.ascontiguousarray(np.c_[-rows.x @ self.W, rows.F])
        self.R = self.Z.shape[1]
        C = np.zeros((self.R, self.R))
        C[: self.nw, : self.nw] = (self.W * rows.x_error[:, None] ** 2).T @ self.W
        C[self.nw :, self.nw :] = rows.F_cov
        self.C = C + EXACT**2 * np.eye(self.R)
        self.metric = Metric(self.C, 2.0 if rows.x_error.any() else 1.0)
        self.c = rows.c @ self.W
        self.ray = Rays(self.Z, np.append(np.zeros(self.nw), rows.one))
        self.refresh()

    def tol(self, t: Array) -> float:
        """By how much rows on t may miss it."""
        rounding = max(float(t @ self.C @ t) - EXACT**2 * float(t @ t), 0.0)
        return max(EXACT, SPREAD * float(np.sqrt(rounding)))

    def facet_tol(self, a: Array, f: Array) -> Array:
        rows = self.rows
        var = a**2 @ rows.x_error**2 + np.einsum("mr,rs,ms->m", f, rows.F_cov, f)
        return np.asarray(np.maximum(EXACT, SPREAD * np.sqrt(var)))

    def split(self, t: Array) -> tuple[Array, Array]:
        size = np.linalg.norm(t[: self.nw])
        return self.W @ t[: self.nw] / size, t[self.nw :] / size

    def vec(self, d: Array) -> Array:
        return np.asarray(np.append(d, np.zeros(self.R - self.nw)))

    # ---- the region so far
    def region(self, a: Array | None = None, f: Array | None = None) -> FacetRows:
        rows = self.rows
        a, f = (self.a if a is None else a), (self.f if f is None else f)
        parts = (rows.E, rows.e, rows.lower, rows.upper, a, f)
        return FacetRows(*map(np.ascontiguousarray, parts))

    def solve(
        self, which: Indices, a: Array | None = None, f: Array | None = None
    ) -> FacetSolutions:
        known = None if self.rows.known is None else self.rows.known.rows(which)
        return self.region(a, f).solve(self.rows.F[which], self.rows.c[which], known)

    def refresh(self) -> None:
        """Cheapest points, rows that could be cheaper, how many facets they miss."""
        rows, todo = self.rows, self.todo
        if len(todo):
            found = self.solve(todo)
            right = (found.status == OPTIMAL)[:, None]
            self.y[todo] = np.where(right, found.decisions, rows.x[todo])
            self.todo = np.zeros(0, int)
            if rows.x_error.any():
                self.gain_tol[todo] = self._written_gain(found, todo)
        self.d = (self.y - rows.x) @ self.W
        self.gain = ((rows.x - self.y) * rows.c).sum(axis=1)
        self.hindered = self.gain > self.gain_tol
        self.__dict__.pop("missing", None)

    @property
    def left(self) -> tuple[int, float]:
        """What is left to explain: rows, then savings of cheaper points beyond errors."""
        beyond = float((self.gain - self.gain_tol)[self.hindered].sum())
        return int(self.hindered.sum()), round(beyond, 9)

    def _written_gain(self, found: FacetSolutions, which: Indices) -> Array:
        """What errors of rounding can make of a saving: those of active rows, times their duals."""
        rows = self.rows
        normals = np.vstack([rows.E, self.a])
        tol = self.facet_tol(normals, np.vstack([rows.e, self.f]))
        duals = np.abs(found.prices)
        reduced = np.abs(rows.c[which] + found.prices @ normals)
        limit = duals @ tol + SPREAD * reduced @ rows.x_error
        limit += SPREAD * np.sqrt(rows.c[which] ** 2 @ rows.x_error**2)
        return np.asarray(np.maximum(3.0 * EXACT, limit))

    @cached_property
    def missing(self) -> Missing:
        """How many facets each hindered row misses, and the ways out that this leaves it."""
        rows = self.rows
        deficit, ways, null = np.zeros(self.N, int), np.zeros((self.N, self.nw)), {}
        single: list[int] = []
        duals: list[Array] = []
        hindered = np.flatnonzero(self.hindered)
        pattern = np.c_[self.free, self.on, rows.at_lo, rows.on_G][hindered]
        _, first, group = np.unique(pattern, axis=0, return_index=True, return_inverse=True)
        for g, k in enumerate(first):
            members, i = hindered[group == g], int(hindered[k])
            B, G, H = self._ways_out(i)
            deficit[members] = B.shape[1]
            if not B.shape[1]:
                continue
            cost = rows.c[members] @ B
            pick = self.random.standard_normal(cost.shape) if B.shape[1] > 1 else np.ones((1, 1))
            pick = -np.sign((cost * pick).sum(axis=1, keepdims=True)) * pick
            out = pick @ (B.T @ self.W)
            size = np.linalg.norm(out, axis=1, keepdims=True)
            ways[members] = out / np.maximum(size, 1e-12)
            null.update(dict.fromkeys(members.tolist(), B))
            if B.shape[1] == 1:
                for j, b, way in zip(members, cost[:, 0], ways[members], strict=True):
                    if abs(b) > EXACT:
                        # mu = -c'b / a'b; what multipliers are per unit of mu is linear in a.
                        single.append(int(j))
                        rate = np.outer(H @ rows.c[j], B[:, 0] @ self.W) / -b
                        duals.append(np.vstack([way, G @ self.W + rate]))
        table = np.vstack(duals) if duals else np.zeros((0, self.nw))
        table /= np.linalg.norm(table, axis=1, keepdims=True).clip(1e-12)
        starts = np.cumsum([0, *map(len, duals[:-1])]) if duals else np.zeros(0, int)
        return Missing(deficit, ways, null, np.array(single, int), table, starts)

    def _ways_out(self, i: int) -> tuple[Array, Array, Array]:
        """Directions that nothing known at x_i forbids, and multipliers as maps of costs.

        With a facet of normal a and multiplier mu, those of known facets and of bounds are
        ``H c + mu G a`` in the sign that they must have.
        """
        rows = self.rows
        a = np.vstack([self.a[self.on[i]], rows.G[rows.on_G[i]]])
        key = (self.free[i].tobytes(), rows.at_lo[i].tobytes(), a.tobytes())
        if key not in self._ways:
            F, fixed = np.flatnonzero(self.free[i]), np.flatnonzero(~self.free[i])
            A = np.vstack([self.E, a])
            U, s, V = np.linalg.svd(A[:, F], full_matrices=True)
            rank = int((s > self.same * max(s[0] if len(s) else 0.0, 1e-12)).sum())
            B = np.zeros((self.n, len(F) - rank))
            B[F] = V[rank:].T
            M = np.zeros((0, self.n))
            if B.shape[1] == 1 and rank == len(A):
                # c_F + A_F' y + mu a_F = 0 gives the multipliers y of known rows.
                inverse = (U / s) @ V[:rank] if rank else np.zeros((0, len(F)))
                q = len(self.E)
                y = np.zeros((len(A), self.n))
                y[:, F] = -inverse
                side = A[:, fixed].T @ y
                side[np.arange(len(fixed)), fixed] += 1.0
                side *= np.where(rows.at_lo[i, fixed], 1.0, -1.0)[:, None]
                M = np.vstack([y[q:], side])
            self._ways[key] = B, M, M
        return self._ways[key]

    @property
    def deficit(self) -> Indices:
        return self.missing.deficit

    @property
    def open(self) -> Mask:
        return np.asarray(self.missing.deficit > 0)

    def way_out(self, i: int) -> Array:
        """A direction in which row i would be cheaper and that nothing known forbids."""
        B = self.missing.null[int(i)]
        b = B @ self.random.standard_normal(B.shape[1]) if B.shape[1] > 1 else B[:, 0]
        b = (b * -np.sign(self.rows.c[i] @ b)) @ self.W
        return np.asarray(b / max(float(np.linalg.norm(b)), 1e-12))

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
        moved = (np.abs(slack[:, gone]) < 10 * EXACT).any(axis=1)
        moved |= (rows.F @ f.T - self.y @ a.T < -EXACT).any(axis=1)
        self.a, self.f, self.kind = a, f, list(kind)
        self.on = np.abs(rows.F @ f.T - rows.x @ a.T) < tol
        self.todo = np.union1d(self.todo, np.flatnonzero(moved)).astype(int)
        self.refresh()

    def keep(self, which: Indices) -> None:
        """Keep some of the facets."""
        self.set_facets(self.a[which], self.f[which], [self.kind[j] for j in which])

    def add(self, t: Array, kind: str) -> None:
        a, f = self.split(t)
        self.set_facets(np.vstack([self.a, a]), np.vstack([self.f, f]), [*self.kind, kind])

    # ---- heavy supporting hyperplanes
    def blocked(self, which: Indices, t: Array) -> Mask:
        """Rows that may need t: it closes their way out (any, if several facets are missing)."""
        closed = self.missing.out[which] @ t[: self.nw]
        return np.where(self.deficit[which] > 1, np.abs(closed), closed) > 1e-6

    def look(self, t: Array) -> Candidate:
        """Open rows on t that may need it, those that confirm each other, and their rank."""
        tol = self.tol(t)
        T = np.flatnonzero((np.abs(self.Z @ t) < tol) & self.open)
        T = T[self.blocked(T, t)]
        keep, rank = self.metric.confirmed(self.Z[T], min(max(1e-6, 20 * (tol - EXACT)), 0.5))
        wrong = self.missing.violations(t[: self.nw], self.N)[T]
        return Candidate(t, T, T[keep], rank, T[wrong < self.same])

    def known(self, t: Array) -> bool:
        """Whether there is a facet on the same rows; on most of them where numbers are rounded."""
        on = (np.abs(self.Z @ t) < self.tol(t))[:, None]
        if not self.rows.x_error.any():
            return bool((self.on == on).all(axis=0).any())
        return bool(((self.on & on).sum(axis=0) > 0.5 * (self.on | on).sum(axis=0)).any())

    def heavy(self, i: int) -> Candidate | None:
        """A supporting hyperplane that closes the way out of row i, tight in many open rows.

        Begun with rows like row i, then reweighted l1: a row counts the more the nearer it is and
        the less its optimality speaks against the hyperplane, and by chance.
        """
        U, like = np.flatnonzero(self.open), self.likeness(i)
        count = int(np.exp(self.random.uniform(np.log(5.0), np.log(3.0 * self.R + 5.0))))
        w = np.full(len(U), 1e-6)
        w[np.argsort(-like[U])[:count]] = 1.0
        through = self.Z[i] * (1e3 if self.random.random() < 0.5 else 0.0)
        # A facet parallel to the cost of row i makes it optimal.
        if not self.ray.start(self.vec(self.missing.out[i]), self.vec(-self.c[i])):
            return None
        best, eps = None, 1.0
        for _ in range(self.rounds):
            t = self.ray(w @ self.Z[U] / w.sum() + through)
            if t is None or np.linalg.norm(t[: self.nw]) < 1e-12:
                break
            t = t / np.linalg.norm(t[: self.nw])
            now = self.look(t)
            if best is None or now.weight > best.weight:
                best = now
            if best.excess >= EXCESS and (best.rank == self.R - 1 or now.excess < best.excess):
                break
            blocked = self.blocked(U, t)
            if blocked.any():
                slack = np.abs(self.Z[U] @ t)
                slack /= max(float(np.median(slack[blocked])), 1e-9)
                wrong = self.missing.violations(t[: self.nw], self.N)[U]
                w = np.where(blocked, 1.0 / (slack + WRONG * wrong + eps), 1e-6)
            w = w * self.random.exponential(size=len(U))
            eps = max(eps / 2.0, 0.02)
        return best

    def likeness(self, i: int) -> Array:
        """How much each row is like row i, by cost, displacement, way out and place at random."""
        parts = (self.c, self.d, self.missing.out, self.Z)
        share = self.random.dirichlet(np.full(len(parts), 0.5))
        found = np.zeros(self.N)
        for part, weight in zip(parts, share, strict=True):
            size = np.linalg.norm(part, axis=1)
            found += weight * (part @ part[i]) / np.maximum(size * size[i], 1e-12)
        return found

    # ---- the member of a family
    def member(
        self,
        T: Indices,
        v: Array,
        without: Indices | None = None,
        optimal: bool = True,
    ) -> Array | None:
        """Facet through the rows T, no row beyond, rows of T optimal (softly), of least norm."""
        Q = self.metric.null(self.Z[T])
        if Q.shape[1] == 0:
            return None
        size = np.r_[np.ones(self.nw), np.full(self.R - self.nw, 0.3)]
        H = np.asarray(np.linalg.qr(size[:, None] * Q, mode="r"))
        beyond = self.Z @ Q
        beyond[T] = 0.0
        if without is not None:
            beyond[without] = 0.0
        beyond[np.abs(beyond).max(axis=1) < EXACT] = 0.0
        D = self.missing.of(T if optimal else T[:0]) @ Q[: self.nw]
        G = np.linalg.solve(H.T, np.vstack([Q.T @ v, beyond, D]).T).T
        first = np.linalg.norm(G[0])
        if first < 1e-12:
            return None
        G[0] /= first
        h, soft = np.zeros(len(G)), np.arange(len(G)) > len(beyond)
        h[0] = 1.0
        s = least_norm(G, h, soft)
        if s is None:
            return None
        t = Q @ np.linalg.solve(H, s)
        if not np.isfinite(t).all() or np.linalg.norm(t[: self.nw]) < 1e-12:
            return None
        t /= np.linalg.norm(t[: self.nw])
        slack = self.Z @ t
        if without is not None:
            slack[without] = 0.0
        return t if slack.min() > -10 * self.tol(t) else None

    def refuted(self, t: Array, T: Indices) -> float:
        """Share of the rows of T with nothing else missing that are still not optimal with t."""
        one = T[self.deficit[T] == 1]
        if len(one) == 0:
            return 0.0
        a, f = self.split(t)
        s = self.solve(one, np.vstack([self.a, a]), np.vstack([self.f, f]))
        gain = ((self.rows.x[one] - s.decisions) * self.rows.c[one]).sum(axis=1)
        return float(((s.status != OPTIMAL) | (gain > self.gain_tol[one])).mean())

    # ---- stages
    def search(self, only_determined: bool = False) -> None:
        """Add the heaviest hyperplanes found from random open rows, until none is found."""
        fails, cool = 0, np.zeros(self.N)
        limit = 24 if only_determined else 50 + 4 * self.R
        while self.open.any() and not self.late():
            if self.progress is not None:
                self.progress(int((~self.hindered).sum()), self.m)
            U = np.flatnonzero(self.open)
            if fails * self.tries >= min(limit, 4 * len(U)):
                break
            p = (np.linalg.norm(self.d[U], axis=1) + 1e-12) / (1 + cool[U]) ** 2
            seeds = self.random.choice(U, min(self.tries, len(U)), replace=False, p=p / p.sum())
            cool[seeds] += 1
            found = [b for b in map(self.heavy, seeds) if b is not None and b.excess >= EXCESS]
            added, before, state = 0, self.left, (self.a, self.f, self.kind)
            for b in sorted(found, key=lambda b: (b.excess < 10, -b.rank, -b.excess)):
                added += self.consider(self.look(b.t), only_determined)
            if added and self.left < before:
                self.prune()
                self.other_sides()
                self.refit()
                fails = 0
                cool[:] = 0
                continue
            if added:  # rounding alone
                self.set_facets(*state)
            fails += 1

    def consider(self, b: Candidate, only_determined: bool) -> bool:
        """Add the facet that a candidate stands for, if its rows speak for it."""
        if b.excess < EXCESS or self.known(b.t):
            return False
        t = self.determined(b.t)
        if t is not None:
            self.add(t, "merged" if self.merged else "determined")
            return True
        if only_determined and self.metric.eigen(self.Z[b.T])[2] < self.R - 1:
            return False
        v = self.vec(self.d[b.C].mean(axis=0))
        found = [
            (self.refuted(t, T), k, t)
            for k, T in enumerate((b.C, b.T))
            if (t := self.member(T, v)) is not None
        ]
        if not found or min(found, key=lambda e: e[:2])[0] > (0.5 if b.excess >= 10 else 0.05):
            return False
        t = min(found, key=lambda e: e[:2])[2]
        if self.known(t):
            return False
        self.add(t, "open")
        return True

    def determined(self, t: Array) -> Array | None:
        """The one hyperplane through the rows on t that confirm each other, if there is one."""
        C, rank = self.carried(t)
        if rank != self.R - 1 or len(C) - rank < EXCESS:
            return None
        found = self.metric.null(self.Z[C])[:, 0]
        found *= np.sign(found @ t) / np.linalg.norm(found[: self.nw])
        return found if (self.Z @ found).min() > -2 * self.tol(found) else None

    def carried(self, t: Array) -> tuple[Indices, int]:
        """All rows on t that confirm each other, and their rank."""
        on = np.flatnonzero(np.abs(self.Z @ t) < self.tol(t))
        keep, rank = self.metric.confirmed(self.Z[on], 1e-6)
        return on[keep], rank

    def climb(self, t: Array) -> Array:
        """Turn t around the rows it carries to where it carries more than its rank explains."""
        C, rank = self.carried(t)
        while rank < self.R - 1 and len(C) > rank:
            slack = self.Z @ t
            away = np.setdiff1d(np.arange(len(slack)), C)
            best = None
            v = self.vec(t[: self.nw])
            size = np.abs(slack[away]).clip(1e-9)
            goals = [self.Z[away].T @ (1.0 / size), -self.Z[away].T @ (1.0 / size)]
            near = away[np.argsort(size)[: 4 * self.R]]
            goals += [self.Z[k] for k in self.random.choice(near, min(8, len(near)), replace=False)]
            for goal in goals:
                on_all = 1e3 * self.Z[C].sum(axis=0)
                t2 = None
                if self.ray.start(v, v):
                    t2 = self.ray(goal / max(float(np.linalg.norm(goal)), 1e-300) + on_all)
                if t2 is None or np.linalg.norm(t2[: self.nw]) < 1e-12:
                    continue
                t2 = t2 / np.linalg.norm(t2[: self.nw])
                C2, rank2 = self.carried(t2)
                if best is None or len(C2) - rank2 > best[0]:
                    best = (len(C2) - rank2, t2, C2, rank2)
            if best is None or best[0] < len(C) - rank + EXCESS:
                break
            _, t, C, rank = best
        return t

    def upgrade(self) -> None:
        """Open facets turned to where more rows lie on them, if no row objects."""
        for j in range(self.m):
            if self.kind[j] == "determined" or self.late():
                continue
            a, f, kind, before = (
                self.a.copy(),
                self.f.copy(),
                list(self.kind),
                int(self.hindered.sum()),
            )
            t = np.r_[self.W.T @ a[j], f[j]]
            better = self.climb(t)
            if better is t:
                continue
            exact = self.determined(better)
            better = better if exact is None else exact
            a2, f2, kind2 = a.copy(), f.copy(), list(kind)
            a2[j], f2[j] = self.split(better)
            kind2[j] = "open" if exact is None else "determined"
            self.set_facets(a2, f2, kind2)
            if self.hindered.sum() > before:
                self.set_facets(a, f, kind)

    def unite(self) -> None:
        """Two facets whose rows lie on one supporting hyperplane are one."""
        j = 0
        while j < self.m and not self.late():
            share = (self.on & self.on[:, j : j + 1]).sum(axis=0)
            for k in np.argsort(-share):
                if k == j or share[k] < 2 or {self.kind[j], self.kind[k]} == {"determined"}:
                    continue
                T = np.flatnonzero(self.on[:, j] | self.on[:, k])
                if self.metric.eigen(self.Z[T])[2] >= self.R:
                    continue
                t = self.member(T, self.vec(self.W.T @ (self.a[j] + self.a[k])))
                if t is None:
                    continue
                a, f, kind, before = self.a, self.f, list(self.kind), int(self.hindered.sum())
                rest = np.setdiff1d(np.arange(self.m), [j, k])
                exact = self.determined(t)
                more = self.split(t if exact is None else exact)
                word = "open" if exact is None else "determined"
                self.set_facets(
                    np.vstack([a[rest], more[0]]),
                    np.vstack([f[rest], more[1]]),
                    [kind[i] for i in rest] + [word],
                )
                if self.hindered.sum() <= before:
                    j = -1
                    break
                self.set_facets(a, f, kind)
            j += 1

    def turn(self) -> None:
        """Open facets that a chance row pinned: look again from their rows, without them."""
        for j in range(self.m - 1, -1, -1):
            if self.kind[j] == "determined" or self.late():
                continue
            a, f, kind, before = self.a, self.f, self.kind, int(self.hindered.sum())
            rest = np.delete(np.arange(self.m), j)
            rows = np.flatnonzero(self.on[:, j])
            self.keep(rest)
            seeds = rows[self.open[rows]]
            found = None
            for i in self.random.permutation(seeds)[: self.tries]:
                b = self.heavy(i)
                if (
                    b is not None
                    and b.excess >= EXCESS
                    and (found := self.determined(b.t)) is not None
                ):
                    break
            if found is not None and not self.known(found):
                self.add(found, "determined")
            if found is None or self.hindered.sum() > before:
                self.set_facets(a, f, kind)

    def other_sides(self) -> None:
        """The slack of a facet is a column too: where open rows share its greatest value."""
        rows = self.rows
        for j in range(self.m):
            if self.kind[j] == "rare":
                continue
            slack = rows.F @ self.f[j] - rows.x @ self.a[j]
            tol = self.facet_tol(self.a[j : j + 1], self.f[j : j + 1])[0]
            top = (slack > slack.max() - tol) & self.open & ((self.y - rows.x) @ -self.a[j] > tol)
            if top.sum() > 1:
                f = slack.max() * rows.one - self.f[j]
                self.set_facets(
                    np.vstack([self.a, -self.a[j]]), np.vstack([self.f, f]), [*self.kind, "other"]
                )

    def refit(self) -> None:
        """Vertices that are not optimal refute the member of a facet they lie on: choose again."""
        for j in range(self.m):
            on = np.flatnonzero(self.on[:, j])
            if self.kind[j] == "determined" or not (self.hindered & ~self.open)[on].any():
                continue
            a, f, kind, before = self.a, self.f, self.kind, int(self.hindered.sum())
            rest = np.delete(np.arange(self.m), j)
            self.keep(rest)
            t = self.member(on, self.vec(self.W.T @ a[j]))
            if t is not None:
                a2, f2 = a.copy(), f.copy()
                a2[j], f2[j] = self.split(t)
                self.set_facets(a2, f2, kind)
            if t is None or self.hindered.sum() >= before:
                self.set_facets(a, f, kind)

    def prune(self) -> None:
        """Drop facets without which every cheapest point stays where it is."""
        rows, j = self.rows, self.m - 1
        while j >= 0:
            near = np.flatnonzero(np.abs(rows.F @ self.f[j] - self.y @ self.a[j]) < 10 * EXACT)
            rest = np.delete(np.arange(self.m), j)
            s = self.solve(near, self.a[rest], self.f[rest])
            still = np.abs(s.decisions - self.y[near]).max(initial=0.0) < EXACT
            if (s.status == OPTIMAL).all() and still:
                self.keep(rest)
            j -= 1

    def rare(self, seeds: int = 60) -> None:
        """Facets with no more rows than parameters, which held-out rows must speak for."""
        while not self.late() and self.open.sum() >= EXCESS:
            U = np.flatnonzero(self.open)
            some = self.random.choice(U, min(seeds, len(U)), replace=False)
            tried = [self.heavy(i) for i in some if not self.late()]
            found = [h for h in tried if h is not None and len(h.optimal) > 1]
            found = list({h.optimal.tobytes(): h for h in found}.values())
            found = sorted(found, key=lambda h: -len(h.optimal))[:40]
            grown = [self.grow(h.optimal) for h in found if not self.late()]
            for t, T in sorted(grown, key=lambda g: -len(g[1])):
                if t is None or len(T) < EXCESS:
                    continue
                if self.predicts(T, self.vec(self.d[T].mean(axis=0))):
                    self.add(t, "rare")
                    self.refit()
                    break
            else:
                return

    def unit(self, T: Indices) -> Array:
        d = self.d[T]
        return self.vec((d / np.linalg.norm(d, axis=1, keepdims=True).clip(1e-12)).mean(axis=0))

    def grow(self, T: Indices) -> tuple[Array | None, Indices]:
        """The member through T, and through ever more open rows whose way out it closes."""
        t, tried = self.member(T, self.unit(T), optimal=False), set(T.tolist())
        while t is None and len(T) > 2:
            T = T[: len(T) * 2 // 3]
            t = self.member(T, self.unit(T), optimal=False)
        while t is not None and len(T) < self.R - 1:
            U = np.flatnonzero(self.open)
            U = U[self.blocked(U, t) & ~np.isin(U, list(tried))]
            slack, depth = self.Z[U] @ t, self.d[U] @ t[: self.nw]
            wrong = self.missing.violations(t[: self.nw], self.N)[U]
            near = np.flatnonzero((depth > EXACT) & (slack < 0.5 * depth) & (wrong < 0.1))
            if len(near) == 0:
                break
            k = U[near[(slack[near] / depth[near]).argmin()]]
            tried.add(int(k))
            more = np.append(T, k)
            t2 = self.member(more, self.unit(more), optimal=False)
            if t2 is not None:
                t, T = t2, more
        t = None if t is None else self.member(T, self.unit(T))
        return t, T if t is None else self.look(t).optimal

    def predicts(self, T: Indices, v: Array, folds: int = 20) -> bool:
        """Does the member through T, found without a fold of rows, predict that fold better?

        Squared errors must fall by a tenth, and more rows gain (half of their error) than lose.
        """
        rows, old, new, gains, losses = self.rows, 0.0, 0.0, 0, 0
        fold, weight = self.random.permutation(self.N) % folds, rows.scale**2
        for k in range(folds):
            out = np.flatnonzero(fold == k)
            rest = np.setdiff1d(T, out)
            t = self.member(rest, v, without=out) if len(rest) else None
            if t is None:
                continue
            a, f = self.split(t)
            cut = out[self.y[out] @ a > rows.F[out] @ f + EXACT]
            if len(cut) == 0:
                continue
            s = self.solve(cut, np.vstack([self.a, a]), np.vstack([self.f, f]))
            y = np.where((s.status == OPTIMAL)[:, None], s.decisions, self.y[cut])
            before = (self.y[cut] - rows.x[cut]) ** 2 @ weight
            after = (y - rows.x[cut]) ** 2 @ weight
            old, new = old + float(before.sum()), new + float(after.sum())
            gains += int((after < before / 2.0).sum())
            losses += int((after > before + EXACT * weight.sum()).sum())
        return new < 0.9 * old and gains > losses
