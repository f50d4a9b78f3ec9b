"""The point of the image ``{M z : |z| <= 1}`` of a ball that is nearest to a target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel
from feaslearn.kernels.corral import residual_of, slope_of

Array = NDArray[np.float64]


@inner_kernel
def _secular_root(singular: Array, r: Array) -> float:
    """Return the ``t >= 0`` with ``|S r / (S^2 + t)| = 1``; zero where that is shorter at zero.

    Newton's method on ``1 / |z| - 1``, which is almost linear in t.
    """
    t = 0.0
    for _ in range(200):
        value, slope = 0.0, 0.0
        for j in range(singular.size):
            shifted = singular[j] * singular[j] + t
            part = (singular[j] * r[j] / shifted) ** 2
            value += part
            slope += 2.0 * part / shifted
        if value <= 1.0:
            break
        step = 2.0 * value * (np.sqrt(value) - 1.0) / slope
        t += step
        if step <= 1e-15 * t:
            break
    return t


class BallImage(NamedTuple):
    """``M = U S V'``; ``singular`` leaves out what is zero in S."""

    U: Array
    singular: Array
    Vt: Array


@inner_kernel
def ball_image(M: Array) -> BallImage:
    """Return the singular vectors and values of ``M`` that are not zero."""
    U, singular, Vt = np.linalg.svd(M, full_matrices=False)
    rank = 0
    while rank < singular.size and singular[rank] > 1e-13 * singular[0]:
        rank += 1
    return BallImage(U, singular[:rank], Vt)


@inner_kernel
def nearest_in_image(ball: BallImage, target: Array, r: Array, z: Array) -> float:
    """Write ``r = U' target`` and the minimiser z over the unit ball; return its multiplier.

    ``z = V (S r / (S^2 + t))``, where ``t = 0`` if that lies in the ball and otherwise solves
    ``|z| = 1`` (the secular equation).
    """
    U, singular, Vt = ball
    slope_of(U, target, r)
    t = _secular_root(singular, r)
    z[:] = 0.0
    for j in range(singular.size):
        weight = singular[j] * r[j] / (singular[j] * singular[j] + t)
        for k in range(z.size):
            z[k] += weight * Vt[j, k]
    return t


@inner_kernel
def nearest_in_ball(M: Array, target: Array, z: Array) -> float:
    """Write into ``z`` the minimiser of ``|M z - target|`` over the unit ball; return it squared.

    With ``M = U S V'``; see `nearest_in_image`.
    """
    ball = ball_image(M)
    nearest_in_image(ball, target, np.empty(ball.U.shape[1]), z)
    return residual_of(M, z, target, np.empty(M.shape[0]))
