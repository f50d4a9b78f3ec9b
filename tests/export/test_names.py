"""Names of decisions, rows and signals in other tools: safe, distinct, and told."""

from __future__ import annotations

import csv
import re
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
from exported_optima import read_program
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.export.naming import safe_names
from feaslearn.sets import AffineImage
from registry import fit_rows

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


def in_cvxpy(model, cost, demand):
    s = cp.Variable(len(demand))
    exported = fl.export.to_cvxpy(model, signals=dict(zip(demand.index, s, strict=True)))
    rows = [*exported.constraints, s == demand.to_numpy()]
    cp.Problem(cp.Minimize(cost @ exported.x), rows).solve(solver="HIGHS")
    return exported.x.value


def in_pyomo(model, cost, demand):
    market = pyo.ConcreteModel()
    market.s = pyo.Var(list(demand.index))
    for key, value in demand.items():
        market.s[key].fix(float(value))
    market.plants = fl.export.to_pyomo(model, signals=market.s).model
    x = list(market.plants.x.values())
    market.cost = pyo.Objective(expr=sum(c * each for c, each in zip(cost, x, strict=True)))
    pyo.SolverFactory("appsi_highs").solve(market)
    return [pyo.value(each) for each in x]


@pytest.mark.parametrize("solve", [in_cvxpy, in_pyomo])
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
