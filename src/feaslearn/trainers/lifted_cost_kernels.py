r"""The latent cost nearest to q whose minimum over Z is larger: the dual half of the smoothed loss.

The smoothed programs pay for :math:`D(t) = \min_v \{\|v - q\|^2 : \min_{z \in Z} v'z \ge t\}`. With
:math:`\nu = D'(t)` as the unknown instead of t, the answer is one Euclidean projection,

.. math:: v = q + r z, \quad z = \arg\min_{z \in Z} \|q + r z\|, \quad r = \nu / 2, \quad
          t(\nu) = v'z, \quad D = r^2 \|z\|^2,

and t grows with :math:`\nu`, linearly piece by piece where Z is polyhedral. Set by set:

- simplex: entries of q below a water level s rise to it, :math:`\sum_k (s - q_k)_+ = r`, and t = s;
- L1 ball: entries of abs(q) above a level s fall to it, :math:`\sum_k (|q_k| - s)_+ = r`, t = -s;
- L2 ball: q shrinks by r, and t = -(|q| - r), not above zero;
- box: :math:`z_k = -q_k / r`, cut to the limits;
- hypersimplex: :math:`v_k` is s cut to :math:`[q_k, q_k + r]`, :math:`\sum_k (v_k - q_k) = mr`;
- polytope given by its vertices: the point of least norm in their hull, scaled by r and moved by q.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inner_kernel
from feaslearn.solvers.nearest_kernels import nearest_on_corral, new_corral, span_square
from feaslearn.solvers.oracle_kernels import (
    BOX,
    HYPERSIMPLEX,
    L1_BALL,
    L2_BALL,
    POINTS,
    SIMPLEX,
    SetCode,
    minimize_twice,
)

Array = NDArray[np.float64]


@inner_kernel
def _water_level(a: Array, amount: float) -> tuple[float, int]:
    """Return the s with ``sum (s - a_k)_+ = amount`` and how many entries lie below it."""
    level = np.inf
    for k in range(a.size):
        level = min(level, a[k])
    level += amount
    count = 1
    for _ in range(a.size + 1):
        total, below = 0.0, 0
        for k in range(a.size):
            if a[k] < level:
                total += a[k]
                below += 1
        if below == 0:
            break
        count = below
        lower = (amount + total) / below
        if lower >= level:
            break
        level = lower
    return level, count


@inner_kernel
def _simplex(q: Array, r: float, z: Array) -> tuple[float, float]:
    level, count = _water_level(q, r)
    for k in range(q.size):
        z[k] = max(level - q[k], 0.0) / r
    return level, 0.5 / count


@inner_kernel
def _l1_ball(q: Array, r: float, z: Array) -> tuple[float, float]:
    for k in range(q.size):
        z[k] = -abs(q[k])
    level, count = _water_level(z, r)
    slope = 0.5 / count
    if level >= 0.0:
        level, slope = 0.0, 0.0
    for k in range(q.size):
        fall = max(level - z[k], 0.0) / r
        z[k] = -fall if q[k] > 0.0 else fall
    return level, slope


@inner_kernel
def _l2_ball(q: Array, r: float, z: Array) -> tuple[float, float]:
    norm = 0.0
    for k in range(q.size):
        norm += q[k] * q[k]
    norm = np.sqrt(norm)
    for k in range(q.size):
        z[k] = -q[k] / max(norm, r)
    return min(r - norm, 0.0), 0.5 if r < norm else 0.0


@inner_kernel
def _box(q: Array, r: float, lower: Array, upper: Array, z: Array) -> tuple[float, float]:
    t, slope = 0.0, 0.0
    for k in range(q.size):
        free = -q[k] / r
        z[k] = min(max(free, lower[k]), upper[k])
        if z[k] != free:
            t += (q[k] + r * z[k]) * z[k]
            slope += 0.5 * z[k] * z[k]
    return t, slope


@inner_kernel
def _filled(q: Array, r: float, level: float) -> tuple[float, int]:
    """Return ``sum_k min(max(level - q_k, 0), r)`` and how many terms are strictly between."""
    total, free = 0.0, 0
    for k in range(q.size):
        rise = level - q[k]
        total += min(max(rise, 0.0), r)
        free += 0.0 < rise < r
    return total, free


@inner_kernel
def _hypersimplex(q: Array, r: float, ones: int, z: Array) -> tuple[float, float]:
    low, high = q[0], q[0]
    for k in range(q.size):
        low, high = min(low, q[k]), max(high, q[k])
    high += r
    level = 0.5 * (low + high)
    for _ in range(200):
        total, free = _filled(q, r, level)
        excess = total - ones * r
        if excess > 0.0:
            high = level
        else:
            low = level
        following = level - excess / free if free > 0 else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        if excess == 0.0 or abs(following - level) <= 1e-16 * abs(level):
            break
        level = following
    t, left, free = 0.0, ones, 0
    for k in range(q.size):
        rise = level - q[k]
        z[k] = min(max(rise / r, 0.0), 1.0)
        if rise >= r:
            t += q[k] + r
            left -= 1
        elif rise > 0.0:
            free += 1
    slope = 0.5 * (ones - left)
    if free > 0:
        t += left * level
        slope += 0.5 * left * left / free
    return t, slope


@inner_kernel
def lifted_cost_by_vertices(code: SetCode, q: Array, r: float, z: Array) -> tuple[float, float]:
    """Do what `lifted_cost` does for any set that has vertices, with a positive ``r = nu / 2``."""
    p = q.size
    corral = new_corral(p, p)
    M, target, zero = np.zeros((p, p)), np.empty(p), np.zeros(p)
    for k in range(p):
        M[k, k] = r
        target[k] = -q[k]
    size = nearest_on_corral(code, M, target, zero, 0.0, corral, int(np.int64(0)), z)[1]
    t, square = 0.0, 0.0
    for k in range(p):
        t += (q[k] + r * z[k]) * z[k]
        square += corral.latents[0, k] ** 2
    return t, 0.5 * (square - span_square(corral, size, corral.latents[0]))


@inner_kernel
def lists_points(code: SetCode) -> bool:
    """Whether a block is given by its vertices."""
    for j in range(code.kinds.size):  # noqa: SIM110 -- generators do not compile
        if code.kinds[j] == POINTS:
            return True
    return False


@inner_kernel
def lifted_cost(code: SetCode, q: Array, nu: float, z: Array) -> tuple[float, float]:
    """Write z, and return t and its derivative in ``nu``; at zero, the minimum of q over Z.

    A block that is given by its vertices needs `lifted_cost_by_vertices` where nu is positive.
    """
    r = 0.5 * nu
    t, slope = 0.0, 0.0
    if r == 0.0:
        minimize_twice(code, q, 0.0, q, z)
        for k in range(q.size):
            t += q[k] * z[k]
            slope += 0.5 * z[k] * z[k]
        return t, slope
    for j in range(code.kinds.size):
        kind = code.kinds[j]
        block = slice(code.starts[j], code.starts[j + 1])
        part, rate = 0.0, 0.0
        if kind == SIMPLEX:
            part, rate = _simplex(q[block], r, z[block])
        elif kind == L1_BALL:
            part, rate = _l1_ball(q[block], r, z[block])
        elif kind == L2_BALL:
            part, rate = _l2_ball(q[block], r, z[block])
        elif kind == BOX:
            part, rate = _box(q[block], r, code.lower[block], code.upper[block], z[block])
        elif kind == HYPERSIMPLEX:
            part, rate = _hypersimplex(q[block], r, code.counts[j], z[block])
        t += part
        slope += rate
    return t, slope
