"""Rows of (features, cost, decision) in standard units: errors, equalities, bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Accuracy of a solver's decisions, in standard deviations: below it two numbers are the same.
EXACT = 1e-6
#: Errors beyond so many standard deviations are not rounding.
SPREAD = 3.5
#: A grid whose step is a larger part of the standard deviation is no rounding but integrality.
COARSE = 0.05
#: Steps of the grids that values are written on, within a decade.
STEPS = (1.0, 0.5, 0.25, 0.2)


@dataclass(eq=False)
class Rows:
    """Samples in standard units.

    ``x`` (N, n) decisions that move; ``F`` (N, r) linearly independent features, ``F = phi @ P``;
    ``c`` (N, n) costs of length one; ``scale`` (n,) the unit of each decision; ``x_error`` (n,) and
    ``F_cov`` (r, r) the errors they were written with; equalities ``E x = e F``; extremes ``lo``
    and ``up``, which of them several rows share, and the rows at those.
    """

    x: Array
    F: Array
    P: Array
    c: Array
    scale: Array
    x_error: Array
    F_cov: Array
    E: Array
    e: Array
    lo: Array
    up: Array
    seen_lo: Mask
    seen_up: Mask
    at_lo: Mask
    at_up: Mask

    @property
    def one(self) -> Array:
        """The coefficients of the constant."""
        return np.asarray(self.P[0])


def grid_step(values: Array) -> float:
    """Return the step of the grid on which all values of a table lie, 0 if there is none.

    Examples
    --------
    >>> grid_step(np.array([0.25, 1.75, 3.0]))
    0.25
    >>> grid_step(np.array([0.1234567890123, 2.0]))
    0.0
    """
    size = np.abs(values).max(initial=0.0)
    if size == 0.0:
        return 0.0
    for decade in range(int(np.ceil(np.log10(size))), -7, -1):
        for part in STEPS:
            step = part * 10.0**decade
            parts = values / step
            if step > 1e-9 * size and np.abs(parts - np.round(parts)).max() < 1e-6:
                return step
    return 0.0


def _equalities(
    x: Array, F: Array, scale: Array, x_error: Array, F_cov: Array
) -> tuple[Array, Array]:
    """Return E (q, n) and e (q, r): directions of x that are affine in F at rounding."""
    N, n = x.shape
    B = np.linalg.lstsq(F, x, rcond=1e-12)[0]
    residual = x - F @ B
    if F.shape[1] + n + 3 <= N:
        V = np.linalg.svd(residual, full_matrices=False)[2]
    elif F.shape[1] + 4 <= N:  # any direction would do for so few rows: only the sum is asked
        V = (scale / np.linalg.norm(scale))[None]
    else:
        V = np.zeros((0, n))
    level = np.sqrt(((residual @ V.T) ** 2).mean(axis=0))
    largest = np.sqrt((residual**2).sum(axis=1).mean())
    BV = B @ V.T
    written = np.sqrt(V**2 @ x_error**2 + np.einsum("rv,rs,sv->v", BV, F_cov, BV))
    found = level < np.maximum(10.0 * EXACT * largest, 1.5 * written)
    return V[found], BV[:, found].T


@dataclass(eq=False)
class Units:
    """From standard units to those of the data: places, sizes, and the columns that move."""

    mean: Array
    std: Array
    moving: Mask
    phi_mean: Array
    phi_std: Array
    flat: Mask

    def features(self, phi: Array) -> Array:
        """Return features in standard units; one that never moves is zero, the first is one."""
        out = np.asarray((phi - self.phi_mean) / self.phi_std)
        out[:, self.flat] = 0.0
        out[:, 0] = 1.0
        return out

    def right_sides(self, coefficients: Array) -> Array:
        """Return rows of coefficients of standard features as rows of those given."""
        raw = np.where(self.flat, 0.0, coefficients / self.phi_std)
        raw[:, 0] = coefficients[:, 0] - raw[:, 1:] @ self.phi_mean[1:]
        return np.asarray(raw)


def standard_rows(phi: Array, c: Array, x: Array) -> tuple[Rows, Units]:
    """Return rows in standard units, with the errors they were written with, and the way back."""
    phi_mean, phi_std = phi.mean(axis=0), phi.std(axis=0)
    flat = phi_std <= 1e-12 * np.maximum(1.0, np.abs(phi_mean))
    phi_mean, phi_std = np.where(flat, 0.0, phi_mean), np.where(flat, 1.0, phi_std)
    mean, std = x.mean(axis=0), x.std(axis=0)
    moving = std > 1e-9 * max(float(std.max(initial=0.0)), 1e-300)
    mean = np.where(moving, mean, x[0])
    units = Units(mean, np.where(moving, std, 1.0), moving, phi_mean, phi_std, flat)
    scale = units.std[moving]
    x_, phi_ = ((x - mean) / units.std)[:, moving], units.features(phi)
    _, s, V = np.linalg.svd(phi_, full_matrices=False)
    P = V[s > 1e-9 * s[0]].T
    F = phi_ @ P
    x_error = np.full(len(scale), grid_step(x[:, moving]) / np.sqrt(12.0)) / scale
    phi_error = np.where(flat, 0.0, grid_step(phi[:, ~flat]) / phi_std) / np.sqrt(12.0)
    F_cov = (P * phi_error[:, None] ** 2).T @ P
    none = np.zeros_like(x_error), np.zeros_like(F_cov)
    E, e = _equalities(x_, F, scale, x_error, F_cov)
    exact = _equalities(x_, F, scale, *none)
    if len(exact[0]) == len(E) or bool((x_error > COARSE).all()):
        # Equalities hold far better than the grid asks: the numbers are what they are.
        (x_error, F_cov), (E, e) = none, exact
    costs = (c * units.std)[:, moving]
    size = np.linalg.norm(costs, axis=1, keepdims=True)
    costs = np.where(size > 0.0, costs / np.maximum(size, 1e-300), 0.0)
    lo, up = x_.min(axis=0), x_.max(axis=0)
    tol = np.maximum(EXACT, 1.01 * np.sqrt(12.0) * x_error)
    at_lo, at_up = x_ < lo + tol, x_ > up - tol
    seen_lo, seen_up = at_lo.sum(axis=0) > 1, at_up.sum(axis=0) > 1
    return (
        Rows(
            np.ascontiguousarray(x_),
            F,
            P,
            np.ascontiguousarray(costs),
            scale,
            x_error,
            F_cov,
            E,
            e,
            lo,
            up,
            seen_lo,
            seen_up,
            at_lo & seen_lo,
            at_up & seen_up,
        ),
        units,
    )
