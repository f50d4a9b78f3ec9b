"""Every call of the library by the golden cases and their data: only this follows renames."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from feaslearn.cli import main as run_cli
from feaslearn.solvers.highs import Bounds, WarmProgram
from feaslearn.solvers.small_lp import Limits, solve_programs

Array = np.ndarray[Any, np.dtype[np.float64]]
COMMANDS = """demo --data power.csv --samples 150
check power.csv ROLES
fit power.csv ROLES --hypothesis facets -o power.npz
predict power.npz power.csv -o decisions.csv
predict power.npz power.csv --costs 0.9,0.4,1.2 -o whatif.csv
explain power.npz
explain power.npz power.csv --row 3
export power.npz --data power.csv --row 3 --format halfspaces -o region.csv
report power.npz power.csv -o power.html
fit power.csv --signals load --decisions plant_* --cost cost_* -o other.npz"""
ROLES = "--signals cost_*,demand_* --decisions plant_* --cost cost_*"


def made(name: str, rows: int, seed: int, **options: Any) -> Any:
    """Return rows of one of the library's data sets."""
    with warnings.catch_warnings(action="ignore"):
        return getattr(fl.datasets, f"make_{name}")(n_samples=rows, random_state=seed, **options)


def optimal(G: Any, rows: tuple[Any, Any], ends: tuple[Any, Any], costs: Array) -> Array:
    """Return the cheapest points of ``rows[0] <= G x <= rows[1]`` between ends by HiGHS, or NaN."""
    sides = [np.broadcast_to(side, (len(costs), G.shape[0])) for side in rows]
    sides += [np.broadcast_to(end, costs.shape) for end in ends]
    return WarmProgram(G).solve(costs, Bounds(*sides), infeasible=True).points


def cheapest(G: Array, q: int, limits: Any, costs: Array) -> Array:
    """Return the cheapest points of ``G x <= right``, the first q equal, between ends; or NaN."""
    slack, G = np.repeat([0.0, np.inf], [q, len(G) - q]), np.ascontiguousarray(G)
    return solve_programs(G, Limits(*limits), costs, slack).decisions


def fitted(signals: Array, decisions: Array, cost: list[int], facets: bool, **options: Any) -> Any:
    """Return a model of facets, or of what is selected; ``cost`` says which signals are costs."""
    hypothesis = fl.Facets() if facets else None
    model = fl.RegionRegressor(hypothesis, cost=cost, random_state=0, **options)
    with warnings.catch_warnings(action="ignore"):
        return model.fit(signals, decisions)


def predicted(model: Any, signals: Array, costs: Array | None = None) -> tuple[Array, Array]:
    """Return decisions, and which of them are trusted."""
    with warnings.catch_warnings(action="ignore"):
        decisions, trust = model.predict(signals, costs=costs, return_trust=True)
    return np.asarray(decisions), np.asarray(trust.trusted)


def described(model: Any) -> tuple[str, list[Any]]:
    """Return what was selected, and facets, each with normal, limit and whether identified."""
    return type(model.hypothesis_).__name__, list(getattr(model, "facets_", ()))


def exported(kind: str, model: Any, signal: Array, cost: Array, path: Path) -> Any:
    """Write the region at a signal to a file, or return it in a modelling language."""
    given = {"mps": (path, cost), "lp": (path, cost), "csv": (path,)}
    return getattr(fl.export, f"to_{kind}")(model.region(signal), *given.get(kind, ()))


def run_command(line: str) -> None:
    """Run one command in this process; it ends with SystemExit."""
    sys.argv = ["feaslearn", *line.replace("ROLES", ROLES).split()]
    run_cli()


def outliers(model: Any, count: int) -> Array:
    """Return which training rows are named as exceptional."""
    return np.isin(np.arange(count), list(getattr(model.result_, "exceptional", ())))
