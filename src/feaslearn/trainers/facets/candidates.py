"""Heavy hyperplanes that open rows may need, and the facets that they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import DECISION_TOL, ROUNDING, SOLVED_DEPENDENT_TOL
from feaslearn.trainers.facets.hyperplanes import EXCESS, least_norm
from feaslearn.trainers.facets.ray_kernels import heaviest_ray
from feaslearn.trainers.facets.rows import SPREAD, UNEQUAL
from feaslearn.trainers.facets.state import GAIN, State

#: How much a row that would not be optimal counts as far from a hyperplane.
WRONG = 10.0
#: Rounds of reweighting.
ROUNDS = 12
#: Weight of a row that does not count, and of one that must be met.
NO_WEIGHT, ALL_WEIGHT = DECISION_TOL, 1e3
#: Rows that miss a facet by so many times their rounding are not on it.
CLEARLY = 3.0
#: Rows that turn a hyperplane, by how much they miss it in turn, in units of rounding.
REFINING = (8.0, 4.0, 2.0, 1.0, 1.0)
#: Weight of right-hand sides in the norm of a facet.
RIGHT_SIDE = 0.3


@dataclass
class Candidate:
    """A hyperplane t with its rows T, those that confirm each other C, and their rank.

    ``optimal`` are the rows of T that a facet t would make optimal; so many as ``chance`` lie
    within the rounding of any hyperplane.
    """

    t: Array
    T: Indices
    C: Indices
    rank: int
    optimal: Indices
    chance: int = 0

    @property
    def excess(self) -> int:
        """Rows beyond their rank and beyond chance."""
        return len(self.C) - self.rank - self.chance


def blocked(state: State, which: Indices, t: Array) -> Mask:
    """Return rows that may need t: it closes their way out (any, if several facets are missing)."""
    closed = state.missing.out[which] @ t[: state.nw]
    return np.where(state.missing.deficit[which] > 1, np.abs(closed), closed) > DECISION_TOL


def by_chance(state: State, slack: Array, tol: Array) -> int:
    """Return how many rows lie within the rounding of a hyperplane because many are near it."""
    if not state.rounded:
        return 0
    near = float(((slack >= tol) & (slack < 11.0 * tol)).sum()) / 10.0
    return int(near + 3.0 * np.sqrt(near))


def look(state: State, t: Array) -> Candidate:
    """Return the open rows on t that may need it, those that confirm each other, and their rank."""
    tol = state.tol(t)
    U = np.flatnonzero(state.open)
    U = U[blocked(state, U, t)]
    slack = np.abs(state.Z[U] @ t)
    T = U[slack < tol[U]]
    near = float(np.median(tol))
    keep, rank = state.metric(T).confirmed(
        state.Z[T], min(max(DECISION_TOL, 20 * (near - DECISION_TOL)), 0.5)
    )
    wrong = state.missing.violations(t[: state.nw], T)
    chance = by_chance(state, slack, tol[U])
    return Candidate(t, T, T[keep], rank, T[wrong < state.same(near)], chance)


def is_known(state: State, t: Array) -> bool:
    """Say whether a facet or bound has the same rows: none is on one and clearly off the other."""
    rows, tol = state.rows, state.tol(t)
    slack = np.abs(state.Z @ t)
    clearly = CLEARLY if state.rounded else 1.0
    others = np.abs(rows.F @ state.f.T - rows.x @ state.a.T)
    off = others >= clearly * state.facet_tol(state.a, state.f)
    on = np.hstack([state.on, rows.at_lo, rows.at_up])
    off = np.hstack([off, ~rows.at_lo, ~rows.at_up])
    differ = (slack < tol)[:, None] & off | on & (slack >= clearly * tol)[:, None]
    return bool((~differ.any(axis=0)).any())


def heavy(state: State, i: int) -> Candidate | None:
    """Return a supporting hyperplane that closes the way out of row i, tight in many open rows.

    Begun with rows like row i, then reweighted l1: a row counts the more the nearer it is and
    the less its optimality speaks against the hyperplane, and by chance.
    """
    random, missing, rows = state.random, state.missing, state.rows
    U, like = np.flatnonzero(state.open), likeness(state, i)
    count = int(np.exp(random.uniform(np.log(5.0), np.log(3.0 * state.R + 5.0))))
    w = np.full(len(U), NO_WEIGHT)
    w[np.argsort(-like[U])[:count]] = 1.0
    through = state.Z[i] * (ALL_WEIGHT if random.random() < 0.5 else 0.0)
    noise = random.exponential(size=(ROUNDS, len(U)))
    t, excess = heaviest_ray(
        state.Z,
        state.vec(missing.out[i]),
        state.vec(-state.c[i]),  # a facet parallel to the cost of row i makes it optimal
        np.append(np.zeros(state.nw), rows.one),
        U,
        missing.out[U],
        missing.deficit[U] > 1,
        missing.duals,
        missing.spans[U],
        through,
        w,
        noise,
        state.errors[U],
        state.W,
        state.covariance(U),
        np.array([DECISION_TOL, SPREAD, EXCESS, SOLVED_DEPENDENT_TOL, WRONG]),
    )
    if not t.any():
        return None
    if excess > 0 or state.rounded:
        return look(state, refined(state, t))
    T = U[(np.abs(state.Z[U] @ t) < DECISION_TOL) & blocked(state, U, t)]
    wrong = missing.violations(t[: state.nw], T)
    return Candidate(t, T, T[:0], 0, T[wrong < state.same(DECISION_TOL)])


def refined(state: State, t: Array) -> Array:
    """Turn t to where all rows that it misses by little more than rounding agree on it.

    A hyperplane through few rounded rows is as wrong far from them as it is steep there.
    """
    if not state.rounded:
        return t
    for reach in REFINING:
        T = np.flatnonzero(np.abs(state.Z @ t) < reach * state.tol(t))
        if len(T) < 2:
            return t
        Q = state.metric(T).null(state.Z[T])
        turned = Q @ (Q.T @ t)
        size = np.linalg.norm(turned[: state.nw])
        if size < 0.5:
            return t
        t = turned / size
    return t


def likeness(state: State, i: int) -> Array:
    """Return how much each row is like row i, by cost, displacement, way out and place."""
    parts = (state.c, state.d, state.missing.out, state.Z)
    share = state.random.dirichlet(np.full(len(parts), 0.5))
    found = np.zeros(state.N)
    for part, weight in zip(parts, share, strict=True):
        size = np.linalg.norm(part, axis=1)
        found += weight * (part @ part[i]) / np.maximum(size * size[i], ROUNDING)
    return found


def evened(state: State, t: Array) -> Array:
    """Give columns equal coefficients where rounding alone tells them apart.

    Prices of columns that act alike may nearly tie: the least difference of coefficients would then
    choose among them. Only columns that the equalities do not tell apart are asked.
    """
    if not state.rounded:
        return t
    T = np.flatnonzero(np.abs(state.Z @ t) < state.tol(t))
    raw = (state.W @ t[: state.nw]) / state.rows.scale
    size = float(np.abs(raw).max())
    clusters = [[j] for j in range(state.n)]
    least, kept = np.inf, 0
    for g, h in _alike_first(state.alike, raw):
        one, other = (next(c for c in clusters if j in c) for j in (g, h))
        if one is other:
            continue
        trial = raw.copy()
        both = one + other
        trial[both] = raw[both].mean()
        new = np.append(state.W.T @ (trial * state.rows.scale), t[state.nw :])
        new /= max(float(np.linalg.norm(new[: state.nw])), ROUNDING)
        left = float(((state.Z[T] @ new / state.tol(new)[T]) ** 2).sum()) * SPREAD**2
        least = min(least, float(((state.Z[T] @ t / state.tol(t)[T]) ** 2).sum()) * SPREAD**2)
        free = kept + 1
        if left > least + free + UNEQUAL * np.sqrt(2.0 * free) or abs(raw[g] - raw[h]) > 0.1 * size:
            break
        clusters = [c for c in clusters if c is not one and c is not other] + [both]
        raw, t, kept = trial, new, free
    return t


def _alike_first(alike: Mask, raw: Array) -> list[tuple[int, int]]:
    """Return pairs of columns that may have equal coefficients, the closest first."""
    g, h = np.nonzero(np.tril(alike, -1))
    order = np.argsort(np.abs(raw[g] - raw[h]), kind="stable")
    return [(int(g[k]), int(h[k])) for k in order]


def member(state: State, T: Indices, v: Array, without: Indices | None = None) -> Array | None:
    """Return the facet through the rows T of least norm with v't > 0 and no row beyond.

    Rows ``without`` are not asked.
    """
    nw, Z = state.nw, state.Z
    Q = state.metric(T).null(Z[T])
    if Q.shape[1] == 0:
        return None
    size = np.r_[np.ones(nw), np.full(state.R - nw, RIGHT_SIDE)]
    H = np.asarray(np.linalg.qr(size[:, None] * Q, mode="r"))
    beyond = Z @ Q
    beyond[T] = 0.0
    if without is not None:
        beyond[without] = 0.0
    if state.rounded:
        near = np.column_stack([2.0 * state.tol(q) for q in Q.T])
        beyond[(np.abs(beyond) < near).all(axis=1)] = 0.0
    beyond[np.abs(beyond).max(axis=1) < DECISION_TOL] = 0.0
    G = np.linalg.solve(H.T, np.vstack([Q.T @ v, beyond]).T).T
    first = np.linalg.norm(G[0])
    if first < ROUNDING:
        return None
    G[0] /= first
    s = least_norm(G)
    if s is None:
        return None
    t = Q @ np.linalg.solve(H, s)
    if not np.isfinite(t).all() or np.linalg.norm(t[:nw]) < ROUNDING:
        return None
    t /= np.linalg.norm(t[:nw])
    slack = Z @ t
    if without is not None:
        slack[without] = 0.0
    return evened(state, t) if (slack + 10 * state.tol(t)).min() > 0.0 else None


def refuted(state: State, t: Array, T: Indices) -> float:
    """Return the share of the rows of T with nothing else missing that t does not make optimal."""
    one = T[state.missing.deficit[T] == 1]
    if len(one) == 0:
        return 0.0
    s = state.solve_with(t, one)
    a, f = state.split(t)
    gain = state.savings(s, one, np.vstack([state.a, a]), np.vstack([state.f, f]))
    return float(((s.status != OPTIMAL) | (gain > GAIN)).mean())


def determined(state: State, t: Array) -> Array | None:
    """Return the one hyperplane through the rows on t, if enough of them confirm each other."""
    slack, tol = np.abs(state.Z @ t), state.tol(t)
    on = np.flatnonzero(slack < tol)
    keep, rank = state.metric(on).confirmed(state.Z[on], DECISION_TOL)
    C = on[keep]
    if rank != state.R - 1 or len(C) - rank - by_chance(state, slack, tol) < EXCESS:
        return None
    found = state.metric(C).null(state.Z[C])[:, 0]
    found *= np.sign(found @ t) / np.linalg.norm(found[: state.nw])
    return evened(state, found) if (state.Z @ found + 2 * state.tol(found)).min() > 0.0 else None
