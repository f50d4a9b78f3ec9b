"""Names of rows and columns in other tools, signals as variables, the table of the map."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, UnsupportedError

highspy = pytest.importorskip("highspy")


@pytest.fixture(scope="module")
def grid():
    """A grid of three plants whose lines bind, with names that formats must change."""
    data = fl.datasets.make_power5(200, line_capacity=1.2, random_state=3)
    signals = pd.DataFrame(data.signals, columns=data.names.signals)
    decisions = pd.DataFrame(data.decisions, columns=["p 1", "p_3", "p_5"])
    model = fl.RegionRegressor(fl.Facets(), cost=list(data.names.signals[:3]), random_state=0)
    return model.fit(signals, decisions), signals, decisions


@pytest.mark.parametrize("write", [fl.export.to_mps, fl.export.to_lp])
def test_rows_and_columns_of_files_have_their_names(grid, write, tmp_path):
    model, signals, _ = grid
    region, cost = model.region(signals.iloc[[7]]), signals.iloc[7, :3].to_numpy()
    path = tmp_path / ("region.mps" if write is fl.export.to_mps else "region.lp")
    assert write(region, path, cost) == {"p 1": "p_1", "p_3": "p_3", "p_5": "p_5"}
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    solver.run()
    program = solver.getLp()
    assert list(program.col_names_) == ["p_1", "p_3", "p_5"]
    facets = [f"facet_{i + 1}" for i in range(len(model.facets_))]
    assert set(program.row_names_) == {*facets, "equality_1"}
    expected = cost @ region.minimize(cost)
    assert solver.getInfo().objective_function_value == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", ["cvxpy", "pyomo"])
def test_rows_of_tools_have_their_names(grid, name):
    pytest.importorskip(name)
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
    cp = pytest.importorskip("cvxpy")
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
    cp = pytest.importorskip("cvxpy")
    s = cp.Variable(len(demand))
    exported = fl.export.to_cvxpy(model, signals=dict(zip(demand.index, s, strict=True)))
    rows = [*exported.constraints, s == demand.to_numpy()]
    cp.Problem(cp.Minimize(cost @ exported.x), rows).solve(solver="HIGHS")
    return exported.x.value


def in_pyomo(model, cost, demand):
    pyo = pytest.importorskip("pyomo.environ")
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
    pytest.importorskip("cvxpy")
    model, signals, decisions = grid
    with pytest.raises(DataError, match="demand_1"):
        fl.export.to_cvxpy(model, signals={})
    with pytest.raises(DataError, match=r"'demnad_1'.*demand_1"):
        fl.export.to_cvxpy(model, signals={"demnad_1": 1.0})
    with pytest.raises(UnsupportedError, match="model"):
        fl.export.to_cvxpy(model.region(signals.iloc[[0]]), signals={})
    names = list(signals.columns[:3])
    turning = fl.RegionRegressor(fl.Affine(fl.Simplex(3)), cost=names, random_state=0)
    turning.fit(signals[:50], decisions[:50])
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
    sums = fl.RegionRegressor(fl.Minkowski("auto"), cost=list(signals.columns[:3]))
    sums.fit(signals, decisions)
    with pytest.raises(UnsupportedError, match="latent"):
        fl.export.to_csv(sums, path)
