"""Models and regions in other tools: moving with the signal, on somebody's variables, in files."""

from __future__ import annotations

import csv
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest

import feaslearn as fl
from exported_optima import TOOLS, largest_difference, read_program
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    MissingExtraError,
    NotFittedError,
    TooManyVerticesError,
    UnboundedSetError,
    UnsupportedError,
)
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import AffineImage
from registry import SETS, fit_rows, fit_to

from .conftest import CURVED_MODELS, FEW_STEPS, MODELS, POWER, fitted, mapped, signals_of


@pytest.mark.parametrize("name", MODELS)
def test_cvxpy_is_disciplined_in_phi_and_right_at_many_signals(name: str) -> None:
    model = fitted(name)
    exported = fl.export.to_cvxpy(model)
    cost = cp.Parameter(exported.x.size)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    assert problem.is_dcp(dpp=True)
    assert any(each is exported.phi for each in problem.parameters())
    solver = "CLARABEL" if name in CURVED_MODELS else "HIGHS"
    rng = np.random.default_rng(0)
    for signal in signals_of(name, 3):
        exported.set_signal(signal)
        cost.value = rng.normal(size=cost.size)
        with warnings.catch_warnings():
            # Compiled once: a problem that is not disciplined would say so here.
            warnings.simplefilter("error")
            problem.solve(solver=solver)
        region = model.region(signal)
        assert problem.value == pytest.approx(
            cost.value @ region.minimize(cost.value), rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize("name", ["affine-switch", "minkowski-index", "facets"])
def test_pyomo_moves_with_the_signal(name: str) -> None:
    assert largest_difference(fitted(name), "pyomo", signals_of(name, 2), n_problems=2) <= 1e-6


def test_a_clipped_scale_is_what_the_region_says() -> None:
    """Where an affine scale is negative it counts as zero, which is not affine in phi."""
    model = fitted("minkowski")
    signs = np.sign(model.parameters_["alpha"][model.parameters_["alpha"].any(axis=1)][0, 1:])
    far = POWER.signals[0].copy()
    far[3:] = -100.0 * signs
    scales = fl.export.to_cvxpy(model).coefficients(far)[6:]
    assert scales[0] == 0.0
    assert largest_difference(model, "cvxpy", [far]) < 1e-6


def test_names_of_features_and_frames() -> None:
    X = pd.DataFrame(POWER.signals, columns=[f"s {j}" for j in range(8)])
    y = pd.DataFrame(POWER.decisions, columns=["hydro", "gas [MW]", "Öl"])
    model = fit_rows(X, y, MODELS["scaled"][0])
    exported = fl.export.to_pyomo(model)
    assert list(exported.model.x) == ["hydro", "gas [MW]", "Öl"]
    assert list(exported.phi) == ["1", "s 3", "s 4", "s 5", "s 6", "s 7"]
    exported.set_signal(X.iloc[[4]])
    assert exported.phi["s 3"].value == X.iloc[4, 3]
    rows = [X.iloc[[i]] for i in range(3)]
    assert largest_difference(model, "cvxpy", rows) < 1e-6
    with pytest.raises(DataError, match="2 signals were given"):
        exported.set_signal(X[:2])


def test_where_the_learned_rows_leave_no_point() -> None:
    model = fitted("facets")
    exported = fl.export.to_cvxpy(model)
    far = POWER.signals[0].copy()
    far[3:] = 1e3
    with pytest.raises(EmptySetError, match=r"model\.region\(signal\) relaxes them"):
        exported.set_signal(far)
    with pytest.warns(fl.exceptions.FeaslearnWarning):
        region = model.region(far)
    assert largest_difference(region, "mps") < 1e-6


def test_what_cannot_be_exported() -> None:
    with pytest.raises(NotFittedError):
        fl.export.to_cvxpy(fl.RegionRegressor(fl.Facets()))
    with pytest.raises(UnsupportedError, match="not ndarray"):
        fl.export.to_cvxpy(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="does not move"):
        fl.export.to_cvxpy(fitted("scaled").region(POWER.signals[0])).set_signal(POWER.signals[0])
    with pytest.raises(UnsupportedError, match=r"to_mps holds a region .* model\.region\(signal\)"):
        fl.export.to_mps(fitted("scaled"), "region.mps")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"vertices|half-spaces|region\(signal\)"):
        fl.export.to_csv(fitted("scaled"), "region.csv", "vertices")


def test_pyomo_may_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    region = fitted("scaled").region(POWER.signals[0])
    for module in ("pyomo", "pyomo.environ"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"needs pyomo.*feaslearn\[pyomo\]"):
        fl.export.to_pyomo(region)


# Known constraints travel with the region, and move with the signal.

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
KNOWN = {
    "balance": fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), DEMAND)),
    "rows": fl.Known(G=[[1.0, -1.0, 0.0]], g=[-3.0], bounds=(None, [None, 4.0, 3])),
}
HYPOTHESES = {
    "facets": (fl.Facets(3), "auto"),
    "minkowski": (fl.Minkowski.hypersimplices(3, scale="constant"), "auto"),
    "ball": (fl.Affine(fl.L2Ball(3)), FEW_STEPS),
    "pairs": (fl.Minkowski.pairs(3), "auto"),
}
CASES = [("facets", "balance"), ("minkowski", "rows"), ("ball", "balance"), ("pairs", "rows")]


@cache
def constrained(name: str, known: str) -> fl.RegionRegressor:
    hypothesis, trainer = HYPOTHESES[name]
    return fit_to(POWER, hypothesis, trainer=trainer, known=KNOWN[known])


@pytest.mark.parametrize(("name", "known"), CASES)
def test_the_map_of_a_model_and_a_region(name: str, known: str, tmp_path: Path) -> None:
    model = constrained(name, known)
    exported, signals = fl.export.to_cvxpy(model), list[np.ndarray]()
    for signal in POWER.signals[:10]:
        with suppress(EmptySetError):
            exported.set_signal(signal)
            signals.append(signal)
    signals = signals[:3]
    tools = ["cvxpy"] if name == "ball" else ["cvxpy", "pyomo"]
    for tool in tools:
        assert largest_difference(model, tool, signals, n_problems=3) <= 1e-6
    fl.save(model, tmp_path / "model.json")
    region = fl.load(tmp_path / "model.json").region(signals[0])
    assert region.known is not None
    tools = ["cvxpy"] if name == "ball" else ["cvxpy", "mps", "halfspaces"]
    assert max(largest_difference(region, tool) for tool in tools) <= 1e-6


def test_a_bound_that_comes_and_goes() -> None:
    def upper(signals: np.ndarray) -> np.ndarray:
        return np.where(signals[:, 3:4] > 1.0, np.inf, 50.0) * np.ones((1, 3))

    model = fit_to(POWER, MODELS["scaled"][0], known=fl.Known(bounds=(None, upper)))
    exported = fl.export.to_cvxpy(model)
    small, large = POWER.signals[0].copy(), POWER.signals[0].copy()
    small[3], large[3] = 0.5, 1.2
    exported.set_signal(small)
    with pytest.raises(UnsupportedError, match=r"export model\.region\(signal\)"):
        exported.set_signal(large)
    assert largest_difference(model.region(large), "mps") <= 1e-6


# Variables of a model that somebody has already.

#: Least hydro + 2 gas over the triangle (1, 1), (3, 1), (1, 3) with hydro + gas >= 3: at (2, 1).
LEAST = 4.0


def test_a_region_on_variables_of_cvxpy(triangle: fl.Region) -> None:
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
def test_a_region_on_variables_of_pyomo(triangle: fl.Region, kind: str) -> None:
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


# Every primitive set is exported as what it is, in files that are whole or not there at all.

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
