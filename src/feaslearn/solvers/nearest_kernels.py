"""The point of an image ``{M z : z in Z}`` nearest to a target, in the Euclidean norm.

Wolfe's method serves all sets that have vertices: a corral of vertices, and the nearest point of
their affine hull. A Euclidean ball goes through its secular equation instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.solvers.oracle_kernels import BINARY_POINTS, L2_BALL, SetCode, minimize_twice

Array = NDArray[np.float64]

GAP = 1e-14
NO_WEIGHT = 1e-14
MAX_STEPS = 10_000


@inner_kernel
def _affine_minimizer(points: Array, size: int, weights: Array) -> None:
    """Weights (summing to one) of the point nearest to zero in the affine hull of ``points``.

    Householder least squares on the differences to the first point, with the right-hand side as
    the last column. There are at most ``n + 1`` points.
    """
    n, m = points.shape[1], size - 1
    D = np.empty((n, m + 1))
    for i in range(n):
        for j in range(m):
            D[i, j] = points[j + 1, i] - points[0, i]
        D[i, m] = -points[0, i]
    for j in range(m):
        norm = 0.0
        for i in range(j, n):
            norm += D[i, j] * D[i, j]
        norm = np.sqrt(norm)
        if norm == 0.0:
            continue
        alpha = -norm if D[j, j] > 0.0 else norm
        head = D[j, j] - alpha
        for column in range(j + 1, m + 1):
            total = head * D[j, column]
            for i in range(j + 1, n):
                total += D[i, j] * D[i, column]
            total /= alpha * head
            D[j, column] += total * head
            for i in range(j + 1, n):
                D[i, column] += total * D[i, j]
        D[j, j] = alpha
    weights[0] = 1.0
    for j in range(m - 1, -1, -1):
        value = D[j, m]
        for i in range(j + 1, m):
            value -= D[j, i] * weights[i + 1]
        weights[j + 1] = value / D[j, j] if D[j, j] != 0.0 else 0.0
        weights[0] -= weights[j + 1]


@inner_kernel
def _shrink(points: Array, latents: Array, old: Array, new: Array, size: int) -> int:
    """Move from ``old`` weights toward ``new`` until one vanishes; drop what vanished."""
    step = 1.0
    for j in range(size):
        if new[j] <= NO_WEIGHT and old[j] > new[j]:
            step = min(step, old[j] / (old[j] - new[j]))
    kept = 0
    for j in range(size):
        weight = (1.0 - step) * old[j] + step * new[j]
        # A point that has little weight because it is new stays.
        if weight > NO_WEIGHT or new[j] > NO_WEIGHT:
            # Entry by entry: an array assigned to an array takes seconds to compile.
            for i in range(points.shape[1]):
                points[kept, i] = points[j, i]
            for k in range(latents.shape[1]):
                latents[kept, k] = latents[j, k]
            old[kept] = weight
            kept += 1
    total = 0.0
    for j in range(kept):
        total += old[j]
    for j in range(kept):
        old[j] /= total
    return kept


@inner_kernel
def _combine(weights: Array, vectors: Array, size: int, total: Array) -> float:
    """Write the weighted sum of the first rows of ``vectors`` and return its square."""
    square = 0.0
    for k in range(total.size):
        total[k] = 0.0
        for j in range(size):
            total[k] += weights[j] * vectors[j, k]
        square += total[k] * total[k]
    return square


@inner_kernel
def residual_of(M: Array, z: Array, target: Array, point: Array) -> float:
    """Write ``M z - target`` and return its square."""
    square = 0.0
    for i in range(M.shape[0]):
        total = -target[i]
        for k in range(M.shape[1]):
            total += M[i, k] * z[k]
        point[i] = total
        square += total * total
    return square


@inner_kernel
def slope_of(M: Array, x: Array, slope: Array) -> None:
    """Write ``M'x``."""
    for k in range(M.shape[1]):
        slope[k] = 0.0
        for i in range(M.shape[0]):
            slope[k] += M[i, k] * x[i]


@inner_kernel
def _settle(points: Array, latents: Array, weights: Array, trial: Array, size: int) -> int:
    """Move the weights to the nearest point of the affine hull, dropping vertices on the way."""
    while True:
        _affine_minimizer(points, size, trial)
        inside = True
        for j in range(size):
            inside = inside and trial[j] > NO_WEIGHT
        if inside:
            for j in range(size):
                weights[j] = trial[j]
            return size
        smaller = _shrink(points, latents, weights, trial, size)
        if smaller == size:
            return size
        size = smaller


class Corral(NamedTuple):
    """What `nearest_on_corral` works with: vertices of the image, their latents and weights.

    ``points`` holds ``M z - target`` for each latent vertex z.
    """

    points: Array
    latents: Array
    weights: Array
    trial: Array
    x: Array
    slope: Array


@inner_kernel
def _new_corral(n: int, p: int) -> Corral:
    """Return room for the vertices of an image of p entries in n dimensions."""
    return Corral(
        np.empty((n + 2, n)),
        np.empty((n + 2, p)),
        np.zeros(n + 2),
        np.zeros(n + 2),
        np.empty(n),
        np.empty(p),
    )


@inner_kernel
def _first_vertex(code: SetCode, M: Array, target: Array, zero: Array, corral: Corral) -> float:
    """Begin with the vertex that lies farthest in the direction of the target."""
    points, latents, weights, _, x, slope = corral
    for i in range(x.size):
        x[i] = -target[i]
    slope_of(M, x, slope)
    minimize_twice(code, zero, 0.0, slope, latents[0])
    square = residual_of(M, latents[0], target, points[0])
    weights[0] = 1.0
    for i in range(x.size):
        x[i] = points[0, i]
    return square


@inner_kernel
def _nearest_on_corral(code: SetCode, M: Array, target: Array, z: Array) -> None:
    """Write the nearest latent point into ``z``."""
    corral = _new_corral(*M.shape)
    points, latents, weights, trial, x, slope = corral
    n, zero = M.shape[0], np.zeros(M.shape[1])
    scale = square = _first_vertex(code, M, target, zero, corral)
    size, least = 1, np.inf
    for _ in range(MAX_STEPS):
        # Every step comes nearer; one that does not is rounding.
        if square >= least:
            break
        least = square
        _combine(weights, latents, size, z)
        slope_of(M, x, slope)
        minimize_twice(code, zero, 0.0, slope, latents[size])
        scale = max(scale, residual_of(M, latents[size], target, points[size]))
        gap = square
        for i in range(n):
            gap -= x[i] * points[size, i]
        # Relative to |x|: a tolerance on the gap alone would stop at the root of it where the
        # target is inside. More than n + 1 points are never needed.
        if size > n or gap <= GAP * np.sqrt(square * scale) or square <= GAP * GAP * scale:
            break
        weights[size] = 0.0
        size = _settle(points, latents, weights, trial, size + 1)
        square = _combine(weights, points, size, x)


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


def can_project(code: SetCode) -> bool:
    """Whether `nearest_rows` serves this set: convex, and balls only alone, not in a product."""
    if BINARY_POINTS in code.kinds:
        return False
    return len(code.kinds) == 1 or L2_BALL not in code.kinds


@kernel
def nearest_rows(code: SetCode, M: Array, targets: Array, Z: Array) -> None:
    """Write into each row of ``Z`` the latent point whose image is nearest to that target.

    For sets that it serves, see `can_project`. Rows of ``M`` that are zero where a target is zero
    do not count (unobserved decisions).
    """
    for i in range(targets.shape[0]):
        if code.kinds[0] == L2_BALL and code.kinds.size == 1:
            ball = ball_image(M)
            nearest_in_image(ball, targets[i], np.empty(ball.U.shape[1]), Z[i])
        else:
            _nearest_on_corral(code, M, targets[i], Z[i])
