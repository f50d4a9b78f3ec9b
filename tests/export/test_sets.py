"""Every primitive set is exported as what it is."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from exported_optima import TOOLS, largest_difference
from feaslearn.exceptions import TooManyVerticesError, UnsupportedError
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import AffineImage
from registry import SETS

from .conftest import POWER, mapped

CURVED = [name for name, make in SETS.items() if not make().conic_form().polyhedral]


@pytest.mark.parametrize("name", SETS)
def test_every_tool_finds_our_optima(name: str) -> None:
    for tool in ("cvxpy",) if name in CURVED else TOOLS:
        assert largest_difference(mapped(name), tool, n_problems=3) <= 1e-6, tool


# A ball of one entry is an interval.
@pytest.mark.parametrize("name", [name for name in CURVED if name != "l2-ball-1"])
@pytest.mark.parametrize("tool", ["mps", "lp", "vertices", "halfspaces"])
def test_files_are_for_linear_rows(tool: str, name: str) -> None:
    with pytest.raises((UnsupportedError, TooManyVerticesError)):
        TOOLS[tool](mapped(name))


UNITS = [1e-7, 1e9]


def in_unit(unit: float, hypothesis: fl.hypotheses.Hypothesis) -> fl.RegionRegressor:
    model = fl.RegionRegressor(hypothesis, cost=[0, 1, 2], random_state=0)
    return model.fit(POWER.signals, POWER.decisions * unit)


@pytest.mark.parametrize("unit", UNITS)
def test_units_do_not_matter(unit: float) -> None:
    region = in_unit(unit, fl.Minkowski("auto")).region(POWER.signals[0])
    for tool in ("cvxpy", "mps", "lp", "vertices", "halfspaces"):
        assert largest_difference(region, tool) <= 1e-6, tool
    curved = in_unit(unit, fl.Minkowski([fl.Term(fl.L2Ball(3))], scale="constant")).region(
        POWER.signals[0]
    )
    assert largest_difference(curved, "cvxpy") <= 1e-5


def test_a_large_ball_needs_few_rows() -> None:
    """The conic form of the ball in 30 dimensions would have a billion rows."""
    latent = latent_set(fl.L1Ball(30))
    assert latent.H.shape == (61, 60)
    region = fl.Region(AffineImage(fl.L1Ball(30), np.eye(30)[:3], np.zeros(3)))
    assert largest_difference(region, "mps") < 1e-6


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
    for tool in ("cvxpy", "mps", "lp"):
        assert largest_difference(region, tool) < 1e-6
