"""The smoothed losses of Algorithm 2 for many samples, and their gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel, kernel
from feaslearn.kernels.ball_image import ball_image
from feaslearn.kernels.corral import Corral, new_corral
from feaslearn.kernels.predict import latent_cost
from feaslearn.kernels.predictability import add_gradient, map_at
from feaslearn.kernels.set_code import L2_BALL, SetCode
from feaslearn.kernels.smoothed_row import (
    BELIEVED,
    SampleRow,
    Smoothing,
    find_multiplier,
    new_row,
    proximal_move,
    smoothed_value,
    weigh,
)

Array = NDArray[np.float64]

#: Proximal steps for unobserved decisions.
MAX_PROXIMAL = 500


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
    row, room, ball = new_row(n, p), new_corral(n, p), ball_image(np.zeros((1, 1)))
    seen = np.empty(n, dtype=np.bool_)
    remembers = memory.sizes.size > 0
    failed = 0
    for i in range(Phi.shape[0]):
        hidden = _read(A, b, Phi[i], C[i], X[i], row, seen)
        weigh(row, seen, smoothing)
        row.moves[0] = hidden > 0 or not smoothing.exact
        if code.kinds.size == 1 and code.kinds[0] == L2_BALL:
            ball = ball_image(row.M)
        size, corral = int(np.int64(0)), room
        if remembers:
            size = int(memory.sizes[i])
            kept = memory.latents[i], memory.weights[i]
            corral = Corral(room.points, *kept, room.trial, room.x, room.slope)
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
