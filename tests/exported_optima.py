"""Least costs over exported regions, found as a user would, beside our own."""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pyomo.environ as pyo

import feaslearn as fl
from feaslearn.export import Exported
from feaslearn.export.naming import safe_names
from feaslearn.solvers.highs import CheckedProgram
from registry import Array

#: HiGHS stops at a gap of 1e-4 where it branches, unless an option says otherwise.
EXACT: dict[str, Any] = {
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-9,
    "threads": 1,
}
#: What was exported, None for a file, and the decision of least cost in it.
Solving = tuple[Exported | None, Callable[[Array], Array]]


def in_cvxpy(source: Any) -> Solving:
    exported = fl.export.to_cvxpy(source)
    cost = cp.Parameter(exported.x.shape)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    curved = any(type(each).__name__ in ("SOC", "PSD") for each in problem.constraints)

    def minimize(prices: Array) -> Array:
        cost.value = prices
        if curved:
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        else:
            problem.solve(solver="HIGHS", **EXACT)
        return np.asarray(exported.x.value)

    return exported, minimize


def in_pyomo(source: Any) -> Solving:
    exported = fl.export.to_pyomo(source)
    model = pyo.ConcreteModel()
    model.region = exported.model
    decisions = list(model.region.x.values())
    model.c = pyo.Param(range(len(decisions)), mutable=True, initialize=0.0)
    model.cost = pyo.Objective(expr=sum(model.c[j] * each for j, each in enumerate(decisions)))
    solver = pyo.SolverFactory("appsi_highs")
    solver.highs_options = EXACT

    def minimize(prices: Array) -> Array:
        model.c.store_values(dict(enumerate(prices.tolist())))
        solver.solve(model)
        return np.array([pyo.value(each) for each in decisions])

    return exported, minimize


def read_program(path: Path) -> Any:
    """Return HiGHS with the program of a file."""
    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    for option, value in EXACT.items():
        solver.setOptionValue(option, value)
    return solver


def of_file(path: Path, names: list[str]) -> Solving:
    """Solve a file of a linear program with HiGHS, whatever its objective is."""
    solver = read_program(path)
    labels = list(solver.getLp().col_names_)
    columns = np.array([labels.index(name) for name in names], dtype=np.int32)

    def minimize(prices: Array) -> Array:
        every = np.zeros(len(labels))
        every[columns] = prices
        solver.changeColsCost(len(labels), np.arange(len(labels), dtype=np.int32), every)
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return np.asarray(solver.getSolution().col_value)[columns]

    return None, minimize


def in_file(write: Any, suffix: str) -> Callable[[Any], Solving]:
    def solving(source: Any) -> Solving:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"region.{suffix}"
            write(source, path)
            return of_file(path, list(safe_names(source.names).values()))

    return solving


def cells(source: Any, contents: str) -> list[list[str]]:
    """Return the rows of a table below its header."""
    with tempfile.TemporaryDirectory() as folder:
        fl.export.to_csv(source, Path(folder) / "table.csv", contents)
        with (Path(folder) / "table.csv").open(newline="") as file:
            return list(csv.reader(file))[1:]


def in_vertices(source: Any) -> Solving:
    points = np.array(cells(source, "vertices"), dtype=float)
    return None, lambda prices: points[np.argmin(points @ prices)]


def in_halfspaces(source: Any) -> Solving:
    table, n = cells(source, "halfspaces"), source.n
    matrix = np.array([row[:n] for row in table], dtype=float).reshape(-1, n)
    limits = np.array([float(row[-1]) for row in table])
    equal = np.array([row[n] == "=" for row in table], dtype=bool)
    rows = (matrix[~equal], limits[~equal], matrix[equal], limits[equal])
    free = np.full(n, np.inf)
    return None, lambda prices: CheckedProgram(prices, -free, free, *rows).solve("exported").point


TOOLS: dict[str, Callable[[Any], Solving]] = {
    "cvxpy": in_cvxpy,
    "pyomo": in_pyomo,
    "mps": in_file(fl.export.to_mps, "mps"),
    "lp": in_file(fl.export.to_lp, "lp"),
    "vertices": in_vertices,
    "halfspaces": in_halfspaces,
}


def largest_difference(
    source: Any, tool: str, signals: Any = None, n_problems: int = 10, seed: int = 0
) -> float:
    """Return how far least costs in a tool are from ours, as a share of the size of the region."""
    exported, minimize = TOOLS[tool](source)
    rng, differences = np.random.default_rng(seed), []
    # Where the region stands still, there is one signal.
    for signal in [None] if signals is None else signals:
        region = source if signal is None else source.region(signal)
        if signal is not None and exported is not None:
            exported.set_signal(signal)
        for cost in rng.standard_normal((n_problems, region.n)):
            x = region.minimize(cost)
            # A region far from zero counts as a share of how far it is: solvers round there.
            size = max(region.support(cost) - cost @ x, 1e-3 * (np.abs(cost) @ np.abs(x)))
            differences.append(abs(cost @ (x - minimize(cost))) / (size or 1.0))
    sys.stdout.flush()
    return float(max(differences))
