"""Every primitive set is exported as what it is, whole numbers included."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import UnsupportedError
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import AffineImage
from registry import BINARY_SETS, SETS

from .conftest import mapped

CURVED = [name for name, make in SETS.items() if not make().conic_form().polyhedral]


@pytest.mark.parametrize("name", [*SETS, *BINARY_SETS])
def test_every_tool_finds_our_optima(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # linopy builds its models slowly: others hold it to our optima with fewer of them.
    monkeypatch.delitem(fl.export.verification.TOOLS, "linopy")
    found = {check.tool: check for check in fl.export.verify(mapped(name), n_problems=3).checks}
    assert found["cvxpy"].problems == 3
    for tool, check in found.items():
        if check.skipped:
            # Skipped for what it is, or because the tool is not there.
            assert name in CURVED or "pip install" in check.skipped, (tool, check.skipped)


@pytest.mark.parametrize("tool", ["cvxpy", "pyomo", "linopy", "gurobipy"])
@pytest.mark.parametrize("name", ["binary-product"])
def test_binary_sets_hold_their_points_alone(name: str, tool: str) -> None:
    """A row of the user's own cuts the hull between points; only points may remain."""
    if tool != "cvxpy":
        pytest.importorskip(tool, reason=f"needs {tool}")
    region = mapped(name)
    points = region.vertices()
    cost = np.array([1.0, 0.0, 0.0])
    order = np.sort(points @ cost)
    floor = (order[0] + order[1]) / 2.0
    best = {"cvxpy": cut_cvxpy, "pyomo": cut_pyomo, "linopy": cut_linopy, "gurobipy": cut_gurobipy}
    assert best[tool](region, floor) == pytest.approx(order[1], abs=1e-6)


def cut_cvxpy(region: fl.Region, floor: float) -> float:
    exported = fl.export.to_cvxpy(region)
    rows = [*exported.constraints, exported.x[0] >= floor]
    return float(cp.Problem(cp.Minimize(exported.x[0]), rows).solve(solver="HIGHS"))


def cut_pyomo(region: fl.Region, floor: float) -> float:
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.region = fl.export.to_pyomo(region).model
    model.cut = pyo.Constraint(expr=model.region.x["gas"] >= floor)
    model.cost = pyo.Objective(expr=model.region.x["gas"])
    pyo.SolverFactory("appsi_highs").solve(model)
    return float(pyo.value(model.cost))


def cut_linopy(region: fl.Region, floor: float) -> float:
    exported = fl.export.to_linopy(region)
    gas = exported.x.sel(decision="gas")
    exported.model.add_constraints(gas >= floor)
    exported.model.add_objective(1.0 * gas)
    exported.model.solve("highs", io_api="direct", progress=False)
    return float(exported.model.objective.value)


def cut_gurobipy(region: fl.Region, floor: float) -> float:
    import gurobipy as gp

    exported = fl.export.to_gurobipy(region, gp.Model(env=gp.Env(params={"OutputFlag": 0})))
    exported.model.addConstr(exported.x[0] >= floor)
    exported.model.setObjective(exported.x[0])
    exported.model.optimize()
    return float(exported.model.ObjVal)


def test_a_large_ball_needs_few_rows() -> None:
    """The conic form of the ball in 30 dimensions would have a billion rows."""
    latent = latent_set(fl.L1Ball(30))
    assert latent.H.shape == (61, 60)
    region = fl.Region(AffineImage(fl.L1Ball(30), np.eye(30)[:3], np.zeros(3)))
    assert fl.export.verify(region, "mps").checks[0].largest_difference < 1e-6


def test_semidefinite_cones_are_for_cvxpy() -> None:
    pytest.importorskip("pyomo", reason="needs pyomo")
    with pytest.raises(UnsupportedError, match=r"no semidefinite cones, .* to_cvxpy does"):
        fl.export.to_pyomo(mapped("conic-elliptope"))


def test_rows_of_the_decisions_themselves_need_no_latent_variables() -> None:
    exported = fl.export.to_cvxpy(
        fl.Region(AffineImage(SETS["polytope-flow"](), np.eye(3), np.zeros(3)))
    )
    assert {each.name() for row in exported.constraints for each in row.variables()} == {"x"}


def test_bounds_that_cross_by_rounding() -> None:
    """``z >= 0.1`` and ``3 z <= 0.3`` leave a point, although 0.3 / 3 is below 0.1."""
    point = fl.Polytope([[1.0], [-3.0]], [0.1, -0.3])
    assert 0.3 / 3.0 < 0.1
    region = fl.Region(AffineImage(point, np.array([[2.0], [1.0]]), np.zeros(2)))
    for check in fl.export.verify(region, ["cvxpy", "mps", "lp"]).checks:
        assert check.problems == 10
