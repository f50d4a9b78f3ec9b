"""A region is put on variables of a model that somebody has already."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError

#: Least hydro + 2 gas over the triangle (1, 1), (3, 1), (1, 3) with hydro + gas >= 3: at (2, 1).
LEAST = 4.0


def test_cvxpy(triangle: fl.Region) -> None:
    x = cp.Variable(3, name="p")
    plant = fl.export.to_cvxpy(triangle, x[:2])
    assert plant.names == {"hydro": "p[0:2][0]", "gas turbine": "p[0:2][1]"}
    rows = [*plant.constraints, x[0] + x[1] >= 3, x[2] >= 0]
    problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1] + x[2]), rows)
    assert problem.solve(solver="HIGHS") == pytest.approx(LEAST)
    plant = fl.export.to_cvxpy(triangle, [x[2], x[0]])
    problem = cp.Problem(cp.Minimize(x[2]), plant.constraints)
    assert problem.solve(solver="HIGHS") == pytest.approx(1.0)
    for wrong in (x, 3.0, cp.Variable((2, 1))):
        with pytest.raises(DataError, match="one entry for each of hydro, gas turbine"):
            fl.export.to_cvxpy(triangle, wrong)


@pytest.mark.parametrize("kind", ["list", "names", "other names", "dictionary"])
def test_pyomo(triangle: fl.Region, kind: str) -> None:
    pyo = pytest.importorskip("pyomo.environ", reason="needs pyomo")
    model = pyo.ConcreteModel()
    # By name, the order does not matter; other keys are taken in their order.
    keys = ["gas turbine", "hydro"] if kind == "names" else ["a", "b"]
    model.x = pyo.Var(keys)
    hydro, gas = (model.x[key] for key in (keys[::-1] if kind == "names" else keys))
    given: Any = {
        "list": [hydro, gas],
        "dictionary": {"gas turbine": gas, "hydro": hydro, "wind": 3.0},
    }.get(kind, model.x)
    exported = fl.export.to_pyomo(triangle, given)
    model.plant = exported.model
    assert exported.names == {"hydro": hydro.name, "gas turbine": gas.name}
    assert not hasattr(exported.model, "x")
    model.demand = pyo.Constraint(expr=hydro + gas >= 3)
    model.cost = pyo.Objective(expr=hydro + 2 * gas)
    pyo.SolverFactory("appsi_highs").solve(model)
    assert pyo.value(model.cost) == pytest.approx(LEAST)
    with pytest.raises(DataError, match="x holds 1 variables for 2 decisions: hydro, gas turbine"):
        fl.export.to_pyomo(triangle, [hydro])
    with pytest.raises(DataError, match="x holds 1 variables"):
        fl.export.to_pyomo(triangle, 3.0)
