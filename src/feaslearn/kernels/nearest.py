"""The point of an image ``{M z : z in Z}`` nearest to a target, in the Euclidean norm.

Wolfe's method serves all sets that have vertices. A Euclidean ball has no finite list of vertices
and goes through its secular equation instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import kernel
from feaslearn.kernels.corral import nearest_by_vertices
from feaslearn.kernels.oracle import minimize_twice
from feaslearn.kernels.set_code import BINARY_POINTS, L2_BALL, SetCode
from feaslearn.kernels.simplex_rows import nearest_in_ball

Array = NDArray[np.float64]


def can_project(code: SetCode) -> bool:
    """Whether `nearest` serves this set: convex, and balls only alone, not inside a product."""
    if BINARY_POINTS in code.kinds:
        return False
    return len(code.kinds) == 1 or L2_BALL not in code.kinds


@kernel
def nearest(code: SetCode, M: Array, target: Array, q: Array, tolerance: float, z: Array) -> float:
    """Nearest point over the minimisers of ``q'z`` in a coded set; see `can_project`."""
    if code.kinds[0] == L2_BALL and code.kinds.size == 1:
        if minimize_twice(code, q, tolerance, q, z):
            return nearest_in_ball(M, target, z)
        residual = M @ z - target
        return float(np.sum(residual * residual))
    return nearest_by_vertices(code, M, target, q, tolerance, z)


@kernel
def nearest_rows(code: SetCode, M: Array, targets: Array, Z: Array) -> None:
    """Write into each row of ``Z`` the latent point whose image is nearest to that target."""
    q = np.zeros(M.shape[1])
    for i in range(targets.shape[0]):
        nearest(code, M, targets[i], q, 0.0, Z[i])
