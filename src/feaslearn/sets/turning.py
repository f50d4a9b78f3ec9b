r"""How the minimiser of a linear cost over a curved set moves when the cost moves.

On the manifold of active constraints the minimiser solves a smooth problem whose Lagrangian has
the Hessian :math:`W = \sum_b \mu_b \nabla^2 f_b(z)`, with :math:`f_b(z) = \|u_b\| - t_b` for each
active second-order cone. For a semidefinite cone with slack
:math:`S = \sum_b \sigma_b v_b v_b'` and multipliers :math:`\sum_a \mu_a u_a u_a'`, it adds
:math:`\sum_{ab} (2 \mu_a / \sigma_b) g_{ab} g_{ab}'` with :math:`g_{ab}` the gradient of
:math:`u_a' S v_b`. With N a basis of the tangent space,
:math:`dz^*/dq = -N (N'WN)^{-1} N'`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.conic_solver import ConicSolution
from feaslearn.sets.facial_reduction import FLAT, ZERO_MULTIPLIER
from feaslearn.sets.sizes import size_of
from feaslearn.sets.triangle import matrices, split, turned

Array = NDArray[np.float64]


def turn(form: ConicForm, solution: ConicSolution, q: Array, direction: Array) -> Array:
    """Return the derivative of the minimiser of ``q`` when q moves in ``direction``."""
    p = len(q)
    active, hessian = [np.empty((0, p))], np.zeros((p, p))
    zero = ZERO_MULTIPLIER * np.abs(q).max()
    flat = FLAT * size_of(solution.point)
    slack = form.H @ solution.point - form.h
    for cone, rows in form.blocks():
        H, dual = form.H[rows], solution.dual[rows]
        if cone.kind == "zero":
            active.append(H)
        elif cone.kind == "nonnegative":
            active.append(H[dual > zero])
        elif np.linalg.norm(dual) > zero:
            if cone.kind == "semidefinite":
                fixed, curved = _semidefinite(H, slack[rows], dual, zero, flat)
            else:
                fixed, curved = _second_order(H, slack[rows], dual, flat)
            active.append(fixed)
            hessian += curved
    N = null_space(np.vstack(active), rcond=FLAT)
    curvature = N.T @ hessian @ N
    moved, *_ = np.linalg.lstsq(curvature, N.T @ direction, rcond=FLAT)
    return np.asarray(-N @ moved)


def _second_order(H: Array, slack: Array, dual: Array, flat: float) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of second-order rows with such multipliers."""
    u = slack[1:]
    length = np.linalg.norm(u)
    if length <= flat:
        # At the apex the point cannot move.
        return H, np.zeros((H.shape[1], H.shape[1]))
    unit = u / length
    across = np.eye(len(u)) - np.outer(unit, unit)
    return (unit @ H[1:] - H[0])[None, :], dual[0] * H[1:].T @ across @ H[1:] / length


def _semidefinite(
    H: Array, slack: Array, dual: Array, zero: float, flat: float
) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of semidefinite rows with such multipliers."""
    _, _, nullity, values, vectors = split(dual, zero)
    null, image = vectors[:, :nullity], vectors[:, nullity:]
    sizes, axes = np.linalg.eigh(null.T @ matrices(slack) @ null)
    rows = turned(np.hstack([null @ axes, image])) @ H
    # Which two columns of the turn each row of the triangle belongs to: ``first <= second``.
    second, first = np.tril_indices(len(vectors))
    bent = (first < nullity) & (second >= nullity)
    bent[bent] = sizes[first[bent]] > flat
    prices = values[second[bent]] / sizes[first[bent]]
    # Rows of the triangle hold the entries off the diagonal times the root of two.
    return rows[(second >= nullity) & ~bent], rows[bent].T @ (rows[bent] * prices[:, None])
