r"""The optimal face of a conic set, read off an optimal dual solution.

With :math:`\lambda \in K^*`, :math:`H'\lambda = q` optimal, a point of Z is a minimiser of
:math:`q'z` if and only if it is complementary to :math:`\lambda`:
:math:`\lambda'(Hz - h) = 0`, cone by cone. That turns rows with a positive multiplier into
equalities, which is exact, where the row :math:`q'z \le v^*` would leave no interior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from feaslearn.arrays import Array
from feaslearn.solvers.conic import ConicSolution
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.triangle import split
from feaslearn.tolerances import ROUNDING, SOLVED_DEPENDENT_TOL, ZERO_MULTIPLIER


class FlatFace(NamedTuple):
    """The points ``z = point + basis w`` with w in a conic form without equalities."""

    point: Array
    basis: Array
    form: ConicForm


def optimal_face(form: ConicForm, solution: ConicSolution, q: Array) -> FlatFace:
    """Return the minimisers of ``q`` in ``form``, given one optimal point with its multipliers."""
    zero = ZERO_MULTIPLIER * np.abs(q).max() / np.abs(form.H).max()
    parts = [
        _reduced(cone, form.H[rows], form.h[rows], solution.dual[rows], zero)
        for cone, rows in form.blocks()
    ]
    equal, rows, right, cones = [np.empty((0, len(q)))], [], [], []
    for part in parts:
        for cone, block in part.blocks():
            if cone.kind == "zero":
                equal.append(part.H[block])
            elif cone.size:
                rows.append(part.H[block])
                right.append(part.h[block])
                cones.append(cone)
    # The equalities hold at the solver's point by construction; only their directions count.
    basis = null_space(np.vstack(equal), rcond=SOLVED_DEPENDENT_TOL)
    H = np.vstack([np.empty((0, len(q))), *rows])
    h = np.concatenate([np.empty(0), *right]) - H @ solution.point
    within = H @ basis
    # A row that is constant on the face is left with rounding errors, which would mislead a
    # solver that scales rows.
    within[np.abs(within) <= ROUNDING * np.linalg.norm(H, axis=1, keepdims=True)] = 0.0
    return FlatFace(solution.point, basis, ConicForm(within, h, tuple(cones)))


def _reduced(cone: Cone, H: Array, h: Array, dual: Array, zero: float) -> ConicForm:
    if cone.kind == "nonnegative":
        active = dual > zero
        order = np.concatenate([np.flatnonzero(active), np.flatnonzero(~active)])
        cones = (Cone("zero", int(active.sum())), Cone("nonnegative", int((~active).sum())))
        return ConicForm(H[order], h[order], cones)
    if cone.kind == "zero" or np.linalg.norm(dual) <= zero:
        return ConicForm(H, h, (cone,))
    if cone.kind == "semidefinite":
        return _on_a_null_space(H, h, dual, zero)
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


def _on_a_null_space(H: Array, h: Array, dual: Array, zero: float) -> ConicForm:
    """Semidefinite rows: with V a basis of the multipliers' null space, the slack is ``V W V'``."""
    rows, kept, *_ = split(dual, zero)
    cones = (Cone("semidefinite", kept), Cone("zero", len(h) - kept))
    return ConicForm(rows @ H, rows @ h, cones)
