"""Rows that follow other rules: those that break a balance which all other rows keep."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.tolerances import DECISION_TOL, LSTSQ_TOL, TINY
from feaslearn.trainers.facets.rows import STEP, column_steps

#: Share of the rows that may be exceptional, and random subsets of rows that are tried.
MOST, DRAWS = 0.05, 100
#: Seed of the subsets: the same rows are exceptional in every fit.
SUBSETS = 0
#: Errors of the balance in more tolerances than this break it.
BROKEN = 10.0
#: Share of the rows off the balance that must be on its cheap side, and of the rows in which its
#: price has one sign.
CHEAP, ONE_SIGN = 0.1, 0.9
#: How many more columns are inside of their ends in rows that are no optimum.
MORE = 0.5


def exceptional_rows(features: Array, costs: Array, decisions: Array) -> Mask:
    """Return the rows in which decisions do not add up as in nearly all others.

    Subsets of rows say what the sum of decisions would be; the one counts that most rows keep to
    within the steps of the grids that columns are on. A sum that nearly always reaches a limit
    looks the same, but rows off a limit are optimal, too.
    """
    total, spread = decisions.sum(axis=1), decisions.std(axis=0)
    N, none = len(total), np.zeros(len(total), bool)
    F = features / np.where(features.std(axis=0) > 0.0, features.std(axis=0), 1.0)
    size = int(np.linalg.matrix_rank(F)) + 1
    if 3 * size > N or (spread > 0.0).sum() < 2:
        return none
    steps = column_steps(decisions)
    errors = DECISION_TOL * np.linalg.norm(spread) + np.linalg.norm(steps) / STEP
    tol = BROKEN * float(errors)
    off, random = np.ones(N, bool), np.random.default_rng(SUBSETS)
    residual = total
    for _ in range(DRAWS):
        some = random.choice(N, size, replace=False)
        left = total - F @ np.linalg.lstsq(F[some], total[some], rcond=LSTSQ_TOL)[0]
        broken = np.abs(left) > tol
        if broken.sum() < off.sum():
            kept = ~broken
            left = total - F @ np.linalg.lstsq(F[kept], total[kept], rcond=LSTSQ_TOL)[0]
            off, residual = np.abs(left) > tol, left
        if not off.any():
            return none
    if off.mean() > MOST:
        return none
    return off if _breaks_rules(decisions, costs, residual, off) else none


def _breaks_rules(x: Array, c: Array, residual: Array, off: Mask) -> bool:
    """Say whether rows off the balance are none that a limit in its place would leave.

    Off a limit, an optimal decision has more columns at their ends, not fewer; and it is on the
    dear side. What more of the balance costs is read off the columns inside of their ends.
    """
    room = DECISION_TOL * np.maximum(x.std(axis=0), TINY)
    lower, upper = x[~off].min(axis=0), x[~off].max(axis=0)
    inside = (x > lower + room) & (x < upper - room)
    count = inside.sum(axis=1)
    if count[off].mean() > count[~off].mean() + MORE:
        return True
    some = ~off & (count > 0)
    if not some.any():
        return False
    worth = np.sign((c * inside)[some].sum(axis=1))
    sign = np.sign(worth.sum())
    if (worth == sign).mean() < ONE_SIGN:
        return False
    return bool((-sign * residual[off] > 0.0).mean() > CHEAP)
