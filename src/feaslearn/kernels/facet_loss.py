"""Squared predictability of a region given by rows, with its gradient in every number of it.

At an optimum the basic entries of x solve a square system in the active rows, and the final tableau
holds its inverse: ``dx_basic/dr = T`` for nonbasic slacks and ``dx_basic/dx_j = -T`` for entries
at a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel
from feaslearn.kernels.small_lp import OPTIMAL, Workspace, solve_one

Array = NDArray[np.float64]


@kernel
def facet_loss(
    work: Workspace,
    G: Array,
    H: Array,
    L: Array,
    U: Array,
    slack: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    importance: Array,
    penalty: float,
    dG: Array,
    dH: Array,
    dL: Array,
    dU: Array,
) -> float:
    """Return the weighted loss; add its gradient in ``G``, ``H``, ``L`` and ``U``.

    Rows are ``G x <= H phi`` (equalities where the slack is 0), bounds ``L phi <= x <= U phi``.
    ``importance`` weighs the squared errors of the decisions. A sample whose region is empty
    costs ``penalty`` and has no gradient.
    """
    m, n = G.shape
    low, high = np.zeros(n + m), np.empty(n + m)
    high[n:] = slack
    y, g, total = np.empty(n), np.empty(n), 0.0
    for i in range(Phi.shape[0]):
        phi = Phi[i]
        r = H @ phi
        low[:n] = L @ phi
        high[:n] = U @ phi
        if solve_one(work, G, r, C[i], low, high, y) != OPTIMAL:
            total += weights[i] * penalty
            continue
        for j in range(n):
            e = 0.0 if np.isnan(X[i, j]) else y[j] - X[i, j]
            g[j] = 2.0 * weights[i] * importance[j] * e
            total += weights[i] * importance[j] * e * e
        for j in range(n):
            variable = work.nonbasic[j]
            push = 0.0
            for row in range(m):
                if work.basic[row] < n:
                    push += g[work.basic[row]] * work.T[row, j]
            if variable >= n:
                dH[variable - n] += push * phi
                dG[variable - n] -= push * y
            elif work.at_upper[variable]:
                dU[variable] += (g[variable] - push) * phi
            else:
                dL[variable] += (g[variable] - push) * phi
    return total
