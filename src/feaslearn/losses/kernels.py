"""Losses of affine images of coded sets: distances to optimal faces, infeasibility, excess cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.image_kernels import image_of, latent_cost
from feaslearn.sets.simplex_kernels import (
    BLOCK,
    RowBlock,
    choose_columns,
    columns_with_offset,
    images_of_chosen,
    new_block,
)
from feaslearn.solvers.jit import inlined, inner_kernel, kernel
from feaslearn.solvers.nearest_kernels import nearest
from feaslearn.solvers.oracle_kernels import (
    L2_BALL,
    SetCode,
    entry_sizes,
    minimize_twice,
    rounding_of,
)

Array = NDArray[np.float64]

#: What a row met: one minimiser, a face that was walked on, a face left to a solver.
UNIQUE, TIED, UNSERVED = 0, 1, 2

SQUARED_L2 = 0
L2 = 1
L1 = 2
LINF = 3


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
    q, z, zero = np.empty(p), np.empty(p), np.zeros(p)
    x, e, d = np.empty(n), np.empty(n), np.empty(n)
    sizes = entry_sizes(A)
    for i in range(Phi.shape[0]):
        states[i] = UNIQUE
        phi, c = Phi[i], C[i]
        tolerance = relative_tolerance * latent_cost(A, phi, c, q)
        tolerance = max(tolerance, rounding_of(sizes, phi, c))
        tied = minimize_twice(code, q, tolerance, zero, z)
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


# Predictability of a simplex, for the rows whose cheapest column is unique: the hot path.


@kernel
def column_losses(
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    relative_tolerance: float,
    norm: int,
    values: Array,
    unique: NDArray[np.bool_],
    dA: Array,
    db: Array,
) -> None:
    """Write the losses of rows with a unique column, and add their gradient; mark them.

    The gradient of a row touches one column only: ``weight phi_k d``, which is b's as well.
    """
    K, n, p = A.shape
    block, residuals = new_block(A), np.empty((n, BLOCK))
    columns, gradient = columns_with_offset(A, b), np.zeros((p, K, n))
    for start in range(0, Phi.shape[0], BLOCK):
        size = choose_columns(A, Phi, C, start, relative_tolerance, block)
        images_of_chosen(columns, size, block, residuals)
        for i in range(size):
            unique[start + i] = block.ties[i] == 1
        _measure(X, weights, unique, norm, start, size, values, residuals)
        _add_to_columns(size, block, residuals, gradient)
    for k in range(K):
        for j in range(n):
            for column in range(p):
                dA[k, j, column] += gradient[column, k, j]
                db[k, j] += gradient[column, k, j]


@inlined
def _measure(
    X: Array,
    weights: Array,
    unique: NDArray[np.bool_],
    norm: int,
    start: int,
    size: int,
    values: Array,
    images: Array,
) -> None:
    """Write the norm of each residual, and put its weighted derivative where the image was."""
    n = images.shape[0]
    e, d = np.empty(n), np.empty(n)
    for i in range(size):
        row = start + i
        for j in range(n):
            e[j] = 0.0 if np.isnan(X[row, j]) else images[j, i] - X[row, j]
        values[row] = norm_and_slope(norm, e, d)
        weight = weights[row] if unique[row] else 0.0
        for j in range(n):
            images[j, i] = weight * d[j]


@inlined
def _add_to_columns(size: int, block: RowBlock, slopes: Array, gradient: Array) -> None:
    K, n = block.features.shape[0], slopes.shape[0]
    for i in range(size):
        column = block.chosen[i]
        for k in range(K):
            feature = block.features[k, i]
            for j in range(n):
                gradient[column, k, j] += feature * slopes[j, i]


# Norms of a residual and their derivatives.


@inner_kernel
def norm_and_slope(norm: int, e: Array, d: Array) -> float:
    """Return the norm of ``e`` and write its derivative into ``d``.

    Derivatives: ``2 e`` (squared), ``e / |e|`` (l2), signs (l1), one signed coordinate (linf);
    zero where there is no unique one.
    """
    if norm == L1:
        total = 0.0
        for j in range(e.size):
            total += abs(e[j])
            d[j] = np.sign(e[j])
        return total
    if norm == LINF:
        largest = 0
        for j in range(e.size):
            d[j] = 0.0
            if abs(e[j]) > abs(e[largest]):
                largest = j
        d[largest] = np.sign(e[largest])
        return float(abs(e[largest]))
    total = 0.0
    for j in range(e.size):
        total += e[j] * e[j]
        d[j] = 2.0 * e[j]
    if norm == SQUARED_L2:
        return total
    length = float(np.sqrt(total))
    for j in range(e.size):
        d[j] = e[j] / length if length > 0.0 else 0.0
    return length


# Suboptimality: how far a decision is from its learned region, and how much it costs too much.


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
    q, z, zero = np.empty(p), np.empty(p), np.zeros(p)
    target, d, M = np.empty(n), np.empty(n), np.empty((n, p))
    seen = np.ones(n, dtype=np.bool_)
    for i in range(Phi.shape[0]):
        phi, c = Phi[i], C[i]
        latent_cost(A, phi, c, q)
        minimize_twice(code, q, 0.0, zero, z)
        J = -np.sum(q * z)
        for j in range(n):
            target[j] = X[i, j]
            for k in range(phi.size):
                target[j] -= phi[k] * b[k, j]
            J += c[j] * target[j]
        map_at(A, phi, seen, M)
        z_feasible = np.empty(p)
        square = nearest(code, M, target, zero, 0.0, z_feasible)
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
