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
def new_corral(n: int, p: int) -> Corral:
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
def _first_vertex(
    code: SetCode, M: Array, target: Array, q: Array, tolerance: float, corral: Corral
) -> float:
    """Begin with the vertex that lies farthest in the direction of the target."""
    points, latents, weights, _, x, slope = corral
    for i in range(x.size):
        x[i] = -target[i]
    slope_of(M, x, slope)
    minimize_twice(code, q, tolerance, slope, latents[0])
    square = residual_of(M, latents[0], target, points[0])
    weights[0] = 1.0
    for i in range(x.size):
        x[i] = points[0, i]
    return square


@inner_kernel
def _moved(M: Array, target: Array, corral: Corral, size: int) -> float:
    """Bring the points to a new target; return the largest of their squares."""
    largest = 0.0
    for j in range(size):
        largest = max(largest, residual_of(M, corral.latents[j], target, corral.points[j]))
    return largest


@inner_kernel
def nearest_on_corral(
    code: SetCode,
    M: Array,
    target: Array,
    q: Array,
    tolerance: float,
    corral: Corral,
    size: int,
    z: Array,
) -> tuple[float, int, float]:
    """Write the nearest latent point into ``z``; return its square and the size of the corral.

    With a positive ``size``, the corral of a search with another target or map is the start: its
    vertices often are the ones that are needed again. The third number says how far the answer is
    from optimal, relative to its terms.
    """
    points, latents, weights, trial, x, slope = corral
    n = M.shape[0]
    if size == 0:
        scale = square = _first_vertex(code, M, target, q, tolerance, corral)
        size = 1
    else:
        scale = _moved(M, target, corral, size)
        size = _settle(points, latents, weights, trial, size)
        square = _combine(weights, points, size, x)
    least, gap = np.inf, 0.0
    for _ in range(MAX_STEPS):
        # Every step comes nearer; one that does not is rounding.
        if square >= least:
            break
        least = square
        _combine(weights, latents, size, z)
        slope_of(M, x, slope)
        minimize_twice(code, q, tolerance, slope, latents[size])
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
    return least, size, gap / scale if scale > 0.0 else 0.0


@inner_kernel
def span_square(corral: Corral, size: int, g: Array) -> float:
    """Return the square of the part of ``g`` along the face that a corral spans.

    ``g`` lives where the points do, and the points are overwritten by a basis of their span.
    """
    points = corral.points
    total = 0.0
    for j in range(1, size):
        before = 0.0
        for i in range(g.size):
            points[j, i] -= points[0, i]
            before += points[j, i] * points[j, i]
        for known in range(1, j):
            inner = 0.0
            for i in range(g.size):
                inner += points[known, i] * points[j, i]
            for i in range(g.size):
                points[j, i] -= inner * points[known, i]
        after, along = 0.0, 0.0
        for i in range(g.size):
            after += points[j, i] * points[j, i]
        root = np.sqrt(after) if after > 1e-24 * before else np.inf
        for i in range(g.size):
            points[j, i] /= root
            along += points[j, i] * g[i]
        total += along * along
    return total


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
    """Whether `nearest` serves this set: convex, and balls only alone, not inside a product."""
    if BINARY_POINTS in code.kinds:
        return False
    return len(code.kinds) == 1 or L2_BALL not in code.kinds


@kernel
def nearest(code: SetCode, M: Array, target: Array, q: Array, tolerance: float, z: Array) -> float:
    """Write into ``z`` the minimiser of ``|M z - target|`` over ``argmin q'z``; return it squared.

    For sets that it serves, see `can_project`. Rows of ``M`` that are zero where ``target`` is zero
    do not count (unobserved decisions).
    """
    if code.kinds[0] == L2_BALL and code.kinds.size == 1:
        if minimize_twice(code, q, tolerance, q, z):
            ball = ball_image(M)
            nearest_in_image(ball, target, np.empty(ball.U.shape[1]), z)
        return residual_of(M, z, target, np.empty(M.shape[0]))
    corral = new_corral(*M.shape)
    # A plain 0 would compile once more, for the number 0.
    return nearest_on_corral(code, M, target, q, tolerance, corral, int(np.int64(0)), z)[0]


@kernel
def nearest_rows(code: SetCode, M: Array, targets: Array, Z: Array) -> None:
    """Write into each row of ``Z`` the latent point whose image is nearest to that target."""
    q = np.zeros(M.shape[1])
    for i in range(targets.shape[0]):
        nearest(code, M, targets[i], q, 0.0, Z[i])
