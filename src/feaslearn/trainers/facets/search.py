"""The search for the facets that explain exact rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import DECISION_TOL, ROUNDING
from feaslearn.trainers.facets.candidates import (
    Candidate,
    blocked,
    determined,
    heavy,
    is_known,
    look,
    member,
    refuted,
)
from feaslearn.trainers.facets.hyperplanes import EXCESS
from feaslearn.trainers.facets.rows import SPREAD
from feaslearn.trainers.facets.state import State

#: Rows that searches begin with at a time, and in all for rare facets.
TRIES, SEEDS = 8, 60
#: Fruitless tries after which only determined facets are no longer searched for.
FEW_TRIES = 24
#: Share of its rows that may refute a facet, and that of one with much excess.
REFUTED, REFUTED_MUCH, MUCH = 0.05, 0.5, 10
#: Rare hyperplanes that are grown, folds of rows that they must predict, by how many standard
#: errors more of them gain than lose, and the share of the error left that needs no such proof.
GROWN, FOLDS, GAIN, NEARLY_ALL = 40, 20, 2.0, 0.1
#: Folds after which a hyperplane by which more rows lose than gain is given up.
SCREENING = 5


def search(state: State, only_determined: bool = False) -> list[Candidate]:
    """Add the heaviest hyperplanes found from random open rows, until none is found.

    Return the candidates since the last addition.
    """
    fails, cool, vain = 0, np.zeros(state.N), list[Candidate]()
    limit = FEW_TRIES if only_determined else 50 + 4 * state.R
    while state.open.any() and not state.late():
        U = np.flatnonzero(state.open)
        if fails * TRIES >= min(limit, 4 * len(U)):
            break
        p = (np.linalg.norm(state.d[U], axis=1) + ROUNDING) / (1 + cool[U]) ** 2
        seeds = state.random.choice(U, min(TRIES, len(U)), replace=False, p=p / p.sum())
        cool[seeds] += 1
        found = [b for i in seeds if (b := heavy(state, i)) is not None]
        before, last = state.left, (state.a, state.f, state.kind)
        sure = [b for b in found if b.excess >= EXCESS]
        added = 0
        for b in sorted(sure, key=lambda b: (b.excess < MUCH, -b.rank, -b.excess)):
            added += _consider(state, look(state, b.t), only_determined)
        if added and state.left < before:
            prune(state)
            fails, vain, cool[:] = 0, [], 0.0
            continue
        if added:  # rounding alone
            state.set_facets(*last)
        vain += found
        fails += 1
    return vain


def _consider(state: State, b: Candidate, only_determined: bool) -> bool:
    """Add the facet that a candidate stands for, if its rows speak for it."""
    if b.excess < EXCESS or is_known(state, b.t):
        return False
    t = determined(state, b.t)
    if t is not None:
        state.add(*state.split(t), "merged" if state.merged else "determined")
        return True
    if only_determined and state.metric(b.T).eigen(state.Z[b.T])[2] < state.R - 1:
        return False
    v = state.vec(state.d[b.C].mean(axis=0))
    found = [
        (refuted(state, t, T), k, t)
        for k, T in enumerate((b.C, b.T))
        if (t := member(state, T, v)) is not None
    ]
    if not found:
        return False
    share, _, t = min(found, key=lambda each: each[:2])
    if share > (REFUTED_MUCH if b.excess >= MUCH else REFUTED) or is_known(state, t):
        return False
    state.add(*state.split(t), "open")
    return True


def other_sides(state: State) -> bool:
    """Add facets where open rows share the greatest slack of a facet: it is a column too."""
    rows, m = state.rows, state.m
    for j in range(m):
        a, f = state.a[j], state.f[j]
        slack = rows.F @ f - rows.x @ a
        tol = state.facet_tol(a[None], f[None])[:, 0]
        top = (slack > slack.max() - tol) & state.open & ((rows.x - state.y) @ a > tol)
        if top.sum() > 1:
            state.add(-a, slack.max() * rows.one - f, "other")
    return state.m > m


def prune(state: State) -> None:
    """Drop facets without which every cheapest point stays where it is, as far as rows can tell."""
    rows = state.rows
    still = np.maximum(DECISION_TOL, SPREAD * rows.x_error * state.rounded)
    for j in range(state.m - 1, -1, -1):
        slack = np.abs(rows.F @ state.f[j] - state.y @ state.a[j])
        near = np.flatnonzero(slack < 10 * still.max(initial=DECISION_TOL))
        rest = np.delete(np.arange(state.m), j)
        s = state.solve(near, state.a[rest], state.f[rest])
        stays = bool((np.abs(s.decisions - state.y[near]) < still).all())
        if (s.status == OPTIMAL).all() and stays:
            state.keep(rest)


# Facets with no more rows than parameters, which held-out rows must speak for.


def rare(state: State, tried: Sequence[Candidate] = ()) -> None:
    """Add facets that few rows lie on, from candidates or from random open rows."""
    while not state.late() and state.open.sum() >= EXCESS:
        if not tried:
            U = np.flatnonzero(state.open)
            some = state.random.choice(U, min(SEEDS, len(U)), replace=False)
            looked = [heavy(state, i) for i in some if not state.late()]
            tried = [each for each in looked if each is not None]
        found = {h.optimal.tobytes(): h.optimal for h in tried if len(h.optimal) > 1}
        most = sorted(found.values(), key=lambda rows: -len(rows))[:GROWN]
        grown = [_grow(state, rows) for rows in most if not state.late()]
        tried = ()
        for t, T in sorted(grown, key=lambda pair: -len(pair[1])):
            if t is None or len(T) < EXCESS:
                continue
            if _predicts(state, T, state.vec(state.d[T].mean(axis=0))):
                state.add(*state.split(t), "rare")
                break
        else:
            return


def _mean_way(state: State, T: Indices) -> Array:
    """Return the mean direction of the displacements of rows."""
    d = state.d[T]
    size = np.linalg.norm(d, axis=1, keepdims=True).clip(ROUNDING)
    return state.vec((d / size).mean(axis=0))


def _grow(state: State, T: Indices) -> tuple[Array | None, Indices]:
    """Return the member through T and through ever more open rows whose way out it closes."""
    t, tried = member(state, T, _mean_way(state, T)), set(T.tolist())
    while t is None and len(T) > 2:
        T = T[: len(T) * 2 // 3]
        t = member(state, T, _mean_way(state, T))
    while t is not None and len(T) < state.R - 1:
        U = np.flatnonzero(state.open)
        U = U[blocked(state, U, t) & ~np.isin(U, list(tried))]
        slack, depth = state.Z[U] @ t, state.d[U] @ t[: state.nw]
        near = np.flatnonzero((depth > DECISION_TOL) & (slack < 0.5 * depth))
        wrong = state.missing.violations(t[: state.nw], U[near])
        near = near[wrong < 0.1]
        if len(near) == 0:
            break
        k = U[near[(slack[near] / depth[near]).argmin()]]
        tried.add(int(k))
        more = np.append(T, k)
        further = member(state, more, _mean_way(state, more))
        if further is not None:
            t, T = further, more
    return t, T if t is None else look(state, t).optimal


def _predicts(state: State, T: Indices, v: Array) -> bool:
    """Say whether the member through T, found without a fold of rows, predicts that fold better.

    More rows must gain (half of their error) than lose, beyond chance unless hardly any error is
    left, and squared errors must fall by a tenth. Most candidates fail in the first folds already.
    """
    rows, old, new, gains, losses = state.rows, 0.0, 0.0, 0, 0
    fold, weight = state.random.permutation(state.N) % FOLDS, state.rows.scale**2
    for k in range(FOLDS):
        if k == SCREENING and losses > gains:
            return False
        out = np.flatnonzero(fold == k)
        rest = np.setdiff1d(T, out)
        t = member(state, rest, v, without=out) if len(rest) else None
        if t is None:
            continue
        a, f = state.split(t)
        cut = out[state.y[out] @ a > rows.F[out] @ f + DECISION_TOL]
        if len(cut) == 0:
            continue
        s = state.solve_with(t, cut)
        y = np.where((s.status == OPTIMAL)[:, None], s.decisions, state.y[cut])
        before = (state.y[cut] - rows.x[cut]) ** 2 @ weight
        after = (y - rows.x[cut]) ** 2 @ weight
        old, new = old + float(before.sum()), new + float(after.sum())
        gains += int((after < before / 2.0).sum())
        losses += int((after > before + DECISION_TOL * weight.sum()).sum())
    if new < NEARLY_ALL * old:
        return gains > losses
    return new < 0.9 * old and gains - losses > GAIN * np.sqrt(gains + losses)
