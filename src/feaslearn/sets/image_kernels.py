"""Predictions ``A(s) z* + b(s)`` of a map hypothesis over a coded set.

The least work a sample needs: the latent cost ``q = A(s)'c`` is a sum of the rows of all ``A_k``
weighted by ``phi_k c_j``, and only the columns that ``z*`` uses are evaluated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.simplex_kernels import (
    BLOCK,
    choose_columns,
    columns_with_offset,
    images_of_chosen,
    new_block,
)
from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.solvers.oracle_kernels import (
    SetCode,
    entry_sizes,
    is_simplex,
    minimize_twice,
    rounding_of,
)

Array = NDArray[np.float64]


@inner_kernel
def latent_cost(A: Array, phi: Array, c: Array, q: Array) -> float:
    """Write ``q = A(s)'c`` and return the largest ``|q|``."""
    K, n, p = A.shape
    q[:] = 0.0
    for k in range(K):
        for j in range(n):
            weight = phi[k] * c[j]
            if weight != 0.0:
                for column in range(p):
                    q[column] += weight * A[k, j, column]
    largest = 0.0
    for column in range(p):
        largest = max(largest, abs(q[column]))
    return largest


@inner_kernel
def image_of(A: Array, b: Array, phi: Array, z: Array, x: Array) -> None:
    """Write ``x = A(s) z + b(s)``."""
    K, n, p = A.shape
    x[:] = 0.0
    for k in range(K):
        for j in range(n):
            x[j] += phi[k] * b[k, j]
    for column in range(p):
        if z[column] != 0.0:
            for k in range(K):
                weight = phi[k] * z[column]
                for j in range(n):
                    x[j] += weight * A[k, j, column]


def predict_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Write the prediction of each row into ``X``, and where there are others as good.

    A simplex has a kernel of its own, so that users of simplices wait for no other to compile.
    """
    if is_simplex(code):
        _predict_columns(A, b, Phi, C, relative_tolerance, X, tied)
    else:
        _predict_any(code, A, b, Phi, C, relative_tolerance, X, tied)


@kernel
def _predict_columns(
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Predict with a simplex: every row is one column of its map."""
    n = A.shape[1]
    block, images = new_block(A), np.empty((n, BLOCK))
    columns = columns_with_offset(A, b)
    for start in range(0, Phi.shape[0], BLOCK):
        size = choose_columns(A, Phi, C, start, relative_tolerance, block)
        images_of_chosen(columns, size, block, images)
        for i in range(size):
            tied[start + i] = block.ties[i] > 1
            for j in range(n):
                X[start + i, j] = images[j, i]


@kernel
def _predict_any(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Predict with any coded set."""
    p = A.shape[2]
    q, z, zero = np.empty(p), np.empty(p), np.zeros(p)
    sizes = entry_sizes(A)
    for i in range(Phi.shape[0]):
        tolerance = relative_tolerance * latent_cost(A, Phi[i], C[i], q)
        tolerance = max(tolerance, rounding_of(sizes, Phi[i], C[i]))
        tied[i] = minimize_twice(code, q, tolerance, zero, z)
        image_of(A, b, Phi[i], z, X[i])
