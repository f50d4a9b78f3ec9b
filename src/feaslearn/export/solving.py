"""Minimise costs over an exported region with a solver of the tool, as a user would."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.export.exported import Exported
from feaslearn.export.in_cvxpy import to_cvxpy
from feaslearn.export.in_gurobipy import gurobi_errors, to_gurobipy
from feaslearn.export.in_linopy import to_linopy
from feaslearn.export.in_pyomo import to_pyomo
from feaslearn.formulations.program import CONIC, load_cvxpy, solve
from feaslearn.messages import import_extra
from feaslearn.tolerances import HIGHS_TOL, TIGHT_TOL

#: HiGHS stops at a gap of 1e-4 where it branches, unless an option says otherwise.
EXACT: dict[str, float] = {
    "primal_feasibility_tolerance": HIGHS_TOL,
    "dual_feasibility_tolerance": HIGHS_TOL,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": HIGHS_TOL,
    "threads": 1,
}


class Solving(NamedTuple):
    """An exported region, None for a file, and what finds the decision of least cost in it."""

    exported: Exported | None
    minimize: Callable[[Array], Array]


def in_cvxpy(source: Any) -> Solving:
    """Solve with HiGHS, or with Clarabel where the region is curved."""
    cp = load_cvxpy()
    exported = to_cvxpy(source)
    cost = cp.Parameter(exported.x.shape)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    attempts = CONIC if _curved(problem) else (("HIGHS", EXACT),)

    def minimize(prices: Array) -> Array:
        cost.value = prices
        solve(problem, "exported", attempts, relative=True)
        return np.asarray(exported.x.value)

    return Solving(exported, minimize)


def _curved(problem: Any) -> bool:
    return any(type(each).__name__ in ("SOC", "PSD") for each in problem.constraints)


def in_pyomo(source: Any) -> Solving:
    """Solve with HiGHS, or with Gurobi where the region is curved."""
    pyo = import_extra("pyomo.environ", "pyomo")
    exported = to_pyomo(source)
    model = pyo.ConcreteModel()
    model.region = exported.model
    decisions = list(model.region.x.values())
    model.c = pyo.Param(range(len(decisions)), mutable=True, initialize=0.0)
    model.cost = pyo.Objective(expr=sum(model.c[j] * each for j, each in enumerate(decisions)))
    solver = _pyomo_solver(pyo, curved=len(model.region.norms) > 0)

    def minimize(prices: Array) -> Array:
        model.c.store_values(dict(enumerate(prices.tolist())))
        try:
            with _silence():
                solver.solve(model)
        except RuntimeError as error:
            raise SolverError(f"Pyomo found no optimum: {error}") from error
        return np.array([pyo.value(each) for each in decisions])

    return Solving(exported, minimize)


def _pyomo_solver(pyo: Any, *, curved: bool) -> Any:
    solver = pyo.SolverFactory("appsi_gurobi" if curved else "appsi_highs")
    if not solver.available(exception_flag=False):
        needed = "gurobipy: the region is curved" if curved else "highspy"
        raise UnsupportedError(f"Pyomo finds no solver for this region; install {needed}")
    if curved:
        solver.gurobi_options = {"BarQCPConvTol": TIGHT_TOL, "FeasibilityTol": HIGHS_TOL}
    else:
        solver.highs_options = EXACT
    return solver


def in_linopy(source: Any) -> Solving:
    """Solve with HiGHS."""
    exported = to_linopy(source)

    def minimize(prices: Array) -> Array:
        model, along = exported.model, exported.x.coord_dims[0]
        factors = exported.x.lower.copy(data=prices)
        model.add_objective((factors * exported.x).sum(along), overwrite=True)
        with _silence():
            status = model.solve("highs", io_api="direct", progress=False, **EXACT)
        if status != ("ok", "optimal"):
            raise SolverError(f"linopy found no optimum: {', '.join(status)}")
        return np.asarray(exported.x.solution)

    return Solving(exported, minimize)


def in_gurobipy(source: Any) -> Solving:
    """Solve with Gurobi."""
    gp = import_extra("gurobipy", "gurobi")
    with gurobi_errors(gp):
        environment = gp.Env(params={"OutputFlag": 0})
        exported = to_gurobipy(source, gp.Model(env=environment))
    exported.model.setParam("FeasibilityTol", HIGHS_TOL)
    exported.model.setParam("BarQCPConvTol", TIGHT_TOL)
    exported.model.setParam("MIPGap", 0.0)
    exported.model.setParam("Threads", 1)

    def minimize(prices: Array) -> Array:
        exported.model.setObjective(prices @ exported.x)
        with gurobi_errors(gp):
            exported.model.optimize()
        if exported.model.Status != gp.GRB.OPTIMAL:
            raise SolverError(f"Gurobi found no optimum: status {exported.model.Status}")
        return np.asarray(exported.x.X)

    return Solving(exported, minimize)


@contextmanager
def _silence() -> Iterator[None]:
    """Send away what solvers print past Python, whatever their options say."""
    sys.stdout.flush()
    kept = os.dup(1)
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(devnull)
        os.close(kept)
