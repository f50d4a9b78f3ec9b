r"""Conic sets: bounds, and optimal faces from optimal dual solutions.

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
from feaslearn.solvers.conic import ConicSolution, minimize_linear
from feaslearn.solvers.conic_form import Cone, ConicForm, equality_rows, kept_cones, split
from feaslearn.tolerances import ROUNDING, SOLVED_DEPENDENT_TOL, ZERO_MULTIPLIER


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
