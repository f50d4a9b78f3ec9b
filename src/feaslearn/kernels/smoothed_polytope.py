r"""The smoothed programs of Algorithm 2 for polytopes whose vertices are too many to list.

The polytope is :math:`Z = \{z_0 + N w : R w + s \ge 0\}` with s > 0: an inner point, an orthonormal
basis of the flat it lies in, and rows. The smoothed loss of a sample depends on Z alone, not on the
rows that describe it, so its dual half is

.. math:: H'\lambda = N R'\mu + N_\perp \nu, \quad \lambda'h = z_0'H'\lambda - s'\mu, \quad
          \mu \ge 0, \; \nu \text{ free}.

Every sample is one small quadratic program in the decision y where it is free, and in w, mu, nu and
:math:`\gamma_o`; see `smoothed_row` for the loss and `interior_point` for the method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel, kernel
from feaslearn.kernels.interior_point import QuadraticProgram, minimize_quadratic, new_program
from feaslearn.kernels.smoothed_row import Smoothing

Array = NDArray[np.float64]

#: Solutions that are farther from optimal than this, relative to their terms, are not believed.
BELIEVED = 1e-8


class InnerRows(NamedTuple):
    """A polytope around an inner point: ``z = point + basis w`` with ``rows w + slack >= 0``.

    ``rest`` holds an orthonormal basis of what is at right angles to ``basis``.
    """

    point: Array
    basis: Array
    rest: Array
    rows: Array
    slack: Array


class _Sample(NamedTuple):
    """A sample in units of its own: map, latent cost, offset decision, cost; z and ``H'lambda``."""

    A: Array
    q: Array
    x: Array
    c: Array
    seen: NDArray[np.bool_]
    z: Array
    lifted: Array
    y: Array


@inner_kernel
def _read(
    A: Array, b: Array, phi: Array, c: Array, x: Array, sample: _Sample
) -> tuple[float, float]:
    """Write one sample; return the units of decisions and of costs, in which its sizes are 1."""
    K, n, p = A.shape
    length, price = 0.0, 0.0
    for j in range(n):
        sample.seen[j] = not np.isnan(x[j])
        sample.x[j] = x[j] if sample.seen[j] else 0.0
        for k in range(K):
            sample.x[j] -= phi[k] * b[k, j] if sample.seen[j] else 0.0
        for column in range(p):
            total = 0.0
            for k in range(K):
                total += phi[k] * A[k, j, column]
            sample.A[j, column] = total
            length = max(length, abs(total))
        length, price = max(length, abs(sample.x[j])), max(price, abs(c[j]))
    length, price = length if length > 0.0 else 1.0, price if price > 0.0 else 1.0
    for j in range(n):
        sample.x[j] /= length
        sample.c[j] = c[j] / price
        for column in range(p):
            sample.A[j, column] /= length
    for column in range(p):
        sample.q[column] = 0.0
        for j in range(n):
            sample.q[column] += sample.c[j] * sample.A[j, column]
    return length, price


@inner_kernel
def _square(program: QuadraticProgram, form: Array, constant: float, weight: float) -> None:
    """Add ``weight (form'v + constant)^2``."""
    for a in range(form.size):
        if form[a] != 0.0:
            program.r[a] += 2.0 * weight * constant * form[a]
            for b in range(form.size):
                program.P[a, b] += 2.0 * weight * form[a] * form[b]


@inner_kernel
def _state(
    Z: InnerRows, sample: _Sample, smoothing: Smoothing, dual: float, over: float, form: Array
) -> QuadraticProgram:
    """Return the quadratic program of a sample.

    Unknowns: y (all of it, or what was not observed where the rest is fixed), w, mu, nu and
    gamma_o, in this order. Where y is fixed its unknown is idle.
    """
    n, p = sample.A.shape
    d, m, k = Z.basis.shape[1], Z.slack.size, Z.rest.shape[1]
    first_w, first_mu, first_nu, last = n, n + d, n + d + m, n + d + m + k
    program = new_program(last + 1, 2 * m + 1)
    for j in range(n):
        fixed = smoothing.exact and sample.seen[j]
        form[:] = 0.0
        form[j] = 1.0
        if fixed or sample.seen[j]:
            _square(program, form, -sample.x[j], 1.0)
        if fixed:
            form[j] = 0.0
        constant = sample.x[j] if fixed else 0.0
        for column in range(p):
            constant -= sample.A[j, column] * Z.point[column]
            for a in range(d):
                form[first_w + a] -= sample.A[j, column] * Z.basis[column, a]
        _square(program, form, constant, smoothing.distance)
    for column in range(p):
        form[:] = 0.0
        for a in range(d):
            for i in range(m):
                form[first_mu + i] -= Z.basis[column, a] * Z.rows[i, a]
        for a in range(k):
            form[first_nu + a] = -Z.rest[column, a]
        _square(program, form, sample.q[column], dual)
    program.P[last, last] = 2.0 * over
    for i in range(m):
        program.g[i], program.G[m + i, first_mu + i] = -Z.slack[i], 1.0
        for a in range(d):
            program.G[i, first_w + a] = Z.rows[i, a]
    _couple(Z, sample, smoothing, program)
    return program


@inner_kernel
def _couple(Z: InnerRows, sample: _Sample, smoothing: Smoothing, program: QuadraticProgram) -> None:
    """Write the row ``lambda'h + gamma_o - c'y >= 0``; without a cost there is none."""
    n, p = sample.A.shape
    d, m, k = Z.basis.shape[1], Z.slack.size, Z.rest.shape[1]
    row, last = 2 * m, program.v.size - 1
    program.g[row] = -1.0
    size = 0.0
    for j in range(n):
        size = max(size, abs(sample.c[j]))
    if size == 0.0:
        return
    program.g[row] = 0.0
    for j in range(n):
        if smoothing.exact and sample.seen[j]:
            program.g[row] += sample.c[j] * sample.x[j]
        else:
            program.G[row, j] = -sample.c[j]
    for i in range(m):
        total = -Z.slack[i]
        for column in range(p):
            for a in range(d):
                total += Z.point[column] * Z.basis[column, a] * Z.rows[i, a]
        program.G[row, n + d + i] = total
    for a in range(k):
        for column in range(p):
            program.G[row, n + d + m + a] += Z.point[column] * Z.rest[column, a]
    program.G[row, last] = 1.0 if smoothing.exact else 0.0


@inner_kernel
def _unpack(Z: InnerRows, sample: _Sample, smoothing: Smoothing, v: Array) -> None:
    """Write z, y and ``H'lambda`` of a solution."""
    n, p = sample.A.shape
    d, m = Z.basis.shape[1], Z.slack.size
    for j in range(n):
        sample.y[j] = sample.x[j] if smoothing.exact and sample.seen[j] else v[j]
    for column in range(p):
        sample.z[column], sample.lifted[column] = Z.point[column], 0.0
        for a in range(d):
            sample.z[column] += Z.basis[column, a] * v[n + a]
            for i in range(m):
                sample.lifted[column] += Z.basis[column, a] * Z.rows[i, a] * v[n + d + i]
        for a in range(Z.rest.shape[1]):
            sample.lifted[column] += Z.rest[column, a] * v[n + d + m + a]


@kernel
def smoothed_polytope_rows(
    Z: InnerRows,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    smoothing: Smoothing,
    values: Array,
    slacks: Array,
    dA: Array,
    db: Array,
) -> int:
    """Do what `smoothed_rows` does, for a polytope given by its rows."""
    n, p = A.shape[1], A.shape[2]
    sample = _Sample(
        np.empty((n, p)),
        np.empty(p),
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.bool_),
        np.empty(p),
        np.empty(p),
        np.empty(n),
    )
    form = np.zeros(n + Z.basis.shape[1] + Z.slack.size + Z.rest.shape[1] + 1)
    failed = 0
    for i in range(Phi.shape[0]):
        length, price = _read(A, b, Phi[i], C[i], X[i], sample)
        dual, over = smoothing.dual * price * price, price * price if smoothing.exact else 1.0
        program = _state(Z, sample, smoothing, dual, over, form)
        if not minimize_quadratic(program) <= BELIEVED:
            failed += 1
            values[i] = np.nan
            continue
        _unpack(Z, sample, smoothing, program.best)
        excess = length * price * program.best[program.v.size - 1] if smoothing.exact else 0.0
        values[i] = excess * excess
        values[i] += _measure(sample, smoothing, length, price, slacks[i])
        _add_gradient(Phi[i], C[i], sample, smoothing, weights[i], length, price, excess, dA, db)
    return failed


@inner_kernel
def _measure(
    sample: _Sample, smoothing: Smoothing, length: float, price: float, slacks: Array
) -> float:
    """Return the smoothed loss without the excess cost; write the squares of the two slacks.

    ``lifted`` becomes ``q - H'lambda``, and ``z`` stays.
    """
    n, p = sample.A.shape
    fit, apart, dual = 0.0, 0.0, 0.0
    for j in range(n):
        image = 0.0
        for column in range(p):
            image += sample.A[j, column] * sample.z[column]
        apart += (length * (image - sample.y[j])) ** 2
        if sample.seen[j]:
            fit += (length * (sample.y[j] - sample.x[j])) ** 2
    for column in range(p):
        sample.lifted[column] = sample.q[column] - sample.lifted[column]
        dual += (length * price * sample.lifted[column]) ** 2
    slacks[0], slacks[1] = 0.0 if smoothing.exact else apart, dual
    return fit + smoothing.distance * apart + smoothing.dual * dual


@inner_kernel
def _add_gradient(
    phi: Array,
    c: Array,
    sample: _Sample,
    smoothing: Smoothing,
    weight: float,
    length: float,
    price: float,
    excess: float,
    dA: Array,
    db: Array,
) -> None:
    """Add the derivatives in the image, in the latent cost, and in the offset."""
    n, p = sample.A.shape
    for j in range(n):
        image = 0.0
        for column in range(p):
            image += sample.A[j, column] * sample.z[column]
        apart = 2.0 * smoothing.distance * length * (image - sample.y[j])
        # A move of b is a move of x the other way.
        offset = apart - 2.0 * excess * c[j]
        if not smoothing.exact:
            offset = 2.0 * length * (sample.y[j] - sample.x[j]) if sample.seen[j] else 0.0
        for k in range(phi.size):
            share = weight * phi[k]
            db[k, j] += share * offset
            for column in range(p):
                latent = 2.0 * smoothing.dual * length * price * sample.lifted[column]
                dA[k, j, column] += share * (apart * sample.z[column] + c[j] * latent)
