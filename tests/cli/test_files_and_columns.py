"""Outputs never replace inputs; columns are found by the names that a model knows."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl

COLUMNS = ("--signals", "cost_*,demand_*", "--decisions", "plant_*", "--cost", "cost_*")
FIT = ("fit", "power.csv", *COLUMNS, "--hypothesis", "minkowski:hypersimplices", "--no-check")
EXPORT = ("export", "power.json", "--data", "unseen.csv")


@pytest.fixture(autouse=True)
def _files(example: Path, command: Any) -> None:
    """Copy a table, its model and a link to each into the folder of the commands."""
    for name in ("power.csv", "unseen.csv", "power.json"):
        shutil.copy(example / name, name)
        Path(f"link-{name}").symlink_to(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "power.json", "link-power.csv", "-o", "./power.csv"), "this command reads"),
        ((*FIT, "-o", "power.csv"), "--output: power.csv is a file that this command reads"),
        ((*EXPORT, "-o", "power.json"), "is a file that this command reads"),
        (("report", "power.json", "power.csv", "-o", "link-power.json"), "this command reads"),
        (
            ("report", "power.json", "unseen.csv", "--train", "power.csv", "-o", "power.csv"),
            "this command reads",
        ),
        ((*FIT, "-o", "-"), "--output: this command writes a file"),
    ],
)
def test_inputs_are_not_replaced(arguments: tuple[str, ...], message: str, command: Any) -> None:
    Path("link.json").symlink_to("m.json")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    run = command(*arguments)
    assert run.code == 2
    assert message in run.err
    assert run.err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("arguments", [("predict", "power.json", "unseen.csv"), EXPORT])
def test_a_dash_prints(arguments: tuple[str, ...], command: Any) -> None:
    run = command(*arguments, "-o", "-")
    assert (run.code, run.out) == (0, command(*arguments).out)
    assert not Path("-").exists()


def assert_equal_but_for_rounding(found: str, expected: str) -> None:
    """Sums over columns in another order differ in the last digit with old numpy."""
    number = r"-?\d+\.\d+(?:e[+-]?\d+)?"
    assert re.sub(number, "", found) == re.sub(number, "", expected)
    values = [list(map(float, re.findall(number, text))) for text in (found, expected)]
    assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        ("predict", "--signals", "demand_5,demand_4,demand_3,demand_2,demand_1,cost_*"),
        ("predict", "--costs", "cost_*"),
        ("explain", "--signals", "cost_*,demand_*", "--row", "3"),
        ("export", "--signals", "cost_*,demand_*", "--row", "3"),
    ],
)
def test_the_order_of_a_table_does_not_matter(options: tuple[str, ...], command: Any) -> None:
    frame = pd.read_csv("unseen.csv")
    frame[frame.columns[::-1]].to_csv("reordered.csv", index=False)
    verb, *rest = options
    data = ["--data"] if verb == "export" else []
    expected = command(verb, "power.json", *data, "unseen.csv", *rest, "--json")
    assert (expected.code, expected.err) == (0, "")
    found = command(verb, "power.json", *data, "reordered.csv", *rest, "--json")
    assert_equal_but_for_rounding(found.out, expected.out)
    if verb == "predict":
        plain = command("predict", "power.json", "unseen.csv", "--json")
        assert_equal_but_for_rounding(plain.out, expected.out)


def test_costs_are_listed_in_the_order_of_the_decisions(command: Any) -> None:
    frame = pd.read_csv("unseen.csv")
    model = fl.load("power.json")
    costs = frame[["cost_3", "cost_5", "cost_1"]].to_numpy()
    expected = model.predict(frame[list(model.feature_names_in_)], costs=costs)
    run = command(
        "predict", "power.json", "unseen.csv", "--costs", "cost_3,cost_5,cost_1", "--json"
    )
    np.testing.assert_allclose(json.loads(run.out)["rows"], expected.to_numpy(), atol=1e-12)


def test_a_model_without_names_says_that_it_goes_by_position(command: Any) -> None:
    data = fl.datasets.make_power5(20, random_state=0)
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"), cost=data.cost
    )
    fl.save(model.fit(data.signals, data.decisions), "m.json")
    names = [f"signal_{j}" for j in range(data.signals.shape[1])]
    pd.DataFrame(data.signals, columns=names).to_csv("signals.csv", index=False)
    run = command("predict", "m.json", "signals.csv")
    assert run.code == 0
    assert "the columns of signals.csv by position ('signal_0'; 'signal_1'; " in run.err
    named = command("predict", "m.json", "signals.csv", "--signals", ",".join(names))
    assert named.out == run.out
    assert "without names" not in named.err
