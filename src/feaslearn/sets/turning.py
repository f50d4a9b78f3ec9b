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
from feaslearn.sets.triangle import matrices, split, turned

Array = NDArray[np.float64]


def turn(form: ConicForm, solution: ConicSolution, q: Array, direction: Array) -> Array:
    """Return the derivative of the minimiser of ``q`` when q moves in ``direction``."""
    p = len(q)
    active, hessian = [np.zeros((0, p))], np.zeros((p, p))
    zero = ZERO_MULTIPLIER * np.abs(q).max(initial=0.0)
    slack = form.H @ solution.point - form.h
    for cone, rows in form.blocks():
        H, dual, u = form.H[rows], solution.dual[rows], slack[rows][1:]
        if cone.kind == "zero":
            active.append(H)
        elif cone.kind == "nonnegative":
            active.append(H[dual > zero])
        elif np.linalg.norm(dual) <= zero:
            continue
        elif cone.kind == "semidefinite":
            fixed, curved = _semidefinite(H, slack[rows], dual, zero)
            active.append(fixed)
            hessian += curved
        else:
            length = np.linalg.norm(u)
            if length <= FLAT * max(1.0, np.abs(solution.point).max()):
                active.append(H)
                continue
            unit = u / length
            active.append((unit @ H[1:] - H[0])[None, :])
            across = np.eye(len(u)) - np.outer(unit, unit)
            hessian += dual[0] * H[1:].T @ across @ H[1:] / length
    N = null_space(np.vstack(active), rcond=FLAT)
    if N.shape[1] == 0:
        return np.zeros(p)
    curvature = N.T @ hessian @ N
    moved, *_ = np.linalg.lstsq(curvature, N.T @ direction, rcond=FLAT)
    return np.asarray(-N @ moved)


def _semidefinite(H: Array, slack: Array, dual: Array, zero: float) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of semidefinite rows with such multipliers."""
    _, _, values, vectors = split(dual, zero)
    null, image = vectors[:, values <= zero], vectors[:, values > zero]
    sizes, axes = np.linalg.eigh(null.T @ matrices(slack) @ null)
    turn = turned(np.hstack([null @ axes, image]))
    # Which two columns of the turn each row of the triangle belongs to.
    second, first = np.tril_indices(len(vectors))
    across = (first < len(sizes)) & (second >= len(sizes))
    size = np.append(sizes, np.zeros(image.shape[1]))[first]
    bent = across & (size > FLAT * max(1.0, np.abs(slack).max()))
    price = np.append(np.zeros(len(sizes)), values[values > zero])[second]
    rows = turn @ H
    # Rows of the triangle hold the entries off the diagonal times the root of two.
    curved = rows[bent].T @ (rows[bent] * (price[bent] / size[bent])[:, None])
    return rows[(first >= len(sizes)) | (across & ~bent)], curved
