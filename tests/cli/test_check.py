"""``check`` and ``explain``: before a fit, and after it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from cli.conftest import COLUMNS
from feaslearn.exceptions import DataError
from feaslearn.inference import held_out


@pytest.fixture
def table(command: Any) -> pd.DataFrame:
    del command  # which changes to a folder of its own
    data = fl.datasets.make_power5(200, random_state=0)
    names = [*data.names.signals, *data.names.decisions]
    made = pd.DataFrame(np.hstack([data.signals, data.decisions]), columns=names)
    made.to_csv("power.csv", index=False)
    return made


def test_a_table_that_will_do(table: pd.DataFrame, command: Any) -> None:
    run = command("check", "power.csv", *COLUMNS)
    assert run.code == 0, run.err
    assert "Ready to fit." in run.out
    assert "cost is minimised" in run.out
    assert "plant_5: never twice at a highest value" in run.out
    assert "no row could have done better" in run.out
    facts = json.loads(command("check", "power.csv", *COLUMNS, "--json").out)
    assert facts["passed"] is True
    assert {each["level"] for each in facts["checks"]} <= {"ok", "note"}


def test_the_next_command_repeats_the_options(table: pd.DataFrame, command: Any) -> None:
    Path("my data").mkdir()
    earned = table.assign(**{name: -table[name] for name in ("cost_1", "cost_3", "cost_5")})
    earned.to_csv("my data/p.csv", index=False, sep=";")
    options = [*COLUMNS, "--sense", "max", "--delimiter", ";", "--encoding", "latin-1"]
    run = command("check", "my data/p.csv", *options)
    assert run.code == 0, run.out
    _, _, proposed = run.out.partition("\nNext: ")
    assert max(map(len, f"Next: {proposed}".splitlines())) <= 80
    program, verb, *arguments = shlex.split(proposed.replace("\\\n", " "))
    assert (program, verb) == ("feaslearn", "fit")
    assert sorted(arguments) == sorted(["my data/p.csv", *options, "-o", "model.npz"])
    asked = [*arguments, "--hypothesis", "minkowski:hypersimplices", "--no-check", "--quiet"]
    assert command("fit", *asked).code == 0
    assert fl.load("model.npz").sense == "max"


def test_wrong_sense_and_gaps_are_said(table: pd.DataFrame, command: Any) -> None:
    run = command("check", "power.csv", *COLUMNS, "--sense", "max")
    assert run.code == 1
    assert "--sense min" in run.out
    assert "Next:" not in run.out
    table.loc[3, "demand_1"] = np.nan
    table.loc[5, "plant_1"] = np.nan
    table.to_csv("gaps.csv", index=False)
    run = command("check", "gaps.csv", *COLUMNS)
    assert run.code == 1
    assert "1 rows with a missing signal or price" in run.out
    asked = ("fit", "gaps.csv", *COLUMNS, "--hypothesis", "minkowski:hypersimplices")
    asked += ("-o", "m.json", "--no-check", "--json")
    assert command(*asked).code == 2
    run = command(*asked, "--drop-missing")
    assert run.code == 0, run.err
    assert json.loads(run.out)["n_samples"] == 199
    assert "1 of 200 rows" in run.err


def test_outliers_and_curved_costs_are_noted(table: pd.DataFrame, command: Any) -> None:
    table.loc[7, ["plant_1", "plant_3"]] += [-0.2, 0.2]
    table.to_csv("outlier.csv", index=False)
    assert "all with row 8" in " ".join(command("check", "outlier.csv", *COLUMNS).out.split())
    random = np.random.default_rng(0)
    costs, demand = random.uniform(0.5, 1.5, (200, 2)), random.uniform(0.8, 1.2, (200, 1))
    first = 0.5 * (demand + 0.5 * (costs[:, 1:] - costs[:, :1]))  # marginal costs are equal
    curved = np.hstack([costs, demand, first, demand - first])
    names = ["cost_1", "cost_2", "demand_1", "plant_1", "plant_2"]
    pd.DataFrame(curved, columns=names).to_csv("curved.csv", index=False)
    run = command("check", "curved.csv", *COLUMNS)
    assert run.code == 0
    assert "decisions slide with prices" in run.out


def test_few_and_odd_rows(table: pd.DataFrame, command: Any) -> None:
    for made in (table[:1], table[:12], table.assign(plant_1=1.0, plant_3=1.0, plant_5=1.0)):
        made.to_csv("odd.csv", index=False)
        run = command("check", "odd.csv", *COLUMNS)
        assert run.code == 0, run.err
        assert "to tell" in run.out or "never vary" in run.out
    assert command("check", "power.csv", "--decisions", "plant_*").code == 2
    assert command("check", "power.csv", "--decisions", "plnt", "--cost", "cost_*").code == 2


def test_why_a_row_is_decided_so(example: Path, command: Any) -> None:
    model, data = str(example / "power.json"), str(example / "unseen.csv")
    run = command("explain", model, data, "--row", "3")
    assert run.code == 0, run.err
    assert "It stops here because of" in run.out
    assert "observed" in run.out
    run = command("explain", model, data, "--row", "3", "--costs", "0.9,0.1,0.5")
    assert "not seen" in run.out
    facts = json.loads(command("explain", model, data, "--row", "3", "--json").out)
    assert facts["row"] == 3
    assert set(facts["decision"]) == {"plant_1", "plant_3", "plant_5"}
    assert facts["rests_on"][0]["saves"] > 0.0
    assert "pinned by data" in command("explain", model).out
    assert command("explain", model, data, "--row", "99").code == 2


def test_fit_measures_on_rows_held_out_and_bands_follow(
    table: pd.DataFrame, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("fit", "power.csv", *COLUMNS, "--hypothesis", "facets", "-o", "m.json")
    facts = json.loads(command(*asked, "--json").out)
    lines = {line[0]: line for line in facts["held_out"]["lines"]}
    assert lines["this model"][1] > 0.95 > lines["gradient boosting"][1]
    assert len(lines["ridge regression"][2]) == 3
    run = command("predict", "m.json", "power.csv", "--interval", "0.9", "-o", "bands.csv")
    assert run.code == 0, run.err
    bands = pd.read_csv("bands.csv")
    assert (bands["plant_1 lower"] <= bands["plant_1"] + 1e-9).all()
    assert (bands["plant_1 upper"] >= bands["plant_1"] - 1e-9).all()
    monkeypatch.setattr(held_out, "MOST_SECONDS", 0.0)
    assert "held out: fits to parts of the rows would take" in command(*asked).out
    run = command(*asked, "--no-check")
    assert "this model" not in run.out
    assert command("predict", "m.json", "power.csv", "--interval", "0.9").code == 2


def test_costs_that_mix_columns_numbers_and_sums(table: pd.DataFrame, command: Any) -> None:
    asked = ("fit", "power.csv", "--signals", "cost_*,demand_*", "--decisions", "plant_*")
    asked += ("--hypothesis", "minkowski:hypersimplices", "-o", "m.json", "--no-check", "--json")
    run = command(*asked, "--cost", "2*cost_1+1e-1,cost_3,-0.5*cost_5-2")
    assert run.code == 0, run.err
    model = fl.load("m.json")
    signals = table[[str(name) for name in model.feature_names_in_]].to_numpy()
    expected = table[["cost_1", "cost_3", "cost_5"]] * [2.0, 1.0, -0.5] + [0.1, 0.0, -2.0]
    assert np.allclose(model.cost_.evaluate(signals), expected)
    run = command(*asked, "--cost", "cost_1*cost_3,1,2")
    assert run.code == 2
    assert "add their product" in run.err
    assert command(*asked, "--cost", "cost_1,1,cst_5*2").code == 2


def test_one_cost_for_all_rows_and_rows_in_another_order(table: pd.DataFrame) -> None:
    X, y = table.iloc[:, :8], table.iloc[:, 8:]
    cost = ["cost_1", "cost_3", "cost_5"]
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(1)), cost=cost)
    X.index = y.index = [f"day {i}" for i in range(len(X))]
    expected = model.fit(X, y).predict(X, costs=np.tile([0.9, 0.4, 1.2], (len(X), 1)))
    assert expected.equals(model.predict(X, costs=[0.9, 0.4, 1.2]))
    assert expected.equals(model.fit(X, y[::-1]).predict(X, costs=[0.9, 0.4, 1.2]))
    other = y.set_axis([f"night {i}" for i in range(len(y))])
    with pytest.raises(DataError, match="different indexes"):
        model.fit(X, other)
