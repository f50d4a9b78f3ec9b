"""Distances of points to polyhedra with hidden coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from feaslearn.arrays import Array
from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.problem.forward_problem import Norm
from feaslearn.solvers.conic import solve_conic
from feaslearn.solvers.conic_form import Cone
from feaslearn.solvers.highs import Bounds, WarmProgram, raise_failures, raise_violations

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
    cost, limit, select = np.append(np.zeros(v), 1.0), np.ones((1, 1)), table[-v:][:n]
    nearest = np.full((n_samples, v), np.nan)
    statuses = np.full(n_samples, "Optimal", dtype=object)
    for i, (x, low, high) in enumerate(zip(points, lower, upper, strict=True)):
        equal, seen = low == high, np.flatnonzero(~np.isnan(x))
        above = np.flatnonzero(~equal & np.isfinite(high))
        below = np.flatnonzero(~equal & np.isfinite(low))
        equal = np.flatnonzero(equal)
        bounded = sparse.vstack([table[equal], -table[above], table[below]])
        rows: Any = _blocks([[bounded, None], [None, limit], [select[seen], None]])
        cones = (
            Cone("zero", len(equal)),
            Cone("nonnegative", len(above) + len(below)),
            # Where no entry counts, t >= 0 is all that is left; a second-order cone has two rows.
            Cone("second-order" if len(seen) else "nonnegative", 1 + len(seen)),
        )
        right = np.concatenate([high[equal], -high[above], low[below], [0.0], x[seen]])
        try:
            nearest[i] = solve_conic(cost, rows, right, cones).point[:-1]
        except InfeasibleProblemError:
            statuses[i] = "Infeasible"
    raise_failures(statuses)
    raise_violations(nearest @ table.T, lower, upper)
    return nearest[:, :n]
