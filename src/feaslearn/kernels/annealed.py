r"""The annealed loss: how far the smooth minimiser's image is from the decision.

With :math:`q = A(s)'c`, c divided by its length, and :math:`z_\tau` as in `soft_argmin`, the loss
of a sample is :math:`\ell = \|A z_\tau + b - x\|`, and with d its derivative in the residual

.. math:: \partial \ell / \partial A_k = \phi_k (d z_\tau' + c (J A'd)'), \quad
          \partial \ell / \partial b_k = \phi_k d, \quad J = dz_\tau / dq = J'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel
from feaslearn.kernels.norms import norm_and_slope
from feaslearn.kernels.set_code import SetCode
from feaslearn.kernels.soft_argmin import soft_argmin, soft_turn

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
    norm: int,
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
        total += weights[i] * norm_and_slope(norm, e, d)
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
