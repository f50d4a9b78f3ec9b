r"""The annealed loss: how far the smooth minimiser's image is from the decision.

With :math:`q = A(s)'c`, c divided by its length, and :math:`z_\tau` as in `soft_argmin`, the loss
of a sample is :math:`\ell = \|A z_\tau + b - x\|^2`, and with d its derivative in the residual

.. math:: \partial \ell / \partial A_k = \phi_k (d z_\tau' + c (J A'd)'), \quad
          \partial \ell / \partial b_k = \phi_k d, \quad J = dz_\tau / dq = J'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.solvers.oracle_kernels import BOX, HYPERSIMPLEX, L1_BALL, L2_BALL, SIMPLEX, SetCode

Array = NDArray[np.float64]


@kernel
def annealed_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    tau: float,
    dA: Array,
    db: Array,
) -> float:
    """Return the weighted sum of the rows' losses, and add its gradient to ``dA`` and ``db``.

    NaN entries of ``X`` do not count.
    """
    K, n, p = A.shape
    q, z, spread, u, turned = np.empty(p), np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    M, e, d, shares = np.empty((n, p)), np.empty(n), np.empty(n), np.empty(code.points.shape[0])
    c = np.empty(n)
    total = 0.0
    for i in range(Phi.shape[0]):
        square = 0.0
        for j in range(n):
            square += C[i, j] * C[i, j]
        for j in range(n):
            c[j] = C[i, j] / np.sqrt(square) if square > 0.0 else 0.0
        M[:] = 0.0
        q[:] = 0.0
        e[:] = 0.0
        for k in range(K):
            share = Phi[i, k]
            for j in range(n):
                e[j] += share * b[k, j]
                for column in range(p):
                    M[j, column] += share * A[k, j, column]
        for j in range(n):
            for column in range(p):
                q[column] += c[j] * M[j, column]
        soft_argmin(code, q, tau, z, spread, shares)
        for j in range(n):
            for column in range(p):
                e[j] += M[j, column] * z[column]
            e[j] = 0.0 if np.isnan(X[i, j]) else e[j] - X[i, j]
        square = 0.0
        for j in range(n):
            square += e[j] * e[j]
            d[j] = 2.0 * e[j]
        total += weights[i] * square
        u[:] = 0.0
        for j in range(n):
            for column in range(p):
                u[column] += d[j] * M[j, column]
        soft_turn(code, tau, z, spread, shares, u, turned)
        for j in range(n):
            for column in range(p):
                M[j, column] = weights[i] * (d[j] * z[column] + c[j] * turned[column])
        for k in range(K):
            share = Phi[i, k]
            for j in range(n):
                db[k, j] += share * weights[i] * d[j]
                for column in range(p):
                    dA[k, j, column] += share * M[j, column]
    return total


# A smooth minimiser over a coded set, which tends to a minimiser as the temperature falls.
#
# Every vertex v of Z gets the weight :math:`w_v \propto e^{-q'v / \tau}` and :math:`z_\tau =
# \sum_v
# w_v v`, which has a closed form for most sets; the derivative :math:`dz_\tau/dq = -(\sum_v w_v v
# v'
# - z_\tau z_\tau') / \tau` is symmetric. Two sets are smoothed by other functions:
#
# - hypersimplex: :math:`z_k = 1 / (1 + e^{(q_k - \mu) / \tau})` with the :math:`\mu` that makes
# the
#   sum right, so that no vertices need be enumerated;
# - L2 ball: :math:`z = -q / \sqrt{\|q\|^2 + \tau^2}`.


@inner_kernel
def _sigmoid(a: float) -> float:
    if a >= 0.0:
        return float(1.0 / (1.0 + np.exp(-a)))
    rise = np.exp(a)
    return float(rise / (1.0 + rise))


@inner_kernel
def _l1_ball(q: Array, tau: float, z: Array, spread: Array) -> None:
    largest, total = 0.0, 0.0
    for k in range(q.size):
        largest = max(largest, abs(q[k]))
    for k in range(q.size):
        plus, minus = np.exp((-q[k] - largest) / tau), np.exp((q[k] - largest) / tau)
        z[k], spread[k] = plus - minus, plus + minus
        total += plus + minus
    for k in range(q.size):
        z[k] /= total
        spread[k] /= total


@inner_kernel
def _hypersimplex(q: Array, ones: int, tau: float, z: Array, spread: Array) -> None:
    low, high = q[0], q[0]
    for k in range(q.size):
        low, high = min(low, q[k]), max(high, q[k])
    # At this distance from all entries, every z is 0 or 1 to rounding.
    low, high = low - 40.0 * tau, high + 40.0 * tau
    level = 0.5 * (low + high)
    for _ in range(200):
        excess, slope = -float(ones), 0.0
        for k in range(q.size):
            z[k] = _sigmoid((level - q[k]) / tau)
            excess += z[k]
            slope += z[k] * (1.0 - z[k]) / tau
        if abs(excess) <= 1e-14 * q.size:
            break
        if excess > 0.0:
            high = level
        else:
            low = level
        following = level - excess / slope if slope > 0.0 else low - 1.0
        level = following if low < following < high else 0.5 * (low + high)
    for k in range(q.size):
        spread[k] = z[k] * (1.0 - z[k])


@inner_kernel
def _points(q: Array, points: Array, tau: float, z: Array, shares: Array) -> None:
    least, total = np.inf, 0.0
    for i in range(points.shape[0]):
        shares[i] = 0.0
        for k in range(q.size):
            shares[i] += points[i, k] * q[k]
        least = min(least, shares[i])
    for i in range(points.shape[0]):
        shares[i] = np.exp((least - shares[i]) / tau)
        total += shares[i]
    z[:] = 0.0
    for i in range(points.shape[0]):
        shares[i] /= total
        for k in range(q.size):
            z[k] += shares[i] * points[i, k]


@inner_kernel
def soft_argmin(
    code: SetCode, q: Array, tau: float, z: Array, spread: Array, shares: Array
) -> None:
    """Write the smooth minimiser of ``q'z`` into ``z``, and what `soft_turn` needs of it.

    ``spread`` has the size of q, ``shares`` one entry for each row of ``code.points``.
    """
    for j in range(code.kinds.size):
        kind, first, last = code.kinds[j], code.starts[j], code.starts[j + 1]
        if kind == SIMPLEX:
            least, total = np.inf, 0.0
            for k in range(first, last):
                least = min(least, q[k])
            for k in range(first, last):
                z[k] = np.exp((least - q[k]) / tau)
                total += z[k]
            for k in range(first, last):
                z[k] /= total
                spread[k] = z[k]
        elif kind == L1_BALL:
            _l1_ball(q[first:last], tau, z[first:last], spread[first:last])
        elif kind == L2_BALL:
            square = tau * tau
            for k in range(first, last):
                square += q[k] * q[k]
            for k in range(first, last):
                z[k] = -q[k] / np.sqrt(square)
                spread[k] = tau / np.sqrt(square)
        elif kind == BOX:
            for k in range(first, last):
                width = code.upper[k] - code.lower[k]
                share = _sigmoid(-q[k] * width / tau)
                z[k] = code.lower[k] + width * share
                spread[k] = width * width * share * (1.0 - share)
        elif kind == HYPERSIMPLEX:
            block = slice(first, last)
            _hypersimplex(q[block], code.counts[j], tau, z[block], spread[block])
        else:
            rows = slice(code.point_starts[j], code.point_starts[j + 1])
            points = code.points[rows, first:last]
            _points(q[first:last], points, tau, z[first:last], shares[rows])


@inner_kernel
def soft_turn(
    code: SetCode, tau: float, z: Array, spread: Array, shares: Array, u: Array, turned: Array
) -> None:
    """Write ``(dz/dq) u``, given what `soft_argmin` wrote."""
    for j in range(code.kinds.size):
        kind, first, last = code.kinds[j], code.starts[j], code.starts[j + 1]
        along, mass = 0.0, 0.0
        for k in range(first, last):
            along += (spread[k] if kind == HYPERSIMPLEX else z[k]) * u[k]
            mass += spread[k]
        if kind in (SIMPLEX, L1_BALL):
            for k in range(first, last):
                turned[k] = -(spread[k] * u[k] - z[k] * along) / tau
        elif kind == L2_BALL:
            for k in range(first, last):
                turned[k] = -spread[k] * (u[k] - z[k] * along) / tau
        elif kind == BOX:
            for k in range(first, last):
                turned[k] = -spread[k] * u[k] / tau
        elif kind == HYPERSIMPLEX:
            for k in range(first, last):
                turned[k] = -spread[k] * (u[k] - along / mass) / tau if mass > 0.0 else 0.0
        else:
            for k in range(first, last):
                turned[k] = z[k] * along / tau
            for i in range(code.point_starts[j], code.point_starts[j + 1]):
                value = 0.0
                for k in range(first, last):
                    value += code.points[i, k] * u[k]
                for k in range(first, last):
                    turned[k] -= shares[i] * value * code.points[i, k] / tau
