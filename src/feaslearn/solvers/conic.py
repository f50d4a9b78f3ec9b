r"""Clarabel for convex programs over cones, with verified solutions: linear costs, nearest points.

Strong duality is what Theorem 3.3 of the paper rests on; with curved cones it needs a point inside:

.. math:: \min \{q'z : Hz - h \in K\} = \max \{\lambda'h : H'\lambda = q, \lambda \in K^*\}
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array
from feaslearn.exceptions import (
    InfeasibleProblemError,
    SolverError,
    UnboundedProblemError,
)
from feaslearn.results import remark
from feaslearn.solvers.conic_form import Cone, ConicForm, is_polyhedral, side
from feaslearn.solvers.highs import Answers, Bounds, WarmProgram
from feaslearn.tolerances import ACCEPT_TOL, INTERIOR_TOL, divisors, size_of

#: Longest steps of the interior-point method, as it comes and where that stalls.
STEPS = (0.99, 0.9)
#: Below this (relative to the target), a distance found through its square is not exact enough
#: and is refined: where solvers stall, 1e-7 in the square of zero is 3e-4 in the distance.
SMALL_DISTANCE = 0.1


class ConicSolution(NamedTuple):
    """A verified optimum: the point, the multipliers of the cone rows and the value."""

    point: Array
    dual: Array
    value: float


def solve_conic(
    q: Array, rows: Array, offset: Array, cones: Sequence[Cone], squared: int = 0
) -> ConicSolution:
    """Minimise ``q'v + |w|^2 / 2`` over ``rows v - offset in K``, w the last ``squared`` of v."""
    said = []
    quadratic = sp.diags_array(np.repeat([0.0, 1.0], [len(q) - squared, squared]), format="csc")
    for fraction in STEPS:
        answer = interior_point(quadratic, q, -rows, -offset, cones, INTERIOR_TOL, fraction)
        status = str(answer.status)
        if "PrimalInfeasible" in status:
            raise InfeasibleProblemError("no point satisfies all rows of the conic program")
        if "DualInfeasible" in status:
            raise UnboundedProblemError(
                "the conic program is unbounded in the direction of the cost"
            )
        gap = abs(answer.obj_val - answer.obj_val_dual) / size_of(answer.obj_val)
        residual = max(answer.r_prim, answer.r_dual, gap)
        if residual <= ACCEPT_TOL:
            return ConicSolution(np.array(answer.x), np.array(answer.z), float(answer.obj_val))
        said.append(f"status {status} and residual {residual:.1e}")
    told = f"Clarabel stopped with {', then with '.join(dict.fromkeys(said))}"
    if squared or not is_polyhedral(cones):
        raise SolverError(
            f"{told}; rescale the set (rows of H of similar size) or use a polyhedral one"
        )
    remark(f"a linear program was solved by HiGHS: {told}")
    found = vertices_of_least_cost(ConicForm(rows, offset, tuple(cones)), q[None])
    return ConicSolution(found.points[0], found.row_duals[0], float(q @ found.points[0]))


def interior_point(
    quadratic: Any,
    q: Array,
    rows: Any,
    right: Array,
    cones: Sequence[Cone],
    tolerance: float,
    fraction: float = STEPS[0],
    seconds: float = np.inf,
) -> Any:
    """Return what Clarabel says of ``min v'P v / 2 + q'v`` over ``right - rows v in K``."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.max_step_fraction = fraction
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    if np.isfinite(seconds):
        settings.time_limit = seconds
    factors = [_clarabel_cone(clarabel, cone) for cone in cones if cone.size]
    # Clarabel knows sparse matrices only, not sparse arrays.
    matrices = (sp.csc_matrix(quadratic), q, sp.csc_matrix(rows), right)
    return clarabel.DefaultSolver(*matrices, factors, settings).solve()


def vertices_of_least_cost(form: ConicForm, Q: Array) -> Answers:
    """Minimise ``q'z`` over a polyhedral form by the simplex method, for each row q of ``Q``."""
    count, free = (len(Q), 1), np.full(Q.shape, np.inf)
    above = np.where(form.equality_rows, form.h, np.inf)
    bounds = Bounds(np.tile(form.h, count), np.tile(above, count), -free, free)
    return WarmProgram(form.H).solve(Q, bounds)


def _clarabel_cone(clarabel: Any, cone: Cone) -> Any:
    if cone.kind == "semidefinite":
        return clarabel.PSDTriangleConeT(side(cone.size))
    factory = {
        "nonnegative": clarabel.NonnegativeConeT,
        "zero": clarabel.ZeroConeT,
        "second-order": clarabel.SecondOrderConeT,
    }[cone.kind]
    return factory(cone.size)


def minimize_linear(form: ConicForm, q: Array) -> ConicSolution:
    """Minimise ``q'z`` over a conic form; the dual is ``lambda in K*`` with ``H'lambda = q``."""
    scale = float(divisors(np.abs(q).max()))
    solution = solve_conic(q / scale, form.H, form.h, form.cones)
    return ConicSolution(solution.point, solution.dual * scale, solution.value * scale)


def nearest_by_solver(form: ConicForm, M: Array, target: Array) -> Array:
    """Return the ``z`` of a conic form whose image ``M z`` is nearest to a target.

    The square of the distance is minimised and, where that is small, the distance itself. Rows of
    ``M`` and entries of ``target`` that are both zero do not count.
    """
    # Solvers can stall at the square of zero, as they can at the kink of a distance of zero.
    n = len(M)

    def distance(z: Array) -> float:
        return float(np.linalg.norm(M @ z - target))

    found = []
    with contextlib.suppress(SolverError):
        found.append(nearest_in_cone(form, -M, np.eye(n), -target, Cone("zero", n), squared=n)[0])
        if distance(found[0]) > SMALL_DISTANCE * size_of(target):
            return found[0]
    # One row more, before the others: the limit t of the norm.
    measure, offset = np.pad(M, ((1, 0), (0, 0))), np.pad(target, (1, 0))
    cone = Cone("second-order", n + 1)
    try:
        found.append(nearest_in_cone(form, measure, np.eye(n + 1, 1), offset, cone)[0])
    except SolverError:
        if not found:
            raise
    return min(found, key=distance)


def nearest_in_cone(
    form: ConicForm, measure: Array, bounds: Array, offset: Array, cone: Cone, squared: int = 0
) -> tuple[Array, Array]:
    """Minimise sum t (or half its squares) over ``measure z + bounds t - offset in cone``.

    Returns z and the multipliers of the cone's rows.
    """
    p, m = measure.shape[1], bounds.shape[1]
    rows = np.block([[measure, bounds], [form.H, np.zeros((len(form.h), m))]])
    cost = np.concatenate([np.zeros(p), np.full(m, 0.0 if squared else 1.0)])
    right = np.concatenate([offset, form.h])
    solution = solve_conic(cost, rows, right, (cone, *form.cones), squared)
    return solution.point[:p], solution.dual[: cone.size]
