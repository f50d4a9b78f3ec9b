"""The optimum of ten random problems over an exported region is the same in every tool.

What users are told to write, written out here: nothing goes through `export.verify`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.exceptions import UnsupportedError

from .conftest import CURVED_MODELS, MODELS, fitted, signals_of

Array = NDArray[np.float64]
COSTS = np.random.default_rng(1).normal(size=(10, 3))
LINEAR = [name for name in MODELS if name not in CURVED_MODELS]


def region_of(name: str) -> fl.Region:
    return fitted(name).region(signals_of(name, 2)[1])


def costs_of(region: fl.Region) -> Array:
    return COSTS[:, : region.n]


def ours(region: fl.Region) -> Array:
    return np.array([cost @ region.minimize(cost) for cost in costs_of(region)])


@pytest.mark.parametrize("name", MODELS)
def test_cvxpy(name: str) -> None:
    region = region_of(name)
    exported = fl.export.to_cvxpy(region)
    cost = cp.Parameter(region.n)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    solver = "CLARABEL" if name in CURVED_MODELS else "HIGHS"
    values = []
    for cost.value in costs_of(region):
        problem.solve(solver=solver)
        values.append(problem.value)
    np.testing.assert_allclose(values, ours(region), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_pyomo_with_highs(name: str) -> None:
    pyo = pytest.importorskip("pyomo.environ", reason="needs pyomo")
    region = region_of(name)
    market = pyo.ConcreteModel()
    market.plant = fl.export.to_pyomo(region).model
    values = []
    for cost in costs_of(region):
        market.del_component("cost")
        market.cost = pyo.Objective(
            expr=sum(c * market.plant.x[each] for c, each in zip(cost, region.names, strict=True))
        )
        pyo.SolverFactory("appsi_highs").solve(market)
        values.append(pyo.value(market.cost))
    np.testing.assert_allclose(values, ours(region), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("form", ["mps", "lp"])
@pytest.mark.parametrize("name", LINEAR)
def test_highs_from_a_file(name: str, form: str, tmp_path: Path) -> None:
    region = region_of(name)
    path = tmp_path / f"region.{form}"
    write: Any = {"mps": fl.export.to_mps, "lp": fl.export.to_lp}[form]
    values = []
    for cost in costs_of(region):
        write(region, path, cost)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(path))
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        values.append(solver.getInfo().objective_function_value)
    np.testing.assert_allclose(values, ours(region), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["affine-simplex", "affine-binary", "facets", "blend"])
def test_linopy(name: str) -> None:
    pytest.importorskip("linopy", reason="needs linopy")
    xr = pytest.importorskip("xarray")
    region = region_of(name)
    exported = fl.export.to_linopy(region)
    values = []
    for cost in costs_of(region):
        prices = xr.DataArray(cost, dims=["decision"], coords={"decision": list(region.names)})
        exported.model.add_objective((prices * exported.x).sum(), overwrite=True)
        assert exported.model.solve("highs", io_api="direct", progress=False) == ("ok", "optimal")
        values.append(exported.model.objective.value)
    np.testing.assert_allclose(values, ours(region), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_gurobipy(name: str) -> None:
    gp = pytest.importorskip("gurobipy", reason="needs gurobipy")
    region = region_of(name)
    model = gp.Model(env=gp.Env(params={"OutputFlag": 0}))
    exported = fl.export.to_gurobipy(region, model)
    values = []
    for cost in costs_of(region):
        model.setObjective(cost @ exported.x)
        model.optimize()
        values.append(model.ObjVal)
    np.testing.assert_allclose(values, ours(region), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CURVED_MODELS)
def test_pyomo_takes_cones_where_a_solver_does(name: str) -> None:
    pyo = pytest.importorskip("pyomo.environ", reason="needs pyomo")
    pytest.importorskip("gurobipy", reason="needs gurobipy, for second-order cones in Pyomo")
    region = region_of(name)
    market = pyo.ConcreteModel()
    market.plant = fl.export.to_pyomo(region).model
    market.cost = pyo.Objective(expr=sum(COSTS[0, j] * market.plant.x[f"x{j}"] for j in range(3)))
    pyo.SolverFactory("appsi_gurobi").solve(market)
    assert pyo.value(market.cost) == pytest.approx(ours(region)[0], abs=1e-6)


@pytest.mark.parametrize("name", CURVED_MODELS)
def test_linear_formats_refuse_a_curved_region(name: str, tmp_path: Path) -> None:
    region = region_of(name)
    for write in (fl.export.to_mps, fl.export.to_lp):
        with pytest.raises(UnsupportedError, match="curved: to_cvxpy, to_pyomo and to_gurobipy"):
            write(region, tmp_path / "region.txt")
    assert not list(tmp_path.iterdir())
    pytest.importorskip("linopy", reason="needs linopy")
    with pytest.raises(UnsupportedError, match="to_linopy takes linear rows alone"):
        fl.export.to_linopy(region)
