"""Distances of points to polyhedra with hidden coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import SolverError
from feaslearn.problem.forward_problem import Norm
from feaslearn.solvers.conic import interior_point
from feaslearn.solvers.conic_form import Cone
from feaslearn.solvers.highs import (
    Bounds,
    WarmProgram,
    name_rows,
    raise_failures,
    raise_violations,
)
from feaslearn.tolerances import FEASIBILITY_TOL, TIGHT_TOL

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def distances(points: Array, matrix: sparse.csc_array, bounds: Bounds, norm: Norm) -> Array:
    """Measure how far each point is from the polyhedron of its sample.

    ``min { ||x - (y_1..y_n)|| : row_lower <= M y <= row_upper, lower <= y <= upper }``
    """
    n = points.shape[1]
    if norm == "l2":
        nearest = _nearest_l2(points, matrix, bounds)
    else:
        limits = np.eye(n) if norm == "l1" else np.ones((n, 1))
        nearest = _nearest_by_lp(points, matrix, bounds, limits)
    gaps = np.nan_to_num(points - nearest, nan=0.0)
    lengths: Array = np.linalg.norm(gaps, ord=ORDER[norm], axis=1)
    return lengths


def _nearest_by_lp(points: Array, matrix: sparse.csc_array, bounds: Bounds, limits: Array) -> Array:
    """Minimise ``e't`` subject to ``y + T t >= x`` and ``y - T t <= x``, T being ``limits``."""
    n_samples, n = points.shape
    v, count = matrix.shape[1], limits.shape[1]
    select = sparse.eye(n, v)
    wide = _blocks([[matrix, None], [select, limits], [select, -limits]])
    costs = np.concatenate([np.zeros(v), np.ones(count)])
    open_end = np.full((n_samples, n), np.inf)
    wider = Bounds(
        np.hstack([bounds.row_lower, _unless_nan(points, -np.inf), -open_end]),
        np.hstack([bounds.row_upper, open_end, _unless_nan(points, np.inf)]),
        np.hstack([bounds.lower, np.zeros((n_samples, count))]),
        np.hstack([bounds.upper, np.full((n_samples, count), np.inf)]),
    )
    answers = WarmProgram(wide).solve(np.broadcast_to(costs, (n_samples, v + count)), wider)
    return answers.points[:, :n]


def _blocks(rows: Any) -> sparse.csc_array:
    """Return a block matrix."""
    return sparse.csc_array(sparse.bmat(rows))


def _unless_nan(points: Array, bound: float) -> Array:
    """Return the points with a bound in place of NaN."""
    return np.where(np.isnan(points), bound, points)


def _nearest_l2(points: Array, matrix: sparse.csc_array, bounds: Bounds) -> Array:
    """Minimise ``t`` subject to ``||x - y|| <= t``."""
    # As a cone program, not as a least-squares program: a solver that is right to 1e-10 in the
    # squared distance is right to 1e-5 only in the distance itself. Equal bounds become equations,
    # because an interior-point method needs slack between inequalities.
    n_samples, n = points.shape
    v = matrix.shape[1]
    lower = np.hstack([bounds.row_lower, bounds.lower])
    upper = np.hstack([bounds.row_upper, bounds.upper])
    table = sparse.csr_array(sparse.vstack([matrix, sparse.identity(v)]))
    nearest, gaps = np.empty((n_samples, v)), np.empty(n_samples)
    statuses = np.full(n_samples, "Optimal", dtype=object)
    programs: dict[bytes, _ConeProgram] = {}
    for i in range(n_samples):
        equal, seen = lower[i] == upper[i], ~np.isnan(points[i])
        above, below = ~equal & np.isfinite(upper[i]), ~equal & np.isfinite(lower[i])
        key = np.concatenate([equal, above, below, seen]).tobytes()
        if key not in programs:
            programs[key] = _ConeProgram(table, equal, above, below, seen)
        statuses[i], nearest[i], gaps[i] = programs[key].solve(points[i], lower[i], upper[i])
    raise_failures(statuses)
    raise_violations(nearest @ table.T, lower, upper)
    size = 1.0 + np.abs(np.nan_to_num(points, nan=0.0)).max(axis=1)
    bad = np.flatnonzero(gaps > FEASIBILITY_TOL * size)
    if len(bad):
        raise SolverError(
            f"the distance at {name_rows(bad)} is certain to {gaps[bad].max():.2g} only: "
            "check the scale of the data"
        )
    return nearest[:, :n]


class _ConeProgram:
    """The l2 distance to every polyhedron whose equations and inequalities are the same rows."""

    def __init__(
        self,
        table: sparse.csr_array,
        equal: Mask,
        above: Mask,
        below: Mask,
        seen: Mask,
    ) -> None:
        self._equal, self._above, self._below, self._seen = equal, above, below, seen
        v = table.shape[1]
        signed = sparse.vstack([table[np.flatnonzero(equal)], table[np.flatnonzero(above)]])
        select = sparse.csr_array(sparse.eye(len(seen), v))[np.flatnonzero(seen)]
        bounded = sparse.vstack([signed, -table[np.flatnonzero(below)]])
        self._matrix = sparse.csc_matrix(
            _blocks([[bounded, None], [None, -np.ones((1, 1))], [select, None]])
        )
        self._cones = [
            Cone("zero", int(equal.sum())),
            Cone("nonnegative", int(above.sum() + below.sum())),
            # Where no entry counts, t >= 0 is all that is left; a second-order cone has two rows.
            Cone("second-order" if seen.any() else "nonnegative", int(1 + seen.sum())),
        ]
        self._cost = np.append(np.zeros(v), 1.0)
        self._quadratic = sparse.csc_matrix((v + 1, v + 1))

    def solve(self, point: Array, lower: Array, upper: Array) -> tuple[str, Array, float]:
        """Return the status, the nearest y and its duality gap."""
        right = np.concatenate(
            [
                upper[self._equal],
                upper[self._above],
                -lower[self._below],
                [0.0],
                point[self._seen],
            ]
        )
        solution = interior_point(
            self._quadratic, self._cost, self._matrix, right, self._cones, TIGHT_TOL
        )
        status = str(solution.status)
        # Answers short of the last digits are kept: their residuals are checked afterwards.
        if status in ("Solved", "AlmostSolved", "InsufficientProgress"):
            status = "Optimal"
        elif status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            status = "Infeasible"
        gap = abs(solution.obj_val - solution.obj_val_dual)
        return status, np.asarray(solution.x[:-1]), float(gap)
