r"""The smoothed programs of Algorithm 2 for one map, sample by sample, without a solver.

With b fixed the samples separate. A sample of either loss asks for

.. math:: \min_{y,\, z \in Z,\, t} \; \sum_j w_j (x_j - y_j)^2 + \epsilon_1 \|y - Az - b\|^2
          + \gamma_o^2 + \epsilon_2 D(t) \quad \text{s.t.} \quad c'(y - b) - t \le \gamma_o.

Predictability has :math:`\gamma_o = 0` and :math:`w_j = 1`; suboptimality has y = x and
:math:`\epsilon_1 = 1`. D is the price of a larger latent minimum, see `lifted_cost`. Given the
multiplier :math:`\epsilon_2 \nu` of the row that couples y and t, both halves are projections:

- :math:`Az + b` is the point of the region nearest to :math:`x - \epsilon_2 \nu c / (2w)`, in the
  norm with weights :math:`w_j \epsilon_1 / (w_j + \epsilon_1)`, and y lies between the two;
- t comes from `lifted_cost`, and :math:`\gamma_o = \rho \nu` with :math:`\rho = \epsilon_2 / 2`
  (zero for predictability).

What is left is one number: :math:`c'(y(\nu) - b) - \rho \nu = t(\nu)`. The left side falls and the
right side grows, both linearly piece by piece where Z is polyhedral, so Newton's method inside a
bracket ends after a few steps at an exact answer. Decisions that were not observed have weight
zero; they are found by a proximal iteration that gives them a small weight around their last value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.kernels import add_gradient, map_at
from feaslearn.sets.image_kernels import latent_cost
from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.solvers.nearest_kernels import (
    BallImage,
    Corral,
    ball_image,
    nearest_in_image,
    nearest_on_corral,
    new_corral,
    span_square,
)
from feaslearn.solvers.oracle_kernels import L2_BALL, SetCode
from feaslearn.trainers.lifted_cost_kernels import (
    lifted_cost,
    lifted_cost_by_vertices,
    lists_points,
)

Array = NDArray[np.float64]

MAX_STEPS = 200
#: Relative to the terms of the equation: a root this good is exact, and one that is worse than the
#: second number is not believed.
EXACT, BELIEVED = 1e-13, 1e-9
#: Weight of unobserved decisions, relative to the least of the others.
PROXIMAL = 1e-4

#: Proximal steps for unobserved decisions.
MAX_PROXIMAL = 500


class Smoothing(NamedTuple):
    """Weights of the smoothed program: distance to the region, dual slack, and rho.

    ``exact`` says that y is x itself (suboptimality).
    """

    distance: float
    dual: float
    rho: float
    exact: bool


class SampleRow(NamedTuple):
    """One sample: offset decision ``x - b``, weights, and the scaled map that is projected on.

    ``g`` is minus the derivative of the projected target, up to the factor ``dual / 2``; y is kept
    without the offset too, and ``lifted`` is the latent point of `lifted_cost`. ``moves`` says
    whether the projection depends on the multiplier.
    """

    c: Array
    q: Array
    x: Array
    w: Array
    root: Array
    g: Array
    A: Array
    M: Array
    target: Array
    y: Array
    z: Array
    lifted: Array
    zero: Array
    every: NDArray[np.bool_]
    moves: NDArray[np.bool_]


@inner_kernel
def new_row(n: int, p: int) -> SampleRow:
    """Return the workspace of one sample."""
    return SampleRow(
        np.empty(n),
        np.empty(p),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty((n, p)),
        np.empty((n, p)),
        np.empty(n),
        np.empty(n),
        np.empty(p),
        np.empty(p),
        np.zeros(p),
        np.ones(n, dtype=np.bool_),
        np.ones(1, dtype=np.bool_),
    )


@inner_kernel
def weigh(row: SampleRow, seen: NDArray[np.bool_], smoothing: Smoothing) -> None:
    """Write the weights and what follows from them."""
    for j in range(row.c.size):
        exact = smoothing.exact and seen[j]
        row.w[j] = 1.0 if seen[j] else PROXIMAL * min(1.0, smoothing.distance)
        if exact:
            row.w[j] = np.inf
            row.root[j] = np.sqrt(smoothing.distance)
            row.g[j] = 0.0
        else:
            total = row.w[j] + smoothing.distance
            row.root[j] = np.sqrt(row.w[j] * smoothing.distance / total)
            row.g[j] = row.c[j] * row.root[j] / row.w[j]
        for k in range(row.q.size):
            row.M[j, k] = row.root[j] * row.A[j, k]


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
        if row.w[j] == np.inf:
            row.y[j] = row.x[j]
        else:
            weight = row.w[j] + smoothing.distance
            pulled = row.w[j] * row.x[j] - push * row.c[j]
            row.y[j] = (pulled + smoothing.distance * image) / weight
            slope -= 0.5 * smoothing.dual * row.c[j] * row.c[j] / weight
        total += row.c[j] * row.y[j]
        size += abs(row.c[j] * row.y[j]) + abs(row.c[j] * row.x[j])
    return total, size, slope


@inner_kernel
def _aim(row: SampleRow, push: float) -> None:
    """Write what is projected on the region: the decision, pushed against its cost."""
    for j in range(row.c.size):
        row.target[j] = row.root[j] * row.x[j] - push * row.g[j]


@inner_kernel
def _ball_point(row: SampleRow, ball: BallImage) -> float:
    """Write the latent point of the projection onto the image of a ball; return ``g'Pg``."""
    r = np.empty(ball.U.shape[1])
    t = nearest_in_image(ball, row.target, r, row.z)
    return _ball_slope(ball, t, r, row.g)


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
    ball: BallImage,
    smoothing: Smoothing,
    corral: Corral,
    start: float,
    size: int,
) -> tuple[float, int, float]:
    """Return the multiplier, the size of the corral, and how far both are from optimal."""
    low, high, nu = 0.0, np.inf, start
    along, residual, gap = 0.0, np.inf, 0.0
    enumerated, half = lists_points(code), 0.5 * smoothing.dual
    for step in range(MAX_STEPS):
        if row.moves[0] or step == 0:
            _aim(row, half * nu)
            if ball.singular.size > 0:
                along = _ball_point(row, ball)
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
        if enumerated and nu > 0.0:
            t, rise = lifted_cost_by_vertices(code, row.q, 0.5 * nu, row.lifted)
        else:
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
    return nu, size, max(residual, gap)


@inner_kernel
def smoothed_value(
    row: SampleRow, seen: NDArray[np.bool_], smoothing: Smoothing, nu: float, slacks: Array
) -> float:
    """Return the smoothed loss; write the squares of the two slacks, and ``Az - y`` into target."""
    fit, apart, dual = 0.0, 0.0, 0.0
    for j in range(row.c.size):
        image = 0.0
        for k in range(row.q.size):
            image += row.A[j, k] * row.z[k]
        row.target[j] = image - row.y[j]
        apart += row.target[j] ** 2
        if seen[j]:
            fit += (row.x[j] - row.y[j]) ** 2
    for k in range(row.q.size):
        dual += (0.5 * nu * row.lifted[k]) ** 2
    slacks[0] = 0.0 if smoothing.exact else apart
    slacks[1] = dual
    over = smoothing.rho * nu
    return fit + smoothing.distance * apart + over * over + smoothing.dual * dual


@inner_kernel
def proximal_move(row: SampleRow, seen: NDArray[np.bool_]) -> bool:
    """Move unobserved decisions to where they were found; return whether any moved."""
    moved, largest = 0.0, 0.0
    for j in range(seen.size):
        largest = max(largest, abs(row.y[j]))
        if not seen[j]:
            moved = max(moved, abs(row.y[j] - row.x[j]))
            row.x[j] = row.y[j]
    return moved > 1e-11 * largest


# The smoothed losses of Algorithm 2 for many samples, and their gradient.


class SmoothedMemory(NamedTuple):
    """Where the search of each row begins, and then where it ended.

    Multipliers (N,), and the corral of its projection: vertices (N, n + 2, p), weights
    (N, n + 2) and how many there are (N,); without rows, every projection begins anew.
    """

    multipliers: Array
    latents: Array
    weights: Array
    sizes: NDArray[np.int64]


@inner_kernel
def _read(
    A: Array, b: Array, phi: Array, c: Array, x: Array, row: SampleRow, seen: NDArray[np.bool_]
) -> int:
    """Write one sample and its map into ``row``; return how many decisions were not observed."""
    hidden = 0
    for j in range(c.size):
        seen[j] = not np.isnan(x[j])
        hidden += not seen[j]
        row.c[j], row.x[j] = c[j], 0.0
        if seen[j]:
            row.x[j] = x[j]
            for k in range(phi.size):
                row.x[j] -= phi[k] * b[k, j]
    latent_cost(A, phi, c, row.q)
    map_at(A, phi, row.every, row.A)
    return hidden


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
    memory: SmoothedMemory,
    values: Array,
    slacks: Array,
    dA: Array,
    db: Array,
) -> int:
    """Write the smoothed loss and squared slacks of each row; add to the gradient.

    Returns the number of rows that were not solved to optimality; their value is NaN, and nothing
    is added for them.
    """
    n, p = A.shape[1], A.shape[2]
    row, workspace, ball = new_row(n, p), new_corral(n, p), ball_image(np.zeros((1, 1)))
    seen = np.empty(n, dtype=np.bool_)
    remembers = memory.sizes.size > 0
    failed = 0
    for i in range(Phi.shape[0]):
        hidden = _read(A, b, Phi[i], C[i], X[i], row, seen)
        weigh(row, seen, smoothing)
        row.moves[0] = hidden > 0 or not smoothing.exact
        if code.kinds.size == 1 and code.kinds[0] == L2_BALL:
            ball = ball_image(row.M)
        size, corral = int(np.int64(0)), workspace
        if remembers:
            size = int(memory.sizes[i])
            kept = memory.latents[i], memory.weights[i]
            corral = Corral(workspace.points, *kept, workspace.trial, workspace.x, workspace.slope)
        nu, residual = memory.multipliers[i], np.inf
        for _ in range(MAX_PROXIMAL):
            nu, size, residual = find_multiplier(code, row, ball, smoothing, corral, nu, size)
            if hidden == 0 or not proximal_move(row, seen):
                break
            residual = np.inf
        if remembers:
            memory.sizes[i] = size
        if not residual <= BELIEVED:
            failed += 1
            values[i] = np.nan
            continue
        memory.multipliers[i] = nu
        values[i] = smoothed_value(row, seen, smoothing, nu, slacks[i])
        for j in range(n):
            row.target[j] *= 2.0 * smoothing.distance
            row.y[j] = -smoothing.dual * nu * row.c[j]
        add_gradient(Phi[i], row.target, row.z, weights[i], dA, db)
        if nu > 0.0:
            add_gradient(Phi[i], row.y, row.lifted, weights[i], dA, db)
    return failed
