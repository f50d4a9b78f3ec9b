"""The long-step ratio test of the dual simplex method: which column enters, and which flip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel
from feaslearn.kernels.tableau import Workspace

Array = NDArray[np.float64]

#: Entries of the tableau below this are no pivots.
PIVOT = 1e-9
#: From this many entries on, sorting is faster than looking for the least again and again.
MANY = 64


@kernel
def _slope(work: Workspace, row: int, up: bool, j: int, lower: Array, upper: Array) -> float:
    """Return how fast column j closes the gap of a row; 0 if it cannot."""
    variable = work.nonbasic[j]
    if lower[variable] == upper[variable]:
        return 0.0
    slope = -work.T[row, j] if up else work.T[row, j]
    if work.at_upper[variable]:
        slope = -slope
    if slope > PIVOT:
        return float(slope)
    return 0.0


@kernel
def _enter_sorted(
    work: Workspace,
    row: int,
    up: bool,
    gap: float,
    lower: Array,
    upper: Array,
    rounding: float,
    same: float,
) -> int:
    """Do what `enter` does, for programs with many entries."""
    d, nonbasic, flips = work.d, work.nonbasic, work.flips
    n = d.size
    slopes, ratios = np.empty(n), np.empty(n)
    for j in range(n):
        slopes[j] = _slope(work, row, up, j, lower, upper)
        ratios[j] = abs(d[j]) / slopes[j] if slopes[j] > 0.0 else np.inf
    order = np.argsort(ratios)
    left, last = gap, -1
    for place in range(n):
        best = order[place]
        if ratios[best] == np.inf:
            break
        reach = slopes[best] * (upper[nonbasic[best]] - lower[nonbasic[best]])
        if reach >= left:
            # Of those with the same price, the largest pivot.
            for later in range(place + 1, n):
                j = order[later]
                if ratios[j] > ratios[best] + same:
                    break
                span = upper[nonbasic[j]] - lower[nonbasic[j]]
                if slopes[j] > slopes[best] and slopes[j] * span >= left:
                    best = j
            return int(best)
        left -= reach
        flips[best] = True
        last = best
    if last >= 0 and left <= rounding:
        flips[last] = False
        return last
    return -1


@kernel
def enter(
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

    ``up`` says that the leaving basic variable must grow, by ``gap``.
    """
    d, nonbasic, flips = work.d, work.nonbasic, work.flips
    n = d.size
    if n >= MANY:
        return _enter_sorted(work, row, up, gap, lower, upper, rounding, same)
    left, last = gap, -1
    for _ in range(n):
        best, ratio, size = -1, np.inf, 0.0
        for j in range(n):
            if flips[j]:
                continue
            slope = _slope(work, row, up, j, lower, upper)
            if slope == 0.0:
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
