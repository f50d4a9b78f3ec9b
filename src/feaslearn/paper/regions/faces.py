r"""Bounds, optimal faces and how minimisers move, read off optimal dual solutions.

With :math:`\lambda \in K^*`, :math:`H'\lambda = q` optimal, a point of Z is a minimiser of
:math:`q'z` if and only if it is complementary to :math:`\lambda`:
:math:`\lambda'(Hz - h) = 0`, cone by cone. That turns rows with a positive multiplier into
equalities, which is exact, where the row :math:`q'z \le v^*` would leave no interior.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from feaslearn.arrays import Array
from feaslearn.exceptions import (
    EmptySetError,
    InfeasibleProblemError,
    UnboundedProblemError,
    UnboundedSetError,
)
from feaslearn.paper.regions.cones import (
    Cone,
    ConicForm,
    equality_rows,
    kept_cones,
    matrices,
    split,
    turned,
)
from feaslearn.paper.regions.programs import ConicSolution, minimize_linear
from feaslearn.tolerances import ROUNDING, SOLVED_DEPENDENT_TOL, ZERO_MULTIPLIER, size_of


def check_nonempty_and_bounded(form: ConicForm, name: object) -> None:
    """Raise `EmptySetError`, or `UnboundedSetError` naming an unbounded coordinate."""
    p = form.H.shape[1]
    try:
        minimize_linear(form, np.zeros(p))
    except InfeasibleProblemError:
        raise EmptySetError(f"{name} is empty: no z satisfies all rows of H z - h in K") from None
    for k, axis in enumerate(np.eye(p)):
        for q, where in ((axis, "below"), (-axis, "above")):
            try:
                minimize_linear(form, q)
            except UnboundedProblemError:
                raise UnboundedSetError(
                    f"{name} is unbounded: z[{k}] has no limit from {where}; "
                    "add a row that limits it"
                ) from None


def optimal_face(
    form: ConicForm, solution: ConicSolution, q: Array
) -> tuple[Array, Array, ConicForm]:
    """Return the minimisers of ``q``, given one optimal point with its multipliers.

    They are the points ``z = point + basis w`` with w in a conic form without equalities.
    """
    zero = ZERO_MULTIPLIER * np.abs(q).max() / np.abs(form.H).max()
    parts = [
        _reduced(cone, form.H[rows], form.h[rows], solution.dual[rows], zero)
        for cone, rows in form.blocks()
    ]
    cones = [cone for part in parts for cone in part.cones]
    equal = equality_rows(cones)
    H, h = np.vstack([part.H for part in parts]), np.concatenate([part.h for part in parts])
    # The equalities hold at the solver's point by construction; only their directions count.
    basis = null_space(H[equal], rcond=SOLVED_DEPENDENT_TOL)
    H, h = H[~equal], h[~equal] - H[~equal] @ solution.point
    within = H @ basis
    # A row that is constant on the face is left with rounding errors, which would mislead a
    # solver that scales rows.
    within[np.abs(within) <= ROUNDING * np.linalg.norm(H, axis=1, keepdims=True)] = 0.0
    return solution.point, basis, ConicForm(within, h, kept_cones(cones, ~equal))


def _reduced(cone: Cone, H: Array, h: Array, dual: Array, zero: float) -> ConicForm:
    if cone.kind == "nonnegative":
        active = dual > zero
        order = np.concatenate([np.flatnonzero(active), np.flatnonzero(~active)])
        cones = (Cone("zero", int(active.sum())), Cone("nonnegative", int((~active).sum())))
        return ConicForm(H[order], h[order], cones)
    if cone.kind == "zero" or np.linalg.norm(dual) <= zero:
        return ConicForm(H, h, (cone,))
    if cone.kind == "semidefinite":
        # With V a basis of the multipliers' null space, the slack is ``V W V'``.
        rows, kept, *_ = split(dual, zero)
        cones = (Cone("semidefinite", kept), Cone("zero", len(h) - kept))
        return ConicForm(rows @ H, rows @ h, cones)
    if np.linalg.norm(dual[1:]) < dual[0] * (1.0 - ZERO_MULTIPLIER):
        return ConicForm(H, h, (Cone("zero", cone.size),))
    return _on_a_ray(H, h, dual)


def _on_a_ray(H: Array, h: Array, dual: Array) -> ConicForm:
    """Second-order rows with a multiplier on the cone's boundary: the slack is on one ray."""
    ray = np.append(1.0, -dual[1:] / np.linalg.norm(dual[1:]))
    complement = np.linalg.svd(ray[None, :])[2][1:]
    rows = np.vstack([complement @ H, ray @ H])
    offset = np.concatenate([complement @ h, [ray @ h]])
    return ConicForm(rows, offset, (Cone("zero", len(complement)), Cone("nonnegative", 1)))


# How the minimiser of a linear cost over a curved set moves when the cost moves.
#
# On the manifold of active constraints the minimiser solves a smooth problem whose Lagrangian has
# the Hessian :math:`W = \sum_b \mu_b \nabla^2 f_b(z)`, with :math:`f_b(z) = \|u_b\| - t_b` for
# each active second-order cone. For a semidefinite cone with slack
# :math:`S = \sum_b \sigma_b v_b v_b'` and multipliers :math:`\sum_a \mu_a u_a u_a'`, it adds
# :math:`\sum_{ab} (2 \mu_a / \sigma_b) g_{ab} g_{ab}'` with :math:`g_{ab}` the gradient of
# :math:`u_a' S v_b`. With N a basis of the tangent space,
# :math:`dz^*/dq = -N (N'WN)^{-1} N'`.


def turn(form: ConicForm, solution: ConicSolution, q: Array, direction: Array) -> Array:
    """Return the derivative of the minimiser of ``q`` when q moves in ``direction``."""
    p = len(q)
    active, hessian = [np.empty((0, p))], np.zeros((p, p))
    zero = ZERO_MULTIPLIER * np.abs(q).max()
    zero_size = SOLVED_DEPENDENT_TOL * size_of(solution.point)
    slack = form.H @ solution.point - form.h
    for cone, rows in form.blocks():
        H, dual = form.H[rows], solution.dual[rows]
        if cone.kind == "zero":
            active.append(H)
        elif cone.kind == "nonnegative":
            active.append(H[dual > zero])
        elif np.linalg.norm(dual) > zero:
            if cone.kind == "semidefinite":
                fixed, curved = _semidefinite(H, slack[rows], dual, zero, zero_size)
            else:
                fixed, curved = _second_order(H, slack[rows], dual, zero_size)
            active.append(fixed)
            hessian += curved
    N = null_space(np.vstack(active), rcond=SOLVED_DEPENDENT_TOL)
    curvature = N.T @ hessian @ N
    moved, *_ = np.linalg.lstsq(curvature, N.T @ direction, rcond=SOLVED_DEPENDENT_TOL)
    return np.asarray(-N @ moved)


def _second_order(H: Array, slack: Array, dual: Array, zero_size: float) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of second-order rows with such multipliers."""
    u = slack[1:]
    length = np.linalg.norm(u)
    if length <= zero_size:
        # At the apex the point cannot move.
        return H, np.zeros((H.shape[1], H.shape[1]))
    unit = u / length
    across = np.eye(len(u)) - np.outer(unit, unit)
    return (unit @ H[1:] - H[0])[None, :], dual[0] * H[1:].T @ across @ H[1:] / length


def _semidefinite(
    H: Array, slack: Array, dual: Array, zero: float, zero_size: float
) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of semidefinite rows with such multipliers."""
    _, _, nullity, values, vectors = split(dual, zero)
    null, image = vectors[:, :nullity], vectors[:, nullity:]
    sizes, axes = np.linalg.eigh(null.T @ matrices(slack) @ null)
    rows = turned(np.hstack([null @ axes, image])) @ H
    # Which two columns of the turn each row of the triangle belongs to: ``first <= second``.
    second, first = np.tril_indices(len(vectors))
    bent = (first < nullity) & (second >= nullity)
    bent[bent] = sizes[first[bent]] > zero_size
    prices = values[second[bent]] / sizes[first[bent]]
    # Rows of the triangle hold the entries off the diagonal times the root of two.
    return rows[(second >= nullity) & ~bent], rows[bent].T @ (rows[bent] * prices[:, None])
