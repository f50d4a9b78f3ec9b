"""What rounding does to latent costs.

Where a cost is at right angles to the whole region (equal prices, a balance that always holds),
``A(s)'c`` is zero and every point is optimal; computed, it is a few times 1e-17 and looks like a
cost. No difference that rounding alone can make may break a tie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel

Array = NDArray[np.float64]

#: Rounding changes a sum by less than this share of the sum of its terms' sizes.
ROUNDING = 1e-14


@inner_kernel
def entry_sizes(A: Array) -> Array:
    """Return the largest ``|A[k, j, column]|`` over the columns, for each k and j."""
    K, n, p = A.shape
    sizes = np.zeros((K, n))
    for k in range(K):
        for j in range(n):
            for column in range(p):
                sizes[k, j] = max(sizes[k, j], abs(A[k, j, column]))
    return sizes


@inner_kernel
def rounding_of(sizes: Array, phi: Array, c: Array) -> float:
    """Return what rounding can do to an entry of ``A(s)'c``, given the sizes of A's entries."""
    total = 0.0
    for k in range(phi.size):
        for j in range(c.size):
            total += abs(phi[k] * c[j]) * sizes[k, j]
    return ROUNDING * total
