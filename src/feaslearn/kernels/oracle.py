"""Linear minimisation over a coded set, with ties.

`minimize_twice` minimises a second cost over the minimisers of a first: with a zero first cost it
is plain linear minimisation over the set, with a zero second cost it breaks ties to the lowest
index, and with both it walks on an optimal face.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel, kernel
from feaslearn.kernels.set_code import BOX, HYPERSIMPLEX, L1_BALL, L2_BALL, SIMPLEX, SetCode

Array = NDArray[np.float64]


@inner_kernel
def _simplex(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    limit = q[0]
    for k in range(q.size):
        limit = min(limit, q[k])
    limit += tolerance
    best, tied = -1, 0
    for k in range(q.size):
        z[k] = 0.0
        if q[k] <= limit:
            tied += 1
            if best < 0 or g[k] < g[best]:
                best = k
    z[best] = 1.0
    return tied > 1


@inner_kernel
def _l1_ball(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    largest = 0.0
    for k in range(q.size):
        z[k] = 0.0
        largest = max(largest, abs(q[k]))
    everything = largest <= tolerance
    best, sign, least, tied = -1, 1.0, np.inf, 0
    for k in range(q.size):
        if everything:
            direction = -1.0 if g[k] > 0.0 else 1.0
        elif abs(q[k]) >= largest - tolerance:
            direction = -1.0 if q[k] > 0.0 else 1.0
        else:
            continue
        tied += 1
        if direction * g[k] < least:
            best, sign, least = k, direction, direction * g[k]
    z[best] = sign
    return everything or tied > 1


@inner_kernel
def _length(v: Array) -> float:
    total = 0.0
    for k in range(v.size):
        total += v[k] * v[k]
    return float(np.sqrt(total))


@inner_kernel
def _l2_ball(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    norm = _length(q)
    tied = norm <= tolerance
    if tied:
        norm = _length(g)
    for k in range(q.size):
        z[k] = 0.0 if norm == 0.0 else -(g[k] if tied else q[k]) / norm
    return tied


@inner_kernel
def _box(q: Array, tolerance: float, g: Array, lower: Array, upper: Array, z: Array) -> bool:
    tied = False
    for k in range(q.size):
        if q[k] > tolerance:
            z[k] = lower[k]
        elif q[k] < -tolerance:
            z[k] = upper[k]
        else:
            z[k] = upper[k] if g[k] < 0.0 else lower[k]
            tied = tied or lower[k] < upper[k]
    return tied


@inner_kernel
def _kth_smallest(q: Array, count: int, taken: Array) -> float:
    """Return the ``count``-th smallest entry; ``taken`` is overwritten."""
    taken[:] = 0.0
    smallest = 0
    for _ in range(count):
        smallest = -1
        for k in range(q.size):
            if taken[k] == 0.0 and (smallest < 0 or q[k] < q[smallest]):
                smallest = k
        taken[smallest] = 1.0
    return float(q[smallest])


@inner_kernel
def _hypersimplex(q: Array, tolerance: float, g: Array, count: int, z: Array) -> bool:
    threshold = _kth_smallest(q, count, z)
    left, tied = count, 0
    for k in range(q.size):
        z[k] = 0.0
        if q[k] < threshold - tolerance:
            z[k] = 1.0
            left -= 1
        elif q[k] <= threshold + tolerance:
            tied += 1
    for _ in range(left):
        best = -1
        for k in range(q.size):
            within = threshold - tolerance <= q[k] <= threshold + tolerance
            if within and z[k] == 0.0 and (best < 0 or g[k] < g[best]):
                best = k
        z[best] = 1.0
    return tied > left


@inner_kernel
def _points(q: Array, tolerance: float, g: Array, points: Array, z: Array) -> bool:
    lowest, largest = np.inf, 1.0
    for i in range(points.shape[0]):
        value = 0.0
        for k in range(q.size):
            value += points[i, k] * q[k]
            largest = max(largest, abs(points[i, k]))
        lowest = min(lowest, value)
    limit = lowest + tolerance * largest
    best, least, tied = -1, np.inf, 0
    for i in range(points.shape[0]):
        value, second = 0.0, 0.0
        for k in range(q.size):
            value += points[i, k] * q[k]
            second += points[i, k] * g[k]
        if value <= limit:
            tied += 1
            if best < 0 or second < least:
                best, least = i, second
    for k in range(q.size):
        z[k] = points[best, k]
    return tied > 1


@inner_kernel
def minimize_twice(code: SetCode, q: Array, tolerance: float, g: Array, z: Array) -> bool:
    """Write into ``z`` the minimiser of ``g'z`` over the minimisers of ``q'z``; say if q ties.

    ``tolerance`` is absolute. Remaining ties go to the lowest index.
    """
    tied = False
    for j in range(code.kinds.size):
        kind = code.kinds[j]
        block = slice(code.starts[j], code.starts[j + 1])
        if kind == SIMPLEX:
            ties = _simplex(q[block], tolerance, g[block], z[block])
        elif kind == L1_BALL:
            ties = _l1_ball(q[block], tolerance, g[block], z[block])
        elif kind == L2_BALL:
            ties = _l2_ball(q[block], tolerance, g[block], z[block])
        elif kind == BOX:
            lower, upper = code.lower[block], code.upper[block]
            ties = _box(q[block], tolerance, g[block], lower, upper, z[block])
        elif kind == HYPERSIMPLEX:
            ties = _hypersimplex(q[block], tolerance, g[block], code.counts[j], z[block])
        else:
            rows = slice(code.point_starts[j], code.point_starts[j + 1])
            ties = _points(q[block], tolerance, g[block], code.points[rows, block], z[block])
        tied = tied or ties
    return tied


@kernel
def minimize_rows(
    code: SetCode, Q: Array, relative_tolerance: float, Z: Array, tied: NDArray[np.bool_]
) -> None:
    """Write into each row of ``Z`` a minimiser of that row of ``Q``, ties to the lowest index.

    ``tied`` says where there are several.
    """
    nothing = np.zeros(Q.shape[1])
    for i in range(Q.shape[0]):
        largest = 0.0
        for k in range(Q.shape[1]):
            largest = max(largest, abs(Q[i, k]))
        tied[i] = minimize_twice(code, Q[i], relative_tolerance * largest, nothing, Z[i])
