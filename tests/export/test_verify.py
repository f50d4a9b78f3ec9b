"""The self-check finds what is wrong, and says what it could not look at."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import (
    CheckError,
    DataError,
    MissingExtraError,
    SolverError,
    UnsupportedError,
)
from feaslearn.sets import AffineImage

from .conftest import POWER, fitted, mapped


def test_a_report_that_prints(triangle: fl.Region) -> None:
    found = fl.export.verify(triangle, ["cvxpy", "mps"], n_problems=4)
    lines = str(found).splitlines()
    assert lines[0].split() == ["tool", "problems", "largest", "difference", "seconds"]
    assert [line.split()[:2] for line in lines[1:]] == [["cvxpy", "4"], ["mps", "4"]]
    assert found.tolerance == 1e-6


def test_what_a_tool_cannot_hold_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(fl.export.verification.TOOLS, "gurobipy")
    monkeypatch.setitem(sys.modules, "pyomo", None)
    monkeypatch.setitem(sys.modules, "pyomo.environ", None)
    found = {check.tool: check for check in fl.export.verify(mapped("l2-ball-3")).checks}
    assert found["cvxpy"].problems == 10
    assert "feaslearn[pyomo]" in found["pyomo"].skipped
    assert "curved" in found["mps"].skipped
    assert "curved" in found["vertices"].skipped
    lines = str(fl.export.Verification(tuple(found.values()), 1e-6)).splitlines()
    assert len(lines) == 1 + len(found)
    assert max(map(len, lines)) < 140
    with pytest.raises(MissingExtraError, match=r"feaslearn\[pyomo\]"):
        fl.export.verify(mapped("l2-ball-3"), "pyomo")
    with pytest.raises(UnsupportedError, match="curved"):
        fl.export.verify(mapped("l2-ball-3"), "mps")


@pytest.mark.parametrize("package", ["pyomo", "linopy", "gurobipy"])
def test_packages_that_are_not_there(
    package: str, triangle: fl.Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "pyomo.environ", None)
    with pytest.raises(MissingExtraError, match=f"needs {package}"):
        getattr(fl.export, f"to_{package}")(triangle)


def test_a_file_that_was_changed_is_found(triangle: fl.Region, tmp_path: Path) -> None:
    path, write = tmp_path / "region.lp", fl.export.to_lp
    write(triangle, path)
    assert fl.export.verify(triangle, str(path)).checks[0].problems == 10
    moved = fl.Region(AffineImage(fl.Simplex(3), 1.001 * triangle.image.matrix, np.ones(2)))
    moved.names = triangle.names
    with pytest.raises(CheckError, match=r"differ by more than 1e-06 from ours:\ntool"):
        fl.export.verify(moved, str(path))
    path.write_text("not a linear program")
    with pytest.raises(SolverError, match=path.name):
        fl.export.verify(triangle, str(path))
    write(mapped("simplex-5"), path)
    with pytest.raises(SolverError, match="there is no column hydro, gas_turbine"):
        fl.export.verify(triangle, str(path))


UNITS = [1e-7, 1e9]


def in_unit(unit: float, hypothesis: fl.hypotheses.Hypothesis) -> fl.RegionRegressor:
    model = fl.RegionRegressor(hypothesis, cost=[0, 1, 2], random_state=0)
    return model.fit(POWER.signals, POWER.decisions * unit)


@pytest.mark.parametrize("unit", UNITS)
def test_units_do_not_matter(unit: float, tmp_path: Path) -> None:
    path = tmp_path / "region.mps"
    model = in_unit(unit, fl.Minkowski("auto"))
    region = model.region(POWER.signals[0])
    fl.export.verify(region, ["cvxpy", "mps", "lp", "vertices", "halfspaces"])
    fl.export.to_mps(model.region(POWER.signals[3]), path)
    with pytest.raises(CheckError, match="differ by more than 1e-06") as caught:
        fl.export.verify(region, str(path))
    assert ("larger units" in str(caught.value)) == (unit < 1e-3)
    curved = in_unit(unit, fl.Scaled(fl.L2Ball(3))).region(POWER.signals[0])
    fl.export.verify(curved, "cvxpy", tolerance=1e-5)


def test_wrong_arguments(triangle: fl.Region) -> None:
    with pytest.raises(DataError, match="did you mean 'cvxpy'"):
        fl.export.verify(triangle, "cvxp")
    with pytest.raises(DataError, match="n_problems=0"):
        fl.export.verify(triangle, n_problems=0)
    with pytest.raises(DataError, match="signals="):
        fl.export.verify(fitted("scaled"), "cvxpy")
    with pytest.raises(UnsupportedError, match="not int"):
        fl.export.verify(3)  # type: ignore[arg-type]
    found = fl.export.verify(fitted("scaled"), signals=POWER.signals[0], n_problems=1)
    skipped = {check.tool: check.skipped for check in found.checks}
    assert "model.region(signal)" in skipped["mps"]
    assert "model.region(signal)" in skipped["vertices"]
    assert not skipped["cvxpy"]
