"""Least columns of many rows at once: the hot path, which is a simplex.

Rows are taken a block at a time and laid out side by side, so that the inner loops run over rows
and the processor works on several of them in one instruction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inlined
from feaslearn.solvers.oracle_kernels import entry_sizes
from feaslearn.tolerances import SUM_ROUNDING

Array = NDArray[np.float64]

#: Rows in a block: their latent costs fit in the processor's first cache.
BLOCK = 128


class RowBlock(NamedTuple):
    """Some rows side by side: entry ``[j, i]`` belongs to row i of the block.

    ``rounding`` is what rounding may have done to each row's latent costs (``sizes`` are those of
    the map's entries), ``chosen`` its first column of least cost, ``ties`` how many are as cheap.
    """

    features: Array
    costs: Array
    latent: Array
    sizes: Array
    rounding: Array
    chosen: NDArray[np.int64]
    ties: NDArray[np.int64]


@inlined
def new_block(A: Array) -> RowBlock:
    """Return an empty block for rows of a map."""
    K, n, p = A.shape
    return RowBlock(
        np.empty((K, BLOCK)),
        np.empty((n, BLOCK)),
        np.empty((p, BLOCK)),
        entry_sizes(A),
        np.empty(BLOCK),
        np.empty(BLOCK, dtype=np.int64),
        np.empty(BLOCK, dtype=np.int64),
    )


@inlined
def columns_with_offset(A: Array, b: Array) -> Array:
    """Return the columns of A with b added to each: the weights of a simplex sum to one."""
    K, n, p = A.shape
    columns = np.empty((K, n, p))
    for k in range(K):
        for j in range(n):
            for column in range(p):
                columns[k, j, column] = A[k, j, column] + b[k, j]
    return columns


@inlined
def choose_columns(
    A: Array, Phi: Array, C: Array, start: int, relative_tolerance: float, block: RowBlock
) -> int:
    """Fill a block with the rows from ``start`` on and choose their columns; return its size."""
    size: int = min(BLOCK, Phi.shape[0] - start)
    for i in range(size):
        for k in range(Phi.shape[1]):
            block.features[k, i] = Phi[start + i, k]
        for j in range(C.shape[1]):
            block.costs[j, i] = C[start + i, j]
    _latent_costs(A, size, block)
    _cheapest(relative_tolerance, size, block)
    return size


@inlined
def _latent_costs(A: Array, size: int, block: RowBlock) -> None:
    """Write ``q = A(s)'c`` of each row, and what rounding may have done to it."""
    K, n, p = A.shape
    weights = np.empty(size)
    for i in range(size):
        block.rounding[i] = 0.0
        for column in range(p):
            block.latent[column, i] = 0.0
    for k in range(K):
        for j in range(n):
            for i in range(size):
                weights[i] = block.features[k, i] * block.costs[j, i]
            unit = SUM_ROUNDING * block.sizes[k, j]
            for i in range(size):
                block.rounding[i] += unit * abs(weights[i])
            for column in range(p):
                entry = A[k, j, column]
                for i in range(size):
                    block.latent[column, i] += entry * weights[i]


@inlined
def _cheapest(relative_tolerance: float, size: int, block: RowBlock) -> None:
    latent, chosen, ties = block.latent, block.chosen, block.ties
    limit, largest = np.empty(size), np.zeros(size)
    for i in range(size):
        limit[i] = np.inf
        chosen[i] = 0
        ties[i] = 0
    for column in range(latent.shape[0]):
        for i in range(size):
            q = latent[column, i]
            limit[i] = q if q < limit[i] else limit[i]
            largest[i] = abs(q) if abs(q) > largest[i] else largest[i]
    for i in range(size):
        margin = relative_tolerance * largest[i]
        limit[i] += margin if margin > block.rounding[i] else block.rounding[i]
    for column in range(latent.shape[0] - 1, -1, -1):
        for i in range(size):
            cheap = latent[column, i] <= limit[i]
            chosen[i] = column if cheap else chosen[i]
            ties[i] += 1 if cheap else 0


@inlined
def images_of_chosen(columns: Array, size: int, block: RowBlock, images: Array) -> None:
    """Write the chosen column of each row, ``sum_k phi_k columns[k, :, chosen]``."""
    K, n, _ = columns.shape
    for j in range(n):
        for i in range(size):
            images[j, i] = 0.0
        for k in range(K):
            for i in range(size):
                images[j, i] += block.features[k, i] * columns[k, j, block.chosen[i]]
