"""What the net records of a model, of an error and of the public surface."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from typer.main import get_command

import feaslearn as fl
from feaslearn.cli.app import app
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning
from net.cases import HERE, Table

Array = NDArray[np.float64]

ROOT = HERE.parents[1]
#: Directions in which a region is measured at the first of the new signals.
N_DIRECTIONS = 10


def decisions(model: fl.RegionRegressor, data: Table) -> dict[str, Array]:
    """Return the decisions at new signals, as they are priced and under other prices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        found = {"new": np.asarray(model.predict(data.new), dtype=float)}
        if model.cost_ is not None:
            found["whatif"] = np.asarray(model.predict(data.new, costs=data.prices), dtype=float)
    return found


def region_at(model: fl.RegionRegressor, data: Table) -> dict[str, Array]:
    """Return how far a region reaches, and its optimum through a file and through CVXPY."""
    region = model.region(data.new[0])
    n = region.n
    directions = np.random.default_rng(n).normal(size=(N_DIRECTIONS, n))
    found = {"support": np.array([region.support(each) for each in directions])}
    for name, solve in (("mps", _optimum_of_a_file), ("cvxpy", _optimum_in_cvxpy)):
        with contextlib.suppress(FeaslearnError):
            found[name] = np.array([solve(region, directions[0])])
    return found


def _optimum_of_a_file(region: fl.Region, cost: Array) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "region.mps"
        fl.export.to_mps(region, path, cost)
        solver = highspy.Highs()
        solver.silent()
        solver.readModel(str(path))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise AssertionError(f"{path}: {solver.getModelStatus()}")
    return float(solver.getObjectiveValue())


def _optimum_in_cvxpy(region: fl.Region, cost: Array) -> float:
    import cvxpy as cp

    exported = fl.export.to_cvxpy(region)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    return float(problem.solve(solver="HIGHS" if problem.is_mixed_integer() else "CLARABEL"))


def result(model: fl.RegionRegressor) -> dict[str, Any]:
    """Return what a fit says about itself."""
    told = model.result_
    return {
        "status": told.status,
        "objective": told.objective,
        "returned_loss": told.returned_loss,
        "lower_bound": told.lower_bound,
        "tied_share": told.tied_share,
    }


def quality(model: fl.RegionRegressor, data: Table) -> dict[str, float]:
    """Return R² on the training rows, empty regions, and observed decisions left outside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        predicted = np.asarray(model.predict(data.signals), dtype=float)
    observed = data.decisions
    empty, outside = 0, 0
    reach = 1e-6 * (observed.max(axis=0) - observed.min(axis=0)).max()
    for s, x in zip(data.signals[::10], observed[::10], strict=True):
        try:
            outside += model.region(s).distance(x) > reach
        except FeaslearnError:
            empty += 1
    return {
        "r2": fl.metrics.pooled_r2(observed, predicted),
        "empty": empty,
        "infeasible": int(outside),
    }


def error(act: Callable[[], object]) -> dict[str, Any]:
    """Return the class of an error, how many problems it names, and the names and numbers."""
    try:
        act()
    except FeaslearnError as raised:
        text = str(raised)
        return {
            "class": type(raised).__name__,
            "problems": max(text.count("\n  - "), 1),
            "tokens": sorted(tokens(text)),
        }
    raise AssertionError("no error")


def tokens(text: str) -> set[str]:
    """Return the numbers and the quoted names of a message."""
    quoted = re.findall(r"'([^']{1,40})'", text)
    return {*quoted, *re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)}


def api() -> dict[str, dict[str, str] | None]:
    """Return every name of the API page with its parameters and their defaults."""
    page = (ROOT / "docs/api.rst").read_text(encoding="utf-8")
    names = {*re.findall(r"^   ([A-Za-z_][\w.]*)$", page, re.MULTILINE), *fl.__all__}
    return {name: _parameters(_named(name)) for name in sorted(names)}


def members() -> dict[str, str]:
    """Return the public attributes and methods of every class of the API page."""
    things = {name: _named(name) for name in api()}
    return {
        name: " ".join(sorted(each for each in dir(thing) if not each.startswith("_")))
        for name, thing in things.items()
        if inspect.isclass(thing)
    }


def _named(name: str) -> Any:
    found: Any = fl
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = __import__(f"feaslearn.{name.rpartition('.')[0]}", fromlist=[part])
            found = getattr(found, part)
    return found


def _parameters(thing: Any) -> dict[str, str] | None:
    if not callable(thing):
        return None
    found = inspect.signature(thing).parameters
    # A function has an address in its text, which means nothing.
    return {each.name: re.sub(r" at 0x\w+", "", repr(each.default)) for each in found.values()}


def options() -> dict[str, list[str]]:
    """Return the options of every command."""
    group = get_command(app)
    commands: Mapping[str, Any] = group.commands  # type: ignore[attr-defined]
    return {
        name: sorted(option for each in command.params for option in each.opts)
        for name, command in commands.items()
    }


def keys(value: Any) -> Any:
    """Return the keys of what a command prints as JSON, nested ones too."""
    if isinstance(value, dict):
        return {name: keys(part) for name, part in sorted(value.items())}
    return None


def recorded() -> dict[str, Any]:
    """Return what was recorded, without the arrays."""
    return dict(json.loads((HERE / "recorded.json").read_text(encoding="utf-8")))


def arrays() -> dict[str, Array]:
    """Return the arrays that were recorded, by "case/what"."""
    with np.load(HERE / "recorded.npz") as file:
        return dict(file)
