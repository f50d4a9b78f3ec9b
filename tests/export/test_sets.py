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


def test_binary_sets_hold_their_points_alone() -> None:
    """A row of the user's own cuts the hull between points; only points may remain."""
    region = mapped("binary-product")
    order = np.sort(region.vertices()[:, 0])
    exported = fl.export.to_cvxpy(region)
    rows = [*exported.constraints, exported.x[0] >= (order[0] + order[1]) / 2.0]
    best = cp.Problem(cp.Minimize(exported.x[0]), rows).solve(solver="HIGHS")
    assert best == pytest.approx(order[1], abs=1e-6)


@pytest.mark.parametrize("tool", ["pyomo", "linopy", "gurobipy"])
def test_binary_sets_have_binary_variables(tool: str) -> None:
    pytest.importorskip(tool, reason=f"needs {tool}")
    count = int(mapped("binary-product").form.integer.sum())
    model = getattr(fl.export, f"to_{tool}")(mapped("binary-product")).model
    if tool == "pyomo":
        binary = sum(each.is_binary() for each in model.z.values())
    elif tool == "linopy":
        sides = model.matrices
        binary = ((sides.vtypes == "I") & (sides.lb == 0.0) & (sides.ub == 1.0)).sum()
    else:
        binary = sum(each.VType == "B" for each in model.getVars())
    assert binary == count > 0


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
