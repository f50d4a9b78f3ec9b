"""Many small linear programs with the same rows and other costs, right-hand sides and bounds.

``min c'x : G x + s = r, l <= x <= u, 0 <= s <= S`` by the bounded dual simplex method on a dense
condensed tableau. With bounds on every x the basis of all slacks is dual feasible once each x sits
at its cheaper bound, so there is no first phase; the long-step ratio test then flips bounds in
order of price, which on a box with one balance row is the greedy fill, in one pivot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import bare_kernel, kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: What a row's program ended with.
OPTIMAL, INFEASIBLE, UNSOLVED = 0, 1, 2
#: As in tolerances.py: what is compiled is defined here, where Numba sees a change.
TIE_TOL = 1e-9
#: A program that takes more exchanges than this, and for each of its rows, turns in a circle.
FEW_PIVOTS, PIVOTS = 50, 20
#: Entries of the tableau below this are no pivots.
PIVOT = 1e-7
#: Bounds may be violated by this much, relative to the size of the numbers in a program.
FEASIBLE = 1e-10
#: A gap that nothing can close is rounding below this, relative to the same size.
ROUNDING = 1e-7
#: Prices closer than this, relative to the largest cost, are the same step of the ratio test.
SAME_PRICE = 1e-12

#: A gap between a cost and its proved minimum, relative to the numbers in it, that is rounding.
GAP = 1e-7
#: Rows may be violated by this much, relative to the size of right-hand sides and bounds.
VIOLATION_TOL = 2e-7
#: Coefficients that are smaller than this, relative to the largest, are none.
COEFFICIENT_TOL = 1e-12
#: In a proof that there is no point, the same.
NO_SHARE = 1e-9


class Workspace(NamedTuple):
    """The tableau of one program, and after it is solved what its optimum rests on.

    ``x_basic = b - T x_nonbasic``; variables are the n entries of x, then the m slacks.
    """

    T: Array
    d: Array
    basic: Indices
    nonbasic: Indices
    at_upper: NDArray[np.bool_]
    flips: NDArray[np.bool_]
    values: Array
    scratch: Array


def workspace(m: int, n: int) -> Workspace:
    """Return the workspace of programs with m rows and n entries."""
    return Workspace(
        np.empty((m, n)),
        np.empty(n),
        np.empty(m, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n + m, dtype=np.bool_),
        np.empty(n, dtype=np.bool_),
        np.empty(m),
        np.empty(m + n),
    )


@bare_kernel
def _worst_row(values: Array, basic: Indices, lower: Array, upper: Array, tolerance: float) -> int:
    """Return the row whose basic variable violates a bound most, or -1."""
    worst, row = tolerance, -1
    for i in range(values.size):
        low, high = lower[basic[i]], upper[basic[i]]
        excess = max(low - values[i], values[i] - high)
        if excess > worst:
            worst, row = excess, i
    return row


@bare_kernel
def _enter(
    work: Workspace,
    row: int,
    up: bool,
    gap: float,
    lower: Array,
    upper: Array,
    rounding: float,
    same: float,
) -> int:
    """Return the column that enters, marking those that flip to their other bound; -1 if none.

    ``up`` is whether the leaving basic variable must grow, by ``gap``.
    """
    T, d, nonbasic, flips = work.T, work.d, work.nonbasic, work.flips
    n = d.size
    left, last = gap, -1
    for _ in range(n):
        best, ratio, size = -1, np.inf, 0.0
        for j in range(n):
            if flips[j]:
                continue
            variable = nonbasic[j]
            if lower[variable] == upper[variable]:
                continue
            slope = -T[row, j] if up else T[row, j]
            if work.at_upper[variable]:
                slope = -slope
            if slope <= PIVOT:
                continue
            candidate = abs(d[j]) / slope
            if candidate < ratio - same or (candidate < ratio + same and slope > size):
                best, ratio, size = j, candidate, slope
        if best < 0:
            break
        span = upper[nonbasic[best]] - lower[nonbasic[best]]
        if size * span >= left:
            return best
        left -= size * span
        flips[best] = True
        last = best
    if last >= 0 and left <= rounding:
        # All of them together only just close the gap.
        flips[last] = False
        return last
    return -1


@bare_kernel
def _pivot(T: Array, d: Array, row: int, column: int) -> None:
    """Exchange the basic variable of ``row`` with the nonbasic one of ``column``."""
    m, n = T.shape
    pivot = 1.0 / T[row, column]
    for j in range(n):
        T[row, j] *= pivot
    for i in range(m):
        factor = T[i, column]
        if i != row and factor != 0.0:
            for j in range(n):
                T[i, j] -= factor * T[row, j]
            T[i, column] = -factor * pivot
    factor = d[column]
    for j in range(n):
        d[j] -= factor * T[row, j]
    d[column] = -factor * pivot
    T[row, column] = pivot


@bare_kernel
def _begin(work: Workspace, G: Array, r: Array, c: Array, lower: Array, upper: Array) -> float:
    """Set each x to its cheaper bound and each row's slack to what is left.

    Returns the size of the numbers that sums are made of: errors are relative to it.
    """
    m, n = G.shape
    scale = 0.0
    # Entry by entry: an assignment of arrays takes seconds to compile.
    for i in range(m):
        for j in range(n):
            work.T[i, j] = G[i, j]
        work.values[i] = r[i]
        work.basic[i] = n + i
        work.at_upper[n + i] = False
        scale = max(scale, abs(r[i]))
    for j in range(n):
        work.d[j] = c[j]
        work.nonbasic[j] = j
        work.at_upper[j] = c[j] < 0.0
        start = upper[j] if work.at_upper[j] else lower[j]
        scale = max(scale, abs(lower[j]), abs(upper[j]))
        for i in range(m):
            work.values[i] -= G[i, j] * start
    return scale


@bare_kernel
def _flip(work: Workspace, lower: Array, upper: Array) -> None:
    """Move the marked nonbasic variables to their other bound."""
    m, n = work.T.shape
    for j in range(n):
        if work.flips[j]:
            variable = work.nonbasic[j]
            step = upper[variable] - lower[variable]
            if work.at_upper[variable]:
                step = -step
            work.at_upper[variable] = not work.at_upper[variable]
            for i in range(m):
                work.values[i] -= work.T[i, j] * step


@bare_kernel
def solve_one(
    work: Workspace, G: Array, r: Array, c: Array, lower: Array, upper: Array, x: Array
) -> int:
    """Solve one program into ``x``; bounds are those of x, then of the slacks.

    Bounds that cross by a rounding error are made equal. An answer that the rows do not prove
    counts as unsolved.
    """
    m, n = G.shape
    scale, crossing = _begin(work, G, r, c, lower, upper), False
    for j in range(n):
        if lower[j] > upper[j]:
            if lower[j] - upper[j] > ROUNDING * scale:
                return INFEASIBLE
            upper[j], crossing = lower[j], True
    if crossing:
        scale = _begin(work, G, r, c, lower, upper)
    tolerance, rounding = FEASIBLE * scale, ROUNDING * scale
    same = SAME_PRICE * _largest(c)
    for _ in range(FEW_PIVOTS + PIVOTS * m):
        row = _worst_row(work.values, work.basic, lower, upper, tolerance)
        if row < 0:
            for j in range(n):
                variable = work.nonbasic[j]
                if variable < n:
                    x[variable] = upper[variable] if work.at_upper[variable] else lower[variable]
            for i in range(m):
                if work.basic[i] < n:
                    x[work.basic[i]] = work.values[i]
            proved = _proves_optimum(work, G, r, c, lower, upper, x, scale)
            return OPTIMAL if proved else UNSOLVED
        leaving = work.basic[row]
        up = work.values[row] < lower[leaving]
        target = lower[leaving] if up else upper[leaving]
        for j in range(n):
            work.flips[j] = False
        gap = abs(work.values[row] - target)
        column = _enter(work, row, up, gap, lower, upper, rounding, same)
        if column < 0:
            if gap > rounding:
                proved = _proves_empty(work, row, G, r, lower, upper, rounding)
                return INFEASIBLE if proved else UNSOLVED
            # Rows that only just meet: the gap is rounding, not emptiness.
            work.values[row] = target
            continue
        _flip(work, lower, upper)
        entering = work.nonbasic[column]
        move = (work.values[row] - target) / work.T[row, column]
        for i in range(m):
            work.values[i] -= work.T[i, column] * move
        start = upper[entering] if work.at_upper[entering] else lower[entering]
        work.values[row] = start + move
        work.at_upper[leaving] = not up
        _pivot(work.T, work.d, row, column)
        work.basic[row], work.nonbasic[column] = entering, leaving
    return UNSOLVED


@bare_kernel
def is_tied(work: Workspace, lower: Array, upper: Array, tolerance: float) -> bool:
    """Return whether another point may be optimal too: a nonbasic variable moves at no cost."""
    for j in range(work.d.size):
        variable = work.nonbasic[j]
        if lower[variable] < upper[variable] and abs(work.d[j]) <= tolerance:
            return True
    return False


@bare_kernel
def _largest(values: Array) -> float:
    """Return the largest absolute value."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    return largest


@kernel
def solve_rows(
    work: Workspace,
    G: Array,
    R: Array,
    C: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    X: Array,
    duals: Array,
    status: NDArray[np.int8],
    tied: NDArray[np.bool_],
) -> None:
    """Solve one program for each row of ``R`` and ``C``.

    ``lower`` and ``upper`` hold one row of bounds, or one for each program; ``slack`` the largest
    slack of each row of ``G``: 0 for equalities, infinity for inequalities. ``duals[i, j]`` is how
    much the optimum falls when ``R[i, j]`` grows by one unit.
    """
    m, n = G.shape
    low, high = np.zeros(n + m), np.empty(n + m)
    for i in range(R.shape[0]):
        k = i if lower.shape[0] > 1 else 0
        for j in range(n):
            low[j], high[j] = lower[k, j], upper[k, j]
        for j in range(m):
            high[n + j], duals[i, j] = slack[j], 0.0
        status[i] = solve_one(work, G, R[i], C[i], low, high, X[i])
        tied[i] = False
        if status[i] == OPTIMAL:
            for j in range(n):
                if work.nonbasic[j] >= n:
                    duals[i, work.nonbasic[j] - n] = work.d[j]
            tied[i] = is_tied(work, low, high, TIE_TOL * _largest(C[i]))


# Proofs that a small linear program was solved, from its rows rather than from the tableau, which
# may have been pivoted on rounding errors: duals prove an optimum, and a combination of rows that
# no point within the bounds satisfies proves infeasibility.


@bare_kernel
def _least(share: float, low: float, high: float, zero: float) -> float:
    """Return the least of ``share * x`` for x within bounds; a share up to ``zero`` is finite."""
    if abs(share) <= zero:
        finite = low > -np.inf and high < np.inf
        return min(share * low, share * high) if finite else 0.0
    return share * low if share > 0.0 else share * high


@bare_kernel
def _proves_optimum(
    work: Workspace,
    G: Array,
    r: Array,
    c: Array,
    lower: Array,
    upper: Array,
    x: Array,
    scale: float,
) -> bool:
    """Return whether x satisfies the rows and no point costs less than x, by the duals of the rows.

    With ``d = c + G'p`` and no negative dual p of an inequality, no point costs less than
    ``sum_j min(d_j l_j, d_j u_j) - p'r``.
    """
    m, n = G.shape
    d, nonbasic, reduced = work.d, work.nonbasic, work.scratch[:n]
    bound, value, money, largest = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        reduced[j] = c[j]
        value += c[j] * x[j]
        money += abs(c[j]) * max(abs(lower[j]), abs(upper[j]))
        largest = max(largest, abs(c[j]))
    for k in range(n):
        i = nonbasic[k] - n
        if i >= 0:
            dual = d[k] if upper[n + i] == 0.0 else max(d[k], 0.0)
            bound -= dual * r[i]
            for j in range(n):
                reduced[j] += dual * G[i, j]
    for j in range(n):
        bound += _least(reduced[j], lower[j], upper[j], COEFFICIENT_TOL * largest)
    if not value - bound <= GAP * money:
        return False
    for i in range(m):
        left = r[i]
        for j in range(n):
            left -= G[i, j] * x[j]
        violation = abs(left) if upper[n + i] == 0.0 else -left
        if not violation <= VIOLATION_TOL * scale:
            return False
    return True


@bare_kernel
def _proves_empty(
    work: Workspace, row: int, G: Array, r: Array, lower: Array, upper: Array, rounding: float
) -> bool:
    """Return whether one combination of the rows, that row of the tableau, holds at no point."""
    m, n = G.shape
    rows = work.scratch[:m]
    for i in range(m):
        rows[i] = 0.0
    if work.basic[row] >= n:
        rows[work.basic[row] - n] = 1.0
    for k in range(n):
        if work.nonbasic[k] >= n:
            rows[work.nonbasic[k] - n] = work.T[row, k]
    right, low, high = 0.0, 0.0, 0.0
    for i in range(m):
        if abs(rows[i]) <= NO_SHARE:
            rows[i] = 0.0
        right += rows[i] * r[i]
        low += _least(rows[i], 0.0, upper[n + i], 0.0) if rows[i] != 0.0 else 0.0
        high -= _least(-rows[i], 0.0, upper[n + i], 0.0) if rows[i] != 0.0 else 0.0
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += rows[i] * G[i, j]
        low += _least(total, lower[j], upper[j], 0.0)
        high -= _least(-total, lower[j], upper[j], 0.0)
    return right < low - 0.5 * rounding or right > high + 0.5 * rounding
