r"""Programs over conic sets, by Clarabel: linear costs with their multipliers, nearest points.

Strong duality is what the paper's reformulations rest on:

.. math:: \min \{q'z : Hz - h \in K\} = \max \{\lambda'h : H'\lambda = q, \lambda \in K^*\}
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array
from feaslearn.exceptions import (
    InfeasibleProblemError,
    SolverError,
    UnboundedProblemError,
    UnsupportedError,
)
from feaslearn.paper.regions.cones import Cone, ConicForm, is_polyhedral, side
from feaslearn.solvers.highs import Answers, Bounds, WarmProgram
from feaslearn.tolerances import ACCEPT_TOL, INTERIOR_TOL, SOLVED_ZERO, divisors, size_of

logger = logging.getLogger("feaslearn")

#: Longest steps of the interior-point method, as it comes and where that stalls.
STEPS = (0.99, 0.9)
#: Below this (relative to the target), a distance found through its square is not exact enough
#: and is refined: where solvers stall, 1e-7 in the square of zero is 3e-4 in the distance.
SMALL_DISTANCE = 0.1
NORM_ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}


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
    logger.info("a linear program was solved by HiGHS: %s", told)
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


class Nearest(NamedTuple):
    """A latent point whose image is nearest to a target.

    ``slope`` is the derivative of the distance in the image, the one that is optimal in the dual:
    where the norm has a kink at the residual, it is not the sign pattern of the residual.
    """

    latent: Array
    slope: Array


def nearest_by_solver(form: ConicForm, M: Array, target: Array, norm: str) -> Nearest:
    """Minimise ``|M z - target|`` over the ``z`` of a conic form, in a norm.

    Rows of ``M`` and entries of ``target`` that are both zero do not count.
    """
    n = len(M)
    if norm == "l2":
        z = _nearest_l2(form, M, target)
        return Nearest(z, unit(M @ z - target, target))
    if norm not in ("l1", "linf"):
        raise UnsupportedError(f"norm={norm!r} is not known; use 'l2', 'l1' or 'linf'")
    limit = np.eye(n) if norm == "l1" else np.ones((n, 1))
    measure, bounds = np.vstack([-M, M]), np.vstack([limit, limit])
    offset = np.concatenate([-target, target])
    z, dual = _nearest(form, measure, bounds, offset, Cone("nonnegative", 2 * n))
    return Nearest(z, dual[:n] - dual[n : 2 * n])


def nearest_listed(points: Array, M: Array, target: Array, norm: str) -> Nearest:
    """Return the one of the listed points whose image is nearest to a target, in a norm."""
    if norm not in NORM_ORDERS:
        raise UnsupportedError(f"norm={norm!r} is not known; use 'l2', 'l1' or 'linf'")
    residuals = points @ M.T - target
    best = int(np.linalg.norm(residuals, NORM_ORDERS[norm], axis=1).argmin())
    residual = residuals[best]
    if norm == "l2":
        return Nearest(points[best], unit(residual, target))
    slope = np.sign(residual)
    if norm == "linf":
        slope = slope * (np.arange(len(slope)) == np.abs(residual).argmax())
    return Nearest(points[best], slope)


def unit(residual: Array, target: Array) -> Array:
    """Return a vector of length one in the direction of ``residual``, or zero."""
    # A residual that is only rounding has no direction: a target inside has a distance of slope
    # zero.
    length = float(np.linalg.norm(residual))
    if length <= SOLVED_ZERO * size_of(target):
        return np.zeros_like(residual)
    return residual / length


def _nearest_l2(form: ConicForm, M: Array, target: Array) -> Array:
    """Minimise the square of the distance and, where that is small, the distance itself."""
    # Solvers can stall at the square of zero, as they can at the kink of a distance of zero.
    n = len(M)

    def distance(z: Array) -> float:
        return float(np.linalg.norm(M @ z - target))

    found = []
    with contextlib.suppress(SolverError):
        found.append(_nearest(form, -M, np.eye(n), -target, Cone("zero", n), squared=n)[0])
        if distance(found[0]) > SMALL_DISTANCE * size_of(target):
            return found[0]
    # One row more, before the others: the limit t of the norm.
    measure, offset = np.pad(M, ((1, 0), (0, 0))), np.pad(target, (1, 0))
    cone = Cone("second-order", n + 1)
    try:
        found.append(_nearest(form, measure, np.eye(n + 1, 1), offset, cone)[0])
    except SolverError:
        if not found:
            raise
    return min(found, key=distance)


def _nearest(
    form: ConicForm, measure: Array, bounds: Array, offset: Array, cone: Cone, squared: int = 0
) -> tuple[Array, Array]:
    """Minimise sum t (or half its squares) over ``measure z + bounds t - offset in cone``."""
    # Returns z and the multipliers of the cone's rows.
    p, m = measure.shape[1], bounds.shape[1]
    rows = np.block([[measure, bounds], [form.H, np.zeros((len(form.h), m))]])
    cost = np.concatenate([np.zeros(p), np.full(m, 0.0 if squared else 1.0)])
    right = np.concatenate([offset, form.h])
    solution = solve_conic(cost, rows, right, (cone, *form.cones), squared)
    return solution.point[:p], solution.dual[: cone.size]
