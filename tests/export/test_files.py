"""Files are written whole or not at all, and hold what they say."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    NotFittedError,
    TooManyVerticesError,
    UnboundedSetError,
    UnsupportedError,
)
from feaslearn.sets import AffineImage

Write = Any
WRITERS = [fl.export.to_mps, fl.export.to_lp, fl.export.to_csv]


def boxed(p: int) -> fl.Region:
    return fl.Region(AffineImage(fl.Box(p), np.eye(p), np.zeros(p)))


def polytope(H: list[list[float]], h: list[float]) -> fl.Region:
    n = len(H[0])
    return fl.Region(AffineImage(fl.Polytope(H, h), np.eye(n), np.zeros(n)))


@pytest.mark.parametrize("write", WRITERS)
def test_an_empty_and_an_unbounded_region(write: Write, tmp_path: Path) -> None:
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
    corners: NDArray[np.float64] = triangle.vertices()
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


def test_bounds_and_whole_numbers_are_told_as_such(tmp_path: Path) -> None:
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
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / "region.mps"))
    right = np.asarray(solver.getLp().row_lower_)[:3]
    np.testing.assert_allclose(right, offset, rtol=1e-14)


def test_linear_formats_refuse_a_curved_region(tmp_path: Path) -> None:
    ball = fl.Region(AffineImage(fl.L2Ball(2), np.eye(2), np.zeros(2)))
    for write in (fl.export.to_mps, fl.export.to_lp):
        with pytest.raises(UnsupportedError, match="curved: to_cvxpy and to_pyomo"):
            write(ball, tmp_path / "region.txt")
    with pytest.raises(TooManyVerticesError, match="curved"):
        fl.export.to_csv(ball, tmp_path / "region.csv")
    assert not list(tmp_path.iterdir())
