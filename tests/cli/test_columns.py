"""Columns of tables are found by the names that a model knows, and by position only if told so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import feaslearn as fl


@pytest.fixture
def tables(example: Path, command: Any) -> dict[str, str]:
    """Write the unseen rows with their columns in another order, and under other names."""
    frame = pd.read_csv(example / "unseen.csv")
    frame[frame.columns[::-1]].to_csv("reordered.csv", index=False)
    renamed = frame.rename(columns=lambda name: f"my_{name}")
    renamed.to_csv("renamed.csv", index=False)
    unseen = str(example / "unseen.csv")
    return {"unseen": unseen, "reordered": "reordered.csv", "renamed": "renamed.csv"}


USES = {
    "predict-listed": (
        *("predict", "--signals", "demand_5,demand_4,demand_3,demand_2,demand_1"),
        *("--signals", "cost_1,cost_3,cost_5"),
    ),
    "predict-costs": ("predict", "--costs", "cost_*"),
    "evaluate": ("evaluate", "--signals", "cost_*,demand_*", "--decisions", "plant_*"),
    "export": ("export", "--signals", "cost_*,demand_*", "--row", "3"),
}


def asked(name: str, model: Path, data: str) -> list[str]:
    verb, *options = USES[name]
    return [verb, str(model), *(["--data"] if verb == "export" else []), data, *options, "--json"]


@pytest.mark.parametrize("name", USES)
def test_the_order_of_a_table_does_not_matter(
    name: str, tables: dict[str, str], example: Path, command: Any
) -> None:
    model = example / "power.json"
    expected = command(*asked(name, model, tables["unseen"]))
    assert (expected.code, expected.err) == (0, "")
    assert command(*asked(name, model, tables["reordered"])).out == expected.out
    if name.startswith("predict"):
        assert command("predict", str(model), tables["unseen"], "--json").out == expected.out


def test_costs_are_listed_in_the_order_of_the_decisions(
    tables: dict[str, str], example: Path, command: Any
) -> None:
    model = fl.load(example / "power.json")
    frame = pd.read_csv(tables["unseen"])
    costs = frame[["cost_3", "cost_5", "cost_1"]].to_numpy()
    run = command(
        *("predict", str(example / "power.json"), tables["unseen"]),
        *("--costs", "cost_3,cost_5,cost_1", "--json"),
    )
    expected = model.predict(frame[list(model.feature_names_in_)].to_numpy(), costs=costs)
    assert json.loads(run.out)["rows"] == expected.tolist()


def test_a_model_without_names_says_that_it_goes_by_position(command: Any) -> None:
    data = fl.datasets.make_power5(20, random_state=0)
    model = fl.RegionRegressor(fl.Scaled(fl.Simplex(3)), cost=data.cost)
    fl.save(model.fit(data.signals, data.decisions), "m.json")
    names = [f"signal_{j}" for j in range(data.signals.shape[1])]
    pd.DataFrame(data.signals, columns=names).to_csv("signals.csv", index=False)
    for arguments in (("predict", "m.json"), ("export", "m.json", "--data")):
        run = command(*arguments, "signals.csv")
        assert run.code == 0
        assert run.err.startswith("feaslearn: warning: the model was fitted without names")
        assert "the columns of signals.csv by position ('signal_0'; 'signal_1'; " in run.err
        assert "--signals" in run.err
        named = command(*arguments, "signals.csv", "--signals", ",".join(names))
        assert named.out == run.out
        assert "without names" not in named.err
