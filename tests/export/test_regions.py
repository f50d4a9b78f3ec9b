"""Every primitive set is exported as what it is, in files that are whole or not there at all."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from exported_optima import TOOLS, largest_difference, read_program
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    NotFittedError,
    TooManyVerticesError,
    UnboundedSetError,
    UnsupportedError,
)
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import AffineImage
from registry import SETS, fit_rows

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
    with pytest.raises((UnsupportedError, TooManyVerticesError), match="curved"):
        TOOLS[tool](mapped(name))


UNITS = [1e-7, 1e9]


def in_unit(unit: float, hypothesis: fl.hypotheses.Hypothesis) -> fl.RegionRegressor:
    return fit_rows(POWER.signals, POWER.decisions * unit, hypothesis)


@pytest.mark.parametrize("unit", UNITS)
def test_units_do_not_matter(unit: float) -> None:
    region = in_unit(unit, fl.Minkowski("auto")).region(POWER.signals[0])
    for tool in ("cvxpy", "mps", "lp", "vertices", "halfspaces"):
        assert largest_difference(region, tool) <= 1e-6, tool
    curved = in_unit(unit, fl.Minkowski([fl.Term(fl.L2Ball(3))], scale="constant"))
    assert largest_difference(curved.region(POWER.signals[0]), "cvxpy") <= 1e-5


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


# Files.

WRITERS = [fl.export.to_mps, fl.export.to_lp, fl.export.to_csv]


def boxed(p: int) -> fl.Region:
    return fl.Region(AffineImage(fl.Box(p), np.eye(p), np.zeros(p)))


def polytope(H: list[list[float]], h: list[float]) -> fl.Region:
    n = len(H[0])
    return fl.Region(AffineImage(fl.Polytope(H, h), np.eye(n), np.zeros(n)))


@pytest.mark.parametrize("write", WRITERS)
def test_an_empty_and_an_unbounded_region(write: Any, tmp_path: Path) -> None:
    empty = polytope([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [1.0, 0.0, 0.0, -1.0])
    endless = polytope([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
    with pytest.raises(EmptySetError):
        write(empty, tmp_path / "region")
    with pytest.raises(UnboundedSetError):
        write(endless, tmp_path / "region")
    for region, error in ((empty, EmptySetError), (endless, UnboundedSetError)):
        with pytest.raises(error):
            fl.export.to_cvxpy(region)
    assert not list(tmp_path.iterdir())


def test_a_region_with_too_many_vertices_still_has_its_rows(tmp_path: Path) -> None:
    region = boxed(30)
    with pytest.raises(TooManyVerticesError, match="more than limit=10000"):
        fl.export.to_csv(region, tmp_path / "corners.csv")
    assert not list(tmp_path.iterdir())
    fl.export.to_csv(region, tmp_path / "rows.csv", "halfspaces")
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 61
    fl.export.to_mps(region, tmp_path / "region.mps")
    with pytest.raises(TooManyVerticesError, match="limit=3"):
        fl.export.to_csv(boxed(2), tmp_path / "corners.csv", limit=3)


def test_tables(triangle: fl.Region, tmp_path: Path) -> None:
    path = tmp_path / "region.csv"
    fl.export.to_csv(triangle, path)
    assert path.read_text() == "hydro,gas turbine\n1.0,1.0\n3.0,1.0\n1.0,3.0\n"
    named = fl.Region(triangle.image, ["relation", "limit"])
    fl.export.to_csv(named, path, "halfspaces")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["relation", "limit", "relation (2)", "limit (2)"]
    corners = triangle.vertices()
    for row in rows:
        values = corners @ [float(row["relation"]), float(row["limit"])]
        assert row["relation (2)"] == "<="
        assert values.max() == pytest.approx(float(row["limit (2)"]))
    with pytest.raises(DataError, match="did you mean 'vertices'"):
        fl.export.to_csv(triangle, path, "vertexes")
    with pytest.raises(NotFittedError):
        fl.export.to_csv(fl.RegionRegressor(), path)
    with pytest.raises(UnsupportedError, match="not RegionRegressor"):
        fl.export.to_csv(fl.RegionRegressor(), path, "halfspaces")


def test_bounds_are_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "region.lp"
    fl.export.to_lp(boxed(2), path, [1.0, -2.0])
    text = path.read_text()
    assert "-1 <= x0 <= 1" in text
    assert "row" not in text


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    offset = 1e5 * rng.normal(size=3)
    region = fl.Region(AffineImage(fl.Simplex(4), rng.normal(size=(3, 4)) / 3.0, offset))
    fl.export.to_mps(region, tmp_path / "region.mps")
    right = read_program(tmp_path / "region.mps").getLp().row_lower_[:3]
    np.testing.assert_allclose(right, offset, rtol=1e-14)
