r"""Small dense convex quadratic programs by a primal-dual interior point method.

.. math:: \min_v \; \tfrac12 v'Pv + r'v \quad \text{s.t.} \quad Gv \ge g

Mehrotra's predictor and corrector: every step solves :math:`(P + G'DG) dv = \ldots` with a diagonal
D by one Cholesky factorisation. Ten to twenty steps are enough for nine digits, however many rows
are active.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel

Array = NDArray[np.float64]

MAX_STEPS = 80
#: Relative to the terms of the equations: good enough to stop.
SOLVED = 1e-12
#: So many steps without a better iterate are the end: rounding.
PATIENCE = 4
#: Share of the way to the boundary that a step goes.
NEAR = 0.995


class QuadraticProgram(NamedTuple):
    """``P``, ``r``, ``G`` and ``g`` of the program, its solution ``best``, and room to work in.

    ``s`` are the slacks of the rows at the iterate ``v`` and ``y`` their multipliers; row i of G is
    zero outside ``low[i]:high[i]``.
    """

    P: Array
    r: Array
    G: Array
    g: Array
    v: Array
    s: Array
    y: Array
    dv: Array
    ds: Array
    dy: Array
    dual: Array
    primal: Array
    target: Array
    factor: Array
    best: Array
    low: NDArray[np.int64]
    high: NDArray[np.int64]


@inner_kernel
def new_program(size: int, rows: int) -> QuadraticProgram:
    """Return a program of zeros."""
    return QuadraticProgram(
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros((rows, size)),
        np.zeros(rows),
        np.zeros(size),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(size),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(size),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros(rows, dtype=np.int64),
        np.zeros(rows, dtype=np.int64),
    )


@inner_kernel
def _factorize(program: QuadraticProgram) -> None:
    """Write the lower Cholesky factor of ``P + G'DG``, ``D = Y / S``."""
    P, G, L = program.P, program.G, program.factor
    size, rows = P.shape[0], G.shape[0]
    for a in range(size):
        for b in range(a + 1):
            L[a, b] = P[a, b]
    for i in range(rows):
        weight = program.y[i] / program.s[i]
        for a in range(program.low[i], program.high[i]):
            part = weight * G[i, a]
            for b in range(program.low[i], a + 1):
                L[a, b] += part * G[i, b]
    for a in range(size):
        # What rounding leaves of a direction in which nothing is curved must stay positive.
        least = 1e-14 * L[a, a] + 1e-300
        for b in range(a):
            total = L[a, b]
            for k in range(b):
                total -= L[a, k] * L[b, k]
            L[a, b] = total / L[b, b]
        total = L[a, a]
        for k in range(a):
            total -= L[a, k] * L[a, k]
        L[a, a] = np.sqrt(max(total, least))


@inner_kernel
def _residuals(program: QuadraticProgram) -> tuple[float, float]:
    """Write ``Pv + r - G'y`` and ``Gv - s - g``; return how far from optimal, and ``s'y / rows``.

    The first number is relative to the terms of each equation.
    """
    P, r, G, g, v, s, y = program[:7]
    largest, size = 1e-300, 1e-300
    for a in range(v.size):
        total = r[a]
        largest, size = max(largest, abs(total)), max(size, abs(total * v[a]))
        for b in range(v.size):
            part = P[a, b] * v[b]
            total += part
            largest, size = max(largest, abs(part)), max(size, abs(part * v[a]))
        program.dual[a] = total
    worst, terms, mean = 0.0, 1e-300, 0.0
    for i in range(y.size):
        total = -g[i] - s[i]
        terms = max(terms, abs(g[i]), s[i])
        for a in range(program.low[i], program.high[i]):
            total += G[i, a] * v[a]
            terms = max(terms, abs(G[i, a] * v[a]))
            program.dual[a] -= G[i, a] * y[i]
            largest = max(largest, abs(G[i, a] * y[i]))
        program.primal[i] = total
        worst += abs(total)
        mean += s[i] * y[i]
    stationary = 0.0
    for a in range(v.size):
        stationary += abs(program.dual[a])
    far = stationary / largest + worst / terms + mean / size
    return far if far == far else np.inf, mean / y.size


@inner_kernel
def _direction(program: QuadraticProgram) -> None:
    """Solve for a step, with what each product ``s y`` should lose in ``target``."""
    G, L, dv, s, y = program.G, program.factor, program.dv, program.s, program.y
    for a in range(dv.size):
        dv[a] = -program.dual[a]
    for i in range(s.size):
        part = (program.target[i] + y[i] * program.primal[i]) / s[i]
        for a in range(program.low[i], program.high[i]):
            dv[a] -= G[i, a] * part
    for a in range(dv.size):
        for k in range(a):
            dv[a] -= L[a, k] * dv[k]
        dv[a] /= L[a, a]
    for a in range(dv.size - 1, -1, -1):
        for k in range(a + 1, dv.size):
            dv[a] -= L[k, a] * dv[k]
        dv[a] /= L[a, a]
    for i in range(s.size):
        total = program.primal[i]
        for a in range(program.low[i], program.high[i]):
            total += G[i, a] * dv[a]
        program.ds[i] = total
        program.dy[i] = (-program.target[i] - y[i] * total) / s[i]


@inner_kernel
def _longest(program: QuadraticProgram) -> float:
    """Return how far a step can go before a slack or a multiplier vanishes, at most 1."""
    step = 1.0
    for i in range(program.s.size):
        if program.ds[i] < 0.0:
            step = min(step, -program.s[i] / program.ds[i])
        if program.dy[i] < 0.0:
            step = min(step, -program.y[i] / program.dy[i])
    return step


@inner_kernel
def _step(program: QuadraticProgram, mean: float) -> None:
    """Go one step: predict how far the products ``s y`` can fall, and correct for that."""
    s, y = program.s, program.y
    _factorize(program)
    for i in range(s.size):
        program.target[i] = s[i] * y[i]
    _direction(program)
    length = _longest(program)
    after = 0.0
    for i in range(s.size):
        after += (s[i] + length * program.ds[i]) * (y[i] + length * program.dy[i])
    center = (after / (s.size * mean)) ** 3 * mean
    for i in range(s.size):
        program.target[i] = s[i] * y[i] + program.ds[i] * program.dy[i] - center
    _direction(program)
    length = min(1.0, NEAR * _longest(program))
    for a in range(program.v.size):
        program.v[a] += length * program.dv[a]
    for i in range(s.size):
        s[i] += length * program.ds[i]
        y[i] += length * program.dy[i]


@inner_kernel
def minimize_quadratic(program: QuadraticProgram) -> float:
    """Write the solution into ``best``; return how far it is from optimal, relative to its terms.

    Infinity where there is none.
    """
    _, _, G, g, v, s, y = program[:7]
    for i in range(s.size):
        slack = -g[i]
        program.low[i], program.high[i] = v.size, 0
        for a in range(v.size):
            slack += G[i, a] * v[a]
            if G[i, a] != 0.0:
                program.low[i] = min(program.low[i], a)
                program.high[i] = a + 1
        s[i], y[i] = max(slack, 1.0), 1.0
    least, since = np.inf, 0
    for _ in range(MAX_STEPS):
        far, mean = _residuals(program)
        since += 1
        if far < least:
            least, since = far, 0
            for a in range(v.size):
                program.best[a] = v[a]
        if least <= SOLVED or since >= PATIENCE or not mean > 0.0:
            break
        _step(program, mean)
    return least
