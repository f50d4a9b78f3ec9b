"""Predictability: the distance of a decision to the optimal face of its learned region."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel, kernel
from feaslearn.kernels.nearest import nearest
from feaslearn.kernels.norms import norm_and_slope
from feaslearn.kernels.oracle import minimize_twice
from feaslearn.kernels.predict import image_of, latent_cost
from feaslearn.kernels.rounding import entry_sizes, rounding_of
from feaslearn.kernels.set_code import L2_BALL, SetCode

Array = NDArray[np.float64]

#: What a row met: one minimiser, a face that was walked on, a face left to a solver.
UNIQUE, TIED, UNSERVED = 0, 1, 2


@inner_kernel
def map_at(A: Array, phi: Array, seen: NDArray[np.bool_], M: Array) -> None:
    """Write ``A(s)``, with zero rows for decisions that were not observed."""
    K, n, p = A.shape
    M[:] = 0.0
    for k in range(K):
        for j in range(n):
            if seen[j]:
                for column in range(p):
                    M[j, column] += phi[k] * A[k, j, column]


@inner_kernel
def add_gradient(phi: Array, d: Array, z: Array, weight: float, dA: Array, db: Array) -> None:
    """Add ``weight phi_k d z'`` to each ``dA[k]`` and ``weight phi_k d`` to each ``db[k]``."""
    K, n, p = dA.shape
    for k in range(K):
        for j in range(n):
            step = weight * phi[k] * d[j]
            if step != 0.0:
                db[k, j] += step
                for column in range(p):
                    if z[column] != 0.0:
                        dA[k, j, column] += step * z[column]


@inner_kernel
def add_ball_gradient(
    code: SetCode, A: Array, phi: Array, c: Array, q: Array, d: Array, weight: float, dA: Array
) -> None:
    """Add what a ball's minimiser ``-q / |q|`` adds by turning: ``-phi_k c (P A'd)' / |q|``."""
    K, n, _ = A.shape
    for block in range(code.kinds.size):
        if code.kinds[block] != L2_BALL:
            continue
        first, last = code.starts[block], code.starts[block + 1]
        norm = 0.0
        for column in range(first, last):
            norm += q[column] * q[column]
        norm = np.sqrt(norm)
        if norm == 0.0:
            continue
        u = np.zeros(last - first)
        for k in range(K):
            for j in range(n):
                for column in range(first, last):
                    u[column - first] += phi[k] * d[j] * A[k, j, column]
        along = 0.0
        for column in range(first, last):
            along += u[column - first] * q[column] / (norm * norm)
        for column in range(first, last):
            turned = (u[column - first] - along * q[column]) / norm
            for k in range(K):
                for j in range(n):
                    dA[k, j, column] -= weight * phi[k] * c[j] * turned


@inner_kernel
def nearest_on_face(
    code: SetCode,
    A: Array,
    b: Array,
    phi: Array,
    x: Array,
    q: Array,
    tolerance: float,
    z: Array,
    e: Array,
) -> None:
    """Write the minimiser of ``q'z`` whose image is nearest to x, and how far it is from x."""
    _, n, p = A.shape
    seen, target, M = np.empty(n, dtype=np.bool_), np.zeros(n), np.empty((n, p))
    for j in range(n):
        seen[j] = not np.isnan(x[j])
        if seen[j]:
            target[j] = x[j]
            for k in range(phi.size):
                target[j] -= phi[k] * b[k, j]
    map_at(A, phi, seen, M)
    nearest(code, M, target, q, tolerance, z)
    for j in range(n):
        e[j] = -target[j]
        for column in range(p):
            e[j] += M[j, column] * z[column]


@kernel
def predictability_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    relative_tolerance: float,
    norm: int,
    faces: bool,
    values: Array,
    states: NDArray[np.int8],
    dA: Array,
    db: Array,
) -> None:
    """Write each row's loss, and add its weighted gradient to ``dA`` and ``db``.

    ``faces`` says whether `nearest` measures distances to faces of this set in this norm. Where it
    does not, rows whose minimisers tie are marked `UNSERVED`, with no value and no gradient. NaN
    entries of ``X`` do not count.
    """
    _, n, p = A.shape
    q, z, nothing = np.empty(p), np.empty(p), np.zeros(p)
    x, e, d = np.empty(n), np.empty(n), np.empty(n)
    sizes = entry_sizes(A)
    for i in range(Phi.shape[0]):
        states[i] = UNIQUE
        phi, c = Phi[i], C[i]
        tolerance = relative_tolerance * latent_cost(A, phi, c, q)
        tolerance = max(tolerance, rounding_of(sizes, phi, c))
        tied = minimize_twice(code, q, tolerance, nothing, z)
        if tied:
            states[i] = TIED if faces else UNSERVED
            values[i] = 0.0
            if not faces:
                continue
            nearest_on_face(code, A, b, phi, X[i], q, tolerance, z, e)
        else:
            image_of(A, b, phi, z, x)
            for j in range(n):
                e[j] = 0.0 if np.isnan(X[i, j]) else x[j] - X[i, j]
        values[i] = norm_and_slope(norm, e, d)
        add_gradient(phi, d, z, weights[i], dA, db)
        if not tied:
            add_ball_gradient(code, A, phi, c, q, d, weights[i], dA)
