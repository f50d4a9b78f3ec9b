r"""How the minimiser of a linear cost over a curved set moves when the cost moves.

On the manifold of active constraints the minimiser solves a smooth problem whose Lagrangian has
the Hessian :math:`W = \sum_b \mu_b \nabla^2 f_b(z)`, with :math:`f_b(z) = \|u_b\| - t_b` for each
active second-order cone. With N a basis of the tangent space,
:math:`dz^*/dq = -N (N'WN)^{-1} N'`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.conic_solver import ConicSolution
from feaslearn.sets.facial_reduction import FLAT, ZERO_MULTIPLIER

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
        elif np.linalg.norm(dual) > zero:
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
