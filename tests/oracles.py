"""Right answers by other means than the library's: programs of SciPy and CVXPY, dual certificates.

Nothing here uses a closed form or a kernel of feaslearn; a set enters by its conic form alone.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from feaslearn.sets import ConicForm
from feaslearn.solvers.conic import minimize_linear

Array = NDArray[np.float64]


def least_cost(form: ConicForm, q: Array) -> tuple[float, float]:
    """Return a lower and an upper bound on the least cost, close to each other."""
    size = np.abs(q).max()
    if size == 0.0:
        return 0.0, 0.0
    if form.polyhedral:
        value = linear_program(form, q / size)[0] * size
        return value, value
    return certified_bounds(form, q)


def linear_program(form: ConicForm, q: Array) -> tuple[float, Array]:
    """Minimise over a polyhedral form with SciPy; return the value and a minimiser."""
    equal = form.equality_rows
    answer = linprog(
        q,
        A_ub=-form.H[~equal],
        b_ub=-form.h[~equal],
        A_eq=form.H[equal] if equal.any() else None,
        b_eq=form.h[equal] if equal.any() else None,
        bounds=(None, None),
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    assert answer.status == 0, answer.message
    return float(answer.fun), np.asarray(answer.x)


def certified_bounds(form: ConicForm, q: Array) -> tuple[float, float]:
    """Bound the least cost from below by a dual point and from above by a primal one.

    The solver is not believed: its dual point is moved into the dual cone, and what is then left
    of ``H'y = q`` is charged at the size of the set. Every z of the set satisfies
    ``q'z = y'(Hz - h) + y'h + r'z >= y'h - |r| |z|``.
    """
    solution = minimize_linear(form, q)
    y = into_dual_cone(form, solution.dual)
    radius = 1.0 + 2.0 * np.abs(solution.point).max()
    rest = q - form.H.T @ y
    assert form.violation(solution.point[None, :])[0] <= 1e-7
    return float(y @ form.h - np.abs(rest).sum() * radius), float(q @ solution.point)


def into_dual_cone(form: ConicForm, y: Array) -> Array:
    """Project onto the dual cone, block by block."""
    moved = y.copy()
    for cone, rows in form.blocks():
        if cone.kind == "nonnegative":
            moved[rows] = np.maximum(y[rows], 0.0)
        elif cone.kind == "second-order":
            moved[rows.start] = max(y[rows.start], float(np.linalg.norm(y[rows][1:])))
        elif cone.kind == "semidefinite":
            moved[rows] = nearest_semidefinite(y[rows])
    return moved


def nearest_semidefinite(triangle: Array) -> Array:
    """Project the scaled triangle of a symmetric matrix onto the semidefinite cone."""
    m = int(np.sqrt(2 * len(triangle)))
    columns, rows = np.tril_indices(m)
    scales = np.where(rows == columns, 1.0, np.sqrt(2.0))
    S = np.zeros((m, m))
    S[rows, columns] = S[columns, rows] = triangle / scales
    values, vectors = np.linalg.eigh(S)
    S = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(S[rows, columns] * scales)


def polyhedral_distance(form: ConicForm, M: Array, target: Array, norm: str) -> float:
    """Return ``min |M z - target|`` over a polyhedral form in the l1 or linf norm, by CVXPY."""
    z, equal = cp.Variable(M.shape[1]), form.equality_rows
    above = form.H @ z - form.h
    size = cp.norm(M @ z - target, 1 if norm == "l1" else "inf")
    problem = cp.Problem(cp.Minimize(size), [above[equal] == 0, above[~equal] >= 0])
    with np.errstate(invalid="ignore"):  # infinite bounds times zero, in CVXPY
        return float(problem.solve(solver="HIGHS"))
