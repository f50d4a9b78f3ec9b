"""Predictability of a simplex, for the rows whose cheapest column is unique: the hot path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inlined, kernel
from feaslearn.kernels.norms import norm_and_slope
from feaslearn.kernels.simplex_rows import (
    BLOCK,
    Block,
    choose_columns,
    columns_with_offset,
    images_of_chosen,
    new_block,
)

Array = NDArray[np.float64]


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
def _add_to_columns(size: int, block: Block, slopes: Array, gradient: Array) -> None:
    K, n = block.features.shape[0], slopes.shape[0]
    for i in range(size):
        column = block.chosen[i]
        for k in range(K):
            feature = block.features[k, i]
            for j in range(n):
                gradient[column, k, j] += feature * slopes[j, i]
