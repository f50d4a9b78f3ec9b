"""The condensed tableau of a small linear program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Workspace(NamedTuple):
    """The tableau of one program, and after it is solved what its optimum rests on.

    ``x_basic = b - T x_nonbasic``; variables are the n entries of x, then the m slacks.
    """

    T: Array
    d: Array
    basic: Indices
    nonbasic: Indices
    at_upper: NDArray[np.bool_]
    flips: NDArray[np.bool_]
    values: Array


def workspace(m: int, n: int) -> Workspace:
    """Return room for programs with m rows and n entries."""
    return Workspace(
        np.empty((m, n)),
        np.empty(n),
        np.empty(m, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n + m, dtype=np.bool_),
        np.empty(n, dtype=np.bool_),
        np.empty(m),
    )


@kernel
def pivot(T: Array, d: Array, row: int, column: int) -> None:
    """Exchange the basic variable of ``row`` with the nonbasic one of ``column``."""
    m, n = T.shape
    inverse = 1.0 / T[row, column]
    for j in range(n):
        T[row, j] *= inverse
    for i in range(m):
        factor = T[i, column]
        if i != row and factor != 0.0:
            for j in range(n):
                T[i, j] -= factor * T[row, j]
            T[i, column] = -factor * inverse
    factor = d[column]
    for j in range(n):
        d[j] -= factor * T[row, j]
    d[column] = -factor * inverse
    T[row, column] = inverse
