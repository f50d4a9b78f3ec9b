"""Suboptimality: how far a decision is from its learned region, and how much it costs too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel
from feaslearn.kernels.nearest import nearest
from feaslearn.kernels.norms import SQUARED_L2
from feaslearn.kernels.oracle import minimize_twice
from feaslearn.kernels.predict import latent_cost
from feaslearn.kernels.predictability import add_gradient, map_at
from feaslearn.kernels.set_code import SetCode

Array = NDArray[np.float64]


@kernel
def suboptimality_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    norm: int,
    values: Array,
    dA: Array,
    db: Array,
) -> None:
    """Write ``|(g, max(J, 0))|`` of each row (l2, or squared) and add its weighted gradient.

    ``g = min |x - A z - b|`` and ``J = c'(x - b) - min q'z``. Every entry of ``X`` is observed,
    and the compiled projection serves the set.
    """
    _, n, p = A.shape
    q, z, nothing = np.empty(p), np.empty(p), np.zeros(p)
    target, d, M = np.empty(n), np.empty(n), np.empty((n, p))
    seen = np.ones(n, dtype=np.bool_)
    for i in range(Phi.shape[0]):
        phi, c = Phi[i], C[i]
        latent_cost(A, phi, c, q)
        minimize_twice(code, q, 0.0, nothing, z)
        J = -np.sum(q * z)
        for j in range(n):
            target[j] = X[i, j]
            for k in range(phi.size):
                target[j] -= phi[k] * b[k, j]
            J += c[j] * target[j]
        map_at(A, phi, seen, M)
        z_feasible = np.empty(p)
        square = nearest(code, M, target, nothing, 0.0, z_feasible)
        excess = max(J, 0.0)
        total = square + excess * excess
        length = np.sqrt(total)
        values[i] = total if norm == SQUARED_L2 else length
        if length == 0.0:
            continue
        # d(total) = 2 e de + 2 J dJ; the root divides it by twice the length.
        scale = weights[i] * (2.0 if norm == SQUARED_L2 else 1.0 / length)
        for j in range(n):
            d[j] = np.sum(M[j] * z_feasible) - target[j]
        add_gradient(phi, d, z_feasible, scale, dA, db)
        if excess > 0.0:
            add_gradient(phi, c, z, -scale * excess, dA, db)
