r"""Compiled kernels: nearest points, and Algorithm 2's inner problem (12), (26b).

A kernel calls kernels of this file, and two of `solvers.oracle_kernels`: `latent_cost`, and
`minimize_twice`, which minimises one cost over the minimisers of another in a coded set. In the
order of the file:

- the point of ``{M z : z in Z}`` nearest to a target. Wolfe's method serves all sets that have
  vertices: a corral of vertices, and the nearest point of their affine hull. A Euclidean ball goes
  through its secular equation instead;
- the smoothed programs of Algorithm 2 for one map. With b fixed the samples separate. A sample of
  either loss asks for

  .. math:: \min_{y,\, z \in Z,\, t} \; \|x - y\|^2 + \epsilon_1 \|y - Az - b\|^2
            + \gamma_o^2 + \epsilon_2 D(t) \quad \text{s.t.} \quad c'(y - b) - t \le \gamma_o,

  with :math:`D(t) = \min_v \{\|v - q\|^2 : \min_{z \in Z} v'z \ge t\}`, the price of a larger
  latent minimum (:math:`v = H'\lambda`, :math:`t = \lambda'h`). Predictability has
  :math:`\gamma_o = 0`; suboptimality has y = x and :math:`\epsilon_1 = 1`. Given the multiplier
  :math:`\epsilon_2 \nu` of the row that couples y and t, both halves are projections:

  - :math:`Az + b` is the point of the region nearest to :math:`x - \epsilon_2 \nu c / 2`, and y
    lies between the two;
  - :math:`v = q + r z, \; z = \arg\min_{z \in Z} \|q + r z\|, \; r = \nu / 2, \;
    t(\nu) = v'z, \; D = r^2 \|z\|^2`, and :math:`\gamma_o = \epsilon_2 \nu / 2`.

  What is left is one number: :math:`c'(y(\nu) - b) - \gamma_o(\nu) = t(\nu)`. The left side falls
  and the right side grows, both linearly piece by piece where Z is polyhedral, so Newton's method
  inside a bracket ends after a few steps at an exact answer.

The second half, set by set:

- simplex: entries of q below a water level s rise to it, :math:`\sum_k (s - q_k)_+ = r`, and t = s;
- L2 ball: q shrinks by r, and t = -(|q| - r), not above zero;
- others: the point of least norm of a set that has vertices, scaled by r and moved by q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.solvers.oracle_kernels import (
    L2_BALL,
    SIMPLEX,
    SetCode,
    latent_cost,
    minimize_twice,
)

Array = NDArray[np.float64]


# The point of an image {M z : z in Z} nearest to a target, in the Euclidean norm.

#: Relative gap at which the nearest point is accepted.
GAP = 1e-14
#: Weights below which a vertex leaves the corral.
NO_WEIGHT = 1e-14
#: Steps of Wolfe's method at most; each comes nearer.
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
def combine(weights: Array, vectors: Array, size: int, total: Array) -> float:
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
def settle(points: Array, latents: Array, weights: Array, trial: Array, size: int) -> int:
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
        scale = 0.0
        for j in range(size):
            scale = max(scale, residual_of(M, latents[j], target, points[j]))
        size = settle(points, latents, weights, trial, size)
        square = combine(weights, points, size, x)
    least, gap = np.inf, 0.0
    for _ in range(MAX_STEPS):
        # Every step comes nearer; one that does not is rounding.
        if square >= least:
            break
        least = square
        combine(weights, latents, size, z)
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
        size = settle(points, latents, weights, trial, size + 1)
        square = combine(weights, points, size, x)
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


def code_of(Z: PrimitiveSet) -> SetCode | None:
    """Return what kernels read of a set, or None where a solver serves it."""
    code = Z.code()
    return code if code is not None and len(code.kinds) == 1 else None


def projection_code(Z: PrimitiveSet) -> SetCode | None:
    """Return what kernels read of a set that they project on: a convex one."""
    return None if Z.discrete else code_of(Z)


@kernel
def nearest_rows(
    code: SetCode, M: Array, targets: Array, Q: Array, tolerances: Array, Z: Array
) -> None:
    """Write into each row of ``Z`` the minimiser of ``|M z - target|`` over ``argmin q'z``.

    For sets that it serves, see `projection_code`.
    """
    n, p = M.shape[1], M.shape[2]
    corral, r = new_corral(n, p), np.empty(min(n, p))
    # A plain 0 would compile once more, for the number 0.
    none = int(np.int64(0))
    for i in range(len(M)):
        if code.kinds[0] != L2_BALL:
            nearest_on_corral(code, M[i], targets[i], Q[i], tolerances[i], corral, none, Z[i])
        elif minimize_twice(code, Q[i], tolerances[i], Q[i], Z[i]):
            nearest_in_image(ball_image(M[i]), targets[i], r, Z[i])


@inner_kernel
def map_at(A: Array, phi: Array, M: Array) -> None:
    """Write ``A(s)``."""
    K, n, p = A.shape
    M[:] = 0.0
    for k in range(K):
        for j in range(n):
            for column in range(p):
                M[j, column] += phi[k] * A[k, j, column]


@inner_kernel
def add_gradient(phi: Array, d: Array, z: Array, weight: float, dA: Array, db: Array) -> None:
    """Add ``weight phi_k d z'`` to each ``dA[k]`` and ``weight phi_k d`` to each ``db[k]``."""
    K, n, p = dA.shape
    for k in range(K):
        for j in range(n):
            step = weight * phi[k] * d[j]
            if step != 0.0:
                db[k, j] += step
                for column in range(p):
                    if z[column] != 0.0:
                        dA[k, j, column] += step * z[column]


# The dual half of Algorithm 2's inner problem.


@inner_kernel
def _on_simplex(q: Array, r: float, z: Array) -> tuple[float, float]:
    """Find the level s with ``sum (s - q_k)_+ = r``."""
    level, count = float(np.min(q)) + r, 1
    for _ in range(q.size + 1):
        total, below = 0.0, 0
        for k in range(q.size):
            if q[k] < level:
                total += q[k]
                below += 1
        if below == 0:
            break
        count = below
        lower = (r + total) / below
        if lower >= level:
            break
        level = lower
    for k in range(q.size):
        z[k] = max(level - q[k], 0.0) / r
    return level, 0.5 / count


@inner_kernel
def _on_ball(q: Array, r: float, z: Array) -> tuple[float, float]:
    norm = np.sqrt(np.sum(q * q))
    for k in range(q.size):
        z[k] = -q[k] / max(norm, r)
    return min(r - norm, 0.0), 0.5 if r < norm else 0.0


@inner_kernel
def _by_vertices(code: SetCode, q: Array, r: float, z: Array) -> tuple[float, float]:
    p = q.size
    corral = new_corral(p, p)
    M, target, zero = np.zeros((p, p)), np.empty(p), np.zeros(p)
    for k in range(p):
        M[k, k] = r
        target[k] = -q[k]
    size = nearest_on_corral(code, M, target, zero, 0.0, corral, int(np.int64(0)), z)[1]
    t, square = 0.0, 0.0
    for k in range(p):
        t += (q[k] + r * z[k]) * z[k]
        square += corral.latents[0, k] ** 2
    return t, 0.5 * (square - span_square(corral, size, corral.latents[0]))


@inner_kernel
def lifted_cost(code: SetCode, q: Array, nu: float, z: Array) -> tuple[float, float]:
    """Write z, and return t and its derivative in ``nu``; at zero, the minimum of q over Z."""
    if nu == 0.0:
        minimize_twice(code, q, 0.0, q, z)
        return float(np.sum(q * z)), 0.5 * float(np.sum(z * z))
    if code.kinds[0] == SIMPLEX:
        return _on_simplex(q, 0.5 * nu, z)
    if code.kinds[0] == L2_BALL:
        return _on_ball(q, 0.5 * nu, z)
    return _by_vertices(code, q, 0.5 * nu, z)


# Algorithm 2's inner problem, sample by sample.


MOST_NEWTON = 200


#: Relative to the terms of the equation: a root this good is exact, and one that is worse than the
#: second number is not believed.
EXACT, BELIEVED = 1e-13, 1e-9


class Smoothing(NamedTuple):
    """Weights of the smoothed program: distance to the region, dual slack, and rho.

    ``exact`` says that y is x itself (suboptimality).
    """

    distance: float
    dual: float
    rho: float
    exact: bool


class SampleRow(NamedTuple):
    """One sample: offset decision ``x - b``, its map A, and the scaled map that is projected on.

    ``g`` is minus the derivative of the projected target, up to the factor ``dual / 2``; y is kept
    without the offset too, and ``lifted`` is the latent point of `lifted_cost`.
    """

    c: Array
    q: Array
    x: Array
    g: Array
    A: Array
    M: Array
    target: Array
    y: Array
    z: Array
    lifted: Array
    zero: Array


@inner_kernel
def new_row(n: int, p: int) -> SampleRow:
    """Return the workspace of one sample."""
    return SampleRow(
        np.empty(n),
        np.empty(p),
        np.empty(n),
        np.empty(n),
        np.empty((n, p)),
        np.empty((n, p)),
        np.empty(n),
        np.empty(n),
        np.empty(p),
        np.empty(p),
        np.zeros(p),
    )


@inner_kernel
def weigh(row: SampleRow, smoothing: Smoothing) -> float:
    """Write the scaled map and what follows from it; return its scale."""
    weight = smoothing.distance
    if not smoothing.exact:
        weight /= 1.0 + smoothing.distance
    root = np.sqrt(weight)
    for j in range(row.c.size):
        row.g[j] = 0.0 if smoothing.exact else row.c[j] * root
        for k in range(row.q.size):
            row.M[j, k] = root * row.A[j, k]
    return float(root)


@inner_kernel
def _ball_slope(ball: BallImage, t: float, r: Array, g: Array) -> float:
    """Return ``g'Pg``, P the derivative of the projection onto the image of the unit ball."""
    singular = ball.singular
    total, bent, curvature = 0.0, 0.0, 0.0
    for j in range(singular.size):
        along = 0.0
        for i in range(g.size):
            along += ball.U[i, j] * g[i]
        shifted = singular[j] * singular[j] + t
        z = singular[j] * r[j] / shifted
        total += (singular[j] * along) ** 2 / shifted
        bent += z * singular[j] * along / shifted
        curvature += z * z / shifted
    return total - bent * bent / curvature if t > 0.0 else total


@inner_kernel
def _place(row: SampleRow, nu: float, smoothing: Smoothing) -> tuple[float, float, float]:
    """Write y for the latent point found; return ``c'(y - b)``, its size and its direct slope."""
    total, size, slope = 0.0, 0.0, 0.0
    push = 0.5 * smoothing.dual * nu
    for j in range(row.c.size):
        image = 0.0
        for k in range(row.q.size):
            image += row.A[j, k] * row.z[k]
        if smoothing.exact:
            row.y[j] = row.x[j]
        else:
            weight = 1.0 + smoothing.distance
            row.y[j] = (row.x[j] - push * row.c[j] + smoothing.distance * image) / weight
            slope -= 0.5 * smoothing.dual * row.c[j] * row.c[j] / weight
        total += row.c[j] * row.y[j]
        size += abs(row.c[j] * row.y[j]) + abs(row.c[j] * row.x[j])
    return total, size, slope


@inner_kernel
def _following(nu: float, excess: float, slope: float, low: float, high: float) -> float:
    """Return the next multiplier to try: Newton's, if that lies in the bracket."""
    newton = nu - excess / slope if slope < 0.0 else np.inf
    if newton <= 0.0 and low == 0.0:
        return 0.0
    if low < newton < high:
        return newton
    return 0.5 * (low + high) if high < np.inf else 2.0 * nu + 1.0


@inner_kernel
def find_multiplier(
    code: SetCode,
    row: SampleRow,
    root: float,
    ball: BallImage,
    smoothing: Smoothing,
    corral: Corral,
    start: float,
) -> tuple[float, float]:
    """Return the multiplier, and how far it and the projection are from optimal."""
    low, high, nu = 0.0, np.inf, start
    along, residual, gap = 0.0, np.inf, 0.0
    # A plain 0 would compile once more, for the number 0.
    size, half = int(np.int64(0)), 0.5 * smoothing.dual
    for step in range(MOST_NEWTON):
        if step == 0 or not smoothing.exact:
            # The decision, pushed against its cost.
            for j in range(row.c.size):
                row.target[j] = root * row.x[j] - half * nu * row.g[j]
            if ball.singular.size > 0:
                r = np.empty(ball.U.shape[1])
                shift = nearest_in_image(ball, row.target, r, row.z)
                along = _ball_slope(ball, shift, r, row.g)
            else:
                for _ in range(2):
                    _, size, gap = nearest_on_corral(
                        code, row.M, row.target, row.zero, 0.0, corral, size, row.z
                    )
                    if gap <= EXACT:
                        break
                    size = 0  # vertices of another map can mislead
                along = span_square(corral, size, row.g)
        level, scale, slope = _place(row, nu, smoothing)
        t, rise = lifted_cost(code, row.q, nu, row.lifted)
        excess = level - smoothing.rho * nu - t
        slope -= half * along + smoothing.rho + rise
        scale += abs(t) + smoothing.rho * nu
        residual = abs(excess) / scale if scale > 0.0 else 0.0
        if nu == 0.0 and excess <= 0.0:
            residual = 0.0
        if excess > 0.0:
            low = nu
        else:
            high = nu
        if residual <= EXACT or (high < np.inf and high - low <= 1e-15 * high):
            break
        nu = _following(nu, excess, slope, low, high)
    return nu, max(residual, gap)


@inner_kernel
def smoothed_value(row: SampleRow, smoothing: Smoothing, nu: float, slacks: Array) -> float:
    """Return the smoothed loss; write the squares of the two slacks, and ``Az - y`` into target."""
    fit, apart, dual = 0.0, 0.0, 0.0
    for j in range(row.c.size):
        image = 0.0
        for k in range(row.q.size):
            image += row.A[j, k] * row.z[k]
        row.target[j] = image - row.y[j]
        apart += row.target[j] ** 2
        fit += (row.x[j] - row.y[j]) ** 2
    for k in range(row.q.size):
        dual += (0.5 * nu * row.lifted[k]) ** 2
    slacks[0] = 0.0 if smoothing.exact else apart
    slacks[1] = dual
    over = smoothing.rho * nu
    return fit + smoothing.distance * apart + over * over + smoothing.dual * dual


@inner_kernel
def _read(A: Array, b: Array, phi: Array, c: Array, x: Array, row: SampleRow) -> None:
    """Write one sample and its map into ``row``."""
    for j in range(c.size):
        row.c[j], row.x[j] = c[j], x[j]
        for k in range(phi.size):
            row.x[j] -= phi[k] * b[k, j]
    latent_cost(A, phi, c, row.q)
    map_at(A, phi, row.A)


@kernel
def smoothed_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    smoothing: Smoothing,
    multipliers: Array,
    values: Array,
    slacks: Array,
    dA: Array,
    db: Array,
) -> None:
    """Write the smoothed loss and squared slacks of each row; add to the gradient.

    The search of each row begins at its multiplier, and leaves there where it ended. The value of
    rows that were not solved to optimality is NaN, and nothing is added for them.
    """
    n, p = A.shape[1], A.shape[2]
    row, corral, ball = new_row(n, p), new_corral(n, p), ball_image(np.zeros((1, 1)))
    for i in range(Phi.shape[0]):
        _read(A, b, Phi[i], C[i], X[i], row)
        root = weigh(row, smoothing)
        if code.kinds[0] == L2_BALL:
            ball = ball_image(row.M)
        nu, residual = find_multiplier(code, row, root, ball, smoothing, corral, multipliers[i])
        if not residual <= BELIEVED:
            values[i] = np.nan
            continue
        multipliers[i] = nu
        values[i] = smoothed_value(row, smoothing, nu, slacks[i])
        for j in range(n):
            row.target[j] *= 2.0 * smoothing.distance
            row.y[j] = -smoothing.dual * nu * row.c[j]
        add_gradient(Phi[i], row.target, row.z, weights[i], dA, db)
        if nu > 0.0:
            add_gradient(Phi[i], row.y, row.lifted, weights[i], dA, db)
