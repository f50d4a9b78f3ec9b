"""Norms of a residual and their derivatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel

Array = NDArray[np.float64]

SQUARED_L2 = 0
L2 = 1
L1 = 2
LINF = 3


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
