"""Models and regions in other tools: they move with the signal, in whole files, by their names."""

from __future__ import annotations

import csv
import re
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
from hypothesis import given, settings
from hypothesis import strategies as st

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
from feaslearn.export.naming import safe_names
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


# Names of decisions, rows and signals in other tools: safe, distinct, and told.

AWKWARD = ["e", "e1", "E12x", "free", "x y", "x_y", "X-Y", "", "ü", "日本", "3", "x_3", "z0", "zz"]
AWKWARD += ["a" * 300, "a" * 299, "st", "<script>", "a\nb", "c,d", "min", "inf", "rhs", "energy"]
#: Names that begin a section of an MPS file, or read as a number in the LP format.
SECTIONS = ["NAME", "ROWS", "COLUMNS", "RHS", "BOUNDS", "RANGES", "OBJSENSE", "MAX", "MIN", "SOS"]
SECTIONS += ["QSECTION", "QMATRIX", "QUADOBJ", "QCMATRIX", "CSECTION", "DELAYEDROWS", "MODELCUTS"]
SECTIONS += ["USERCUTS", "INDICATORS", "SETS", "GENCONS", "PWLOBJ", "PWLNAM", "PWLCON", "ENDATA"]
SECTIONS += ["LAZYCONS", "DELETEROWS", "MARKER", "OBJNAME", "REFROW", "SOS1", "SOS2"]
NUMBERS = ["inflow", "infeed", "info", "inf1", "INFLOW", "Infinity", "nano", "NaN_1", "nan", "e1"]


@settings(max_examples=50)
@given(st.lists(st.text("aeEzZ1_ -é日\n", max_size=6), unique=True, max_size=8))
def test_names_are_safe_distinct_and_stable(names: list[str]) -> None:
    found = safe_names(names)
    assert list(found) == names
    assert len({name.casefold() for name in found.values()}) == len(names)
    for name in found.values():
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,254}", name)
        assert re.match(r"[eE](\d|$)", name) is None
    assert safe_names(list(found.values())) == {name: name for name in found.values()}


WORDS = [*SECTIONS, *(word.lower() for word in SECTIONS if word[0] in "NRCM"), *NUMBERS]


# In several orders: what a word does depends on what stands before it.
@pytest.mark.parametrize("write", [fl.export.to_mps, fl.export.to_lp])
@pytest.mark.parametrize("names", [AWKWARD, *([*WORDS[k:], "b", *WORDS[:k], "c"] for k in (0, 7))])
def test_awkward_names_come_back_from_a_file(names: list[str], write: Any, tmp_path: Path) -> None:
    n, path = len(names), tmp_path / "region.file"
    region = fl.Region(AffineImage(fl.Box(n), np.eye(n), np.arange(n, dtype=float)), names)
    cost = np.where(np.arange(n) % 2, 1.0, -2.0)
    found = write(region, path, cost)
    path = path.rename(path.with_suffix(".mps" if write is fl.export.to_mps else ".lp"))
    assert list(found) == names
    assert all(found[each].startswith("x_") for each in set(names) & set(WORDS) - set(AWKWARD))
    solver = read_program(path)
    solver.run()
    values = dict(zip(solver.getLp().col_names_, solver.getSolution().col_value, strict=True))
    expected = np.arange(n) - np.sign(cost)
    assert [values[found[name]] for name in names] == pytest.approx(expected)
    # The file itself says which names changed, in comments that stay on their lines.
    head = [line for line in path.read_text().splitlines() if line[0] in "*\\"]
    told = [line for line in head if " is '" in line]
    assert len(told) == sum(old != new for old, new in found.items())
    assert names is not AWKWARD or r"a_b is 'a\nb'" in "".join(told)


def test_the_same_name_twice(tmp_path: Path) -> None:
    region = fl.Region(AffineImage(fl.Box(2), np.eye(2), np.zeros(2)), ["gas", "gas"])
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_mps(region, tmp_path / "region.mps")
    fl.export.to_csv(region, tmp_path / "corners.csv")
    assert (tmp_path / "corners.csv").read_text().startswith("gas,gas (2)\n")
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_cvxpy(region)


# Rows, duals, signals as variables, the table of the map.


@pytest.fixture(scope="module")
def grid():
    """A grid of three plants whose lines bind, with names that formats must change."""
    data = fl.datasets.make_power5(200, line_capacity=1.2, random_state=3)
    signals = pd.DataFrame(data.signals, columns=data.names.signals)
    decisions = pd.DataFrame(data.decisions, columns=["p 1", "p_3", "p_5"])
    cost = list(data.names.signals[:3])
    return fit_rows(signals, decisions, fl.Facets(), cost=cost), signals, decisions


@pytest.mark.parametrize("write", [fl.export.to_mps, fl.export.to_lp])
def test_rows_and_columns_of_files_have_their_names(grid, write, tmp_path):
    model, signals, _ = grid
    region, cost = model.region(signals.iloc[[7]]), signals.iloc[7, :3].to_numpy()
    path = tmp_path / ("region.mps" if write is fl.export.to_mps else "region.lp")
    assert write(region, path, cost) == {"p 1": "p_1", "p_3": "p_3", "p_5": "p_5"}
    solver = read_program(path)
    solver.run()
    program = solver.getLp()
    assert list(program.col_names_) == ["p_1", "p_3", "p_5"]
    facets = [f"facet_{i + 1}" for i in range(len(model.facets_))]
    assert set(program.row_names_) == {*facets, "equality_1"}
    expected = cost @ region.minimize(cost)
    assert solver.getInfo().objective_function_value == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", ["cvxpy", "pyomo"])
def test_rows_of_tools_have_their_names(grid, name):
    model, signals, _ = grid
    wanted = {f"facet_{i + 1}" for i in range(len(model.facets_))} | {"equality_1"}
    wanted |= {f"{p}_{side}" for p in ("p 1", "p_3", "p_5") for side in ("lower", "upper")}
    exported = getattr(fl.export, f"to_{name}")(model)
    exported.set_signal(signals.iloc[[0]])
    assert set(exported.rows) == wanted
    if name == "pyomo":
        assert {f"rows[{key}]" for key in exported.constraints} == set(exported.rows.values())
        assert not exported.model.z


def test_a_dual_is_found_by_its_name(grid):
    model, signals, _ = grid
    cost = signals.iloc[7, :3].to_numpy()
    exported = fl.export.to_cvxpy(model.region(signals.iloc[[7]]))
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    best = problem.solve(solver="HIGHS")
    duals = {}
    for label, place in exported.rows.items():
        which, entry = (int(part.rstrip("]")) for part in place.split("[")[1:])
        duals[label] = float(np.atleast_1d(exported.constraints[which].dual_value)[entry])
    form = model.region(signals.iloc[[7]]).form
    total = sum(
        duals[label] * form.r[0, i] * (-1.0 if form.equality[i] else 1.0)
        for i, label in enumerate(form.row_names(["p 1", "p_3", "p_5"]))
    )
    assert total == pytest.approx(best, rel=1e-6)


def with_demand_in_cvxpy(model, cost, demand):
    s = cp.Variable(len(demand))
    exported = fl.export.to_cvxpy(model, signals=dict(zip(demand.index, s, strict=True)))
    rows = [*exported.constraints, s == demand.to_numpy()]
    cp.Problem(cp.Minimize(cost @ exported.x), rows).solve(solver="HIGHS")
    return exported.x.value


def with_demand_in_pyomo(model, cost, demand):
    market = pyo.ConcreteModel()
    market.s = pyo.Var(list(demand.index))
    for key, value in demand.items():
        market.s[key].fix(float(value))
    market.plants = fl.export.to_pyomo(model, signals=market.s).model
    x = list(market.plants.x.values())
    market.cost = pyo.Objective(expr=sum(c * each for c, each in zip(cost, x, strict=True)))
    pyo.SolverFactory("appsi_highs").solve(market)
    return [pyo.value(each) for each in x]


@pytest.mark.parametrize("solve", [with_demand_in_cvxpy, with_demand_in_pyomo])
def test_signals_as_variables_give_the_same_optimum(grid, solve):
    model, signals, _ = grid
    row = signals.iloc[[11]]
    found = solve(model, row.to_numpy()[0, :3], row.iloc[0, 3:])
    assert np.asarray(found) == pytest.approx(model.predict(row).to_numpy()[0], abs=1e-6)


def test_signals_as_variables_are_refused_where_rows_are_not_linear(grid):
    model, signals, decisions = grid
    with pytest.raises(DataError, match="demand_1"):
        fl.export.to_cvxpy(model, signals={})
    with pytest.raises(DataError, match=r"'demnad_1'.*demand_1"):
        fl.export.to_cvxpy(model, signals={"demnad_1": 1.0})
    with pytest.raises(UnsupportedError, match="model"):
        fl.export.to_cvxpy(model.region(signals.iloc[[0]]), signals={})
    names = list(signals.columns[:3])
    turning = fit_rows(signals[:50], decisions[:50], fl.Affine(fl.Simplex(3)), cost=names)
    with pytest.raises(UnsupportedError, match="not linear"):
        fl.export.to_cvxpy(turning, signals=dict.fromkeys(signals.columns[3:], 1.0))


def test_the_map_is_a_table_of_all_constraints(grid, tmp_path):
    model, signals, decisions = grid
    path = tmp_path / "map.csv"
    fl.export.to_csv(model, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    demands = list(signals.columns[3:])
    assert list(rows[0]) == ["name", "kind", "p 1", "p_3", "p_5", "relation", "constant", *demands]
    assert {row["relation"] for row in rows} == {"<=", ">=", "="}
    x, s = decisions.to_numpy(), signals[demands].to_numpy()
    tight = 0
    for row in rows:
        left = x @ [float(row[name]) for name in ("p 1", "p_3", "p_5")]
        right = float(row["constant"]) + s @ [float(row[name]) for name in demands]
        slack = {"<=": right - left, ">=": left - right, "=": -np.abs(left - right)}[
            row["relation"]
        ]
        assert slack.min() > -1e-7, row["name"]
        tight += (np.abs(slack) < 1e-7).sum()
    assert tight >= 3 * len(x)
    with pytest.raises(UnsupportedError, match="latent"):
        fl.export.to_csv(fit_rows(signals, decisions, fl.Minkowski("auto")), path)
