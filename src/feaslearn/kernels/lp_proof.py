"""Proofs that a small linear program was solved, from its own numbers rather than the tableau's.

A tableau that was pivoted on rounding errors looks like any other. What it claims is believed only
where the rows as they were given say the same: prices prove an optimum, and a combination of rows
that no point within the bounds satisfies proves that there is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: A gap between a cost and its proved minimum, relative to the numbers in it, that is rounding.
GAP = 1e-7
#: Rows may be broken by this much, relative to the size of right-hand sides and bounds.
BROKEN = 2e-7
#: Coefficients that are smaller than this, relative to the largest, are none.
NOTHING = 1e-12
#: In a proof that there is no point, the same.
NO_SHARE = 1e-9


@kernel
def least(share: float, low: float, high: float, nothing: float) -> float:
    """Return the least of ``share * x`` for x within bounds; a share of nothing counts nothing."""
    if abs(share) <= nothing:
        finite = low > -np.inf and high < np.inf
        return min(share * low, share * high) if finite else 0.0
    return share * low if share > 0.0 else share * high


@kernel
def proves_optimum(
    d: Array,
    nonbasic: Indices,
    G: Array,
    r: Array,
    c: Array,
    lower: Array,
    upper: Array,
    x: Array,
    scale: float,
    room: Array,
) -> bool:
    """Say whether x satisfies the rows and no point costs less than x, by the prices of the rows.

    With ``d = c + G'p`` and no negative price p of an inequality, no point costs less than
    ``sum_j min(d_j l_j, d_j u_j) - p'r``.
    """
    m, n = G.shape
    reduced = room[:n]
    bound, value, money, dearest = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        reduced[j] = c[j]
        value += c[j] * x[j]
        money += abs(c[j]) * max(abs(lower[j]), abs(upper[j]))
        dearest = max(dearest, abs(c[j]))
    for k in range(n):
        i = nonbasic[k] - n
        if i >= 0:
            price = d[k] if upper[n + i] == 0.0 else max(d[k], 0.0)
            bound -= price * r[i]
            for j in range(n):
                reduced[j] += price * G[i, j]
    for j in range(n):
        bound += least(reduced[j], lower[j], upper[j], NOTHING * dearest)
    if not value - bound <= GAP * money:
        return False
    for i in range(m):
        left = r[i]
        for j in range(n):
            left -= G[i, j] * x[j]
        if not -left <= BROKEN * scale or (upper[n + i] == 0.0 and not left <= BROKEN * scale):
            return False
    return True


@kernel
def proves_empty(
    share: Array,
    basic: int,
    nonbasic: Indices,
    G: Array,
    r: Array,
    lower: Array,
    upper: Array,
    rounding: float,
    room: Array,
) -> bool:
    """Say whether one combination of the rows, a row of the tableau, holds at no point.

    ``share`` is that row of the tableau and ``basic`` its variable.
    """
    m, n = G.shape
    rows = room[:m]
    rows[:] = 0.0
    if basic >= n:
        rows[basic - n] = 1.0
    for k in range(n):
        if nonbasic[k] >= n:
            rows[nonbasic[k] - n] = share[k]
    right, low, high = 0.0, 0.0, 0.0
    for i in range(m):
        if abs(rows[i]) <= NO_SHARE:
            rows[i] = 0.0
        right += rows[i] * r[i]
        low += least(rows[i], 0.0, upper[n + i], 0.0) if rows[i] != 0.0 else 0.0
        high -= least(-rows[i], 0.0, upper[n + i], 0.0) if rows[i] != 0.0 else 0.0
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += rows[i] * G[i, j]
        low += least(total, lower[j], upper[j], 0.0)
        high -= least(-total, lower[j], upper[j], 0.0)
    return right < low - 0.5 * rounding or right > high + 0.5 * rounding
