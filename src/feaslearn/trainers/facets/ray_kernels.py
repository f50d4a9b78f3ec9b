"""Supporting hyperplanes of rows of least weighted slack.

``min g't : Z t >= 0, v't = 1`` by the primal simplex method on the rows. A vertex is a set of R - 1
rows on which t is zero; when only g changes the last vertex is still feasible, so that reweighting
goes on from there. A first vertex is not searched for: the method starts inside of the cone with
artificial rows that may leave in either direction and never come back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Multipliers and rates below this, relative to the largest, are zero.
ZERO = 1e-9
#: Pivots for each parameter after which a vertex is good enough.
PIVOTS = 12


@kernel
def start_ray(
    Z: Array,
    v: Array,
    inside: Array,
    basis: Indices,
    inverse: Array,
    t: Array,
    slack: Array,
) -> bool:
    """Put t with v't > 0 into the cone by adding ``inside``, on artificial rows; False if v't <= 0.

    ``basis`` (R - 1,) numbers of rows, -1 for artificial ones; ``inverse`` (R, R) of those rows
    above v. ``inside`` is positive on every row and has v'inside = 0.
    """
    N, R = Z.shape
    size = v @ t
    if not size > 0.0:
        return False
    along, room = Z @ t, Z @ inside
    need = 0.0
    for i in range(N):
        need = max(need, -along[i] / room[i])
    for j in range(R):
        t[j] = (t[j] + need * inside[j]) / size
    first = 0
    for j in range(R):
        if abs(v[j]) > abs(v[first]):
            first = j
    inverse[:] = 0.0
    k = 0
    for j in range(R):
        if j == first:
            continue
        basis[k] = -1
        inverse[j, k] = 1.0
        inverse[first, k] = -v[j] / v[first]
        k += 1
    inverse[first, R - 1] = 1.0 / v[first]
    slack[:] = Z @ t
    return True


@kernel
def lower_ray(Z: Array, g: Array, basis: Indices, inverse: Array, t: Array, slack: Array) -> bool:
    """Descend from a vertex to one of least g't; False if there is none."""
    N, R = Z.shape
    inside = np.zeros(N, dtype=np.bool_)
    for k in range(R - 1):
        if basis[k] >= 0:
            inside[basis[k]] = True
    length = np.sqrt(g @ g)
    for _ in range(PIVOTS * R):
        prices = inverse.T @ g
        best, leaving, sign = 0.0, -1, 1.0
        for k in range(R - 1):
            gain = abs(prices[k]) if basis[k] < 0 else -prices[k]
            if gain <= 0.0:
                continue
            column = 0.0
            for j in range(R):
                column += inverse[j, k] ** 2
            gain /= np.sqrt(column)
            if basis[k] < 0:
                gain *= 10.0  # artificial rows leave first
            if gain > best:
                best, leaving = gain, k
                sign = -1.0 if prices[k] > 0.0 else 1.0
        if leaving < 0 or best <= ZERO * length:
            return True
        d = sign * inverse[:, leaving]
        size = np.sqrt(d @ d)
        rate = Z @ d
        # The least ratio, then among rows that it reaches within rounding the steepest.
        ratio = np.inf
        for i in range(N):
            if not inside[i] and rate[i] < -ZERO * size:
                ratio = min(ratio, (max(slack[i], 0.0) + ZERO) / -rate[i])
        if ratio == np.inf:
            return False
        entering, steepest = -1, 0.0
        for i in range(N):
            if inside[i] or -rate[i] <= max(steepest, ZERO * size):
                continue
            if max(slack[i], 0.0) <= ratio * -rate[i]:
                entering, steepest = i, -rate[i]
        step = max(slack[entering], 0.0) / steepest
        for j in range(R):
            t[j] += step * d[j]
        for i in range(N):
            slack[i] += step * rate[i]
        if basis[leaving] >= 0:
            inside[basis[leaving]] = False
        inside[entering] = True
        basis[leaving] = entering
        row = inverse.T @ Z[entering]
        pivot = row[leaving]
        for j in range(R):
            inverse[j, leaving] /= pivot
        for k in range(R):
            if k != leaving and row[k] != 0.0:
                for j in range(R):
                    inverse[j, k] -= row[k] * inverse[j, leaving]
    return True
