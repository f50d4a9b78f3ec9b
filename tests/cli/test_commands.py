"""Every command from start to end, and the demo's story; `test_console` starts the program."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from cli.conftest import COLUMNS, SMALL
from feaslearn.cli import demo
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.inference.trust import STATUSES
from registry import fit_to

ROWS = 60


def test_from_a_table_to_a_region(command: Any, tmp_path: Path) -> None:
    """As a script would use it."""

    def told(*arguments: str) -> Any:
        run = command(*arguments)
        assert (run.code, run.err) == (0, "")
        return json.loads(run.out) if "--json" in arguments else run.out

    made = told("demo", "--data", "power.parquet", "--samples", "60", "--json")
    assert made["n_samples"] == ROWS
    fitted = told(
        *("fit", "power.parquet", *COLUMNS, "--hypothesis", "facets", "--no-check"),
        *("-o", "m.json", "--json"),
    )
    assert fitted["status"] in ("optimal", "converged")
    assert fitted["decisions"] == ["plant_1", "plant_3", "plant_5"]
    told("predict", "m.json", "power.parquet", "--no-trust", "-o", "x.csv")
    exported = told("export", "m.json", "--data", "power.parquet")
    # The same in Python.
    data = fl.datasets.make_power5(ROWS, random_state=0)
    model = fit_to(data, fl.Facets())
    predicted = pd.read_csv("x.csv").to_numpy()
    assert predicted.tobytes() == model.predict(data.signals).tobytes()
    vertices = np.array([line.split(",") for line in exported.splitlines()[1:]], dtype=float)
    assert vertices.tobytes() == model.region(data.signals[0]).vertices().tobytes()


def test_fit_with_every_option(example: Path, command: Any) -> None:
    run = command(
        *("fit", str(example / "power.csv"), "--signals", "*", "--decisions", "plant_1"),
        *("--decisions", "plant_3,plant_5", "--cost", "-1,2,-0.5", "--weights", "demand_5"),
        *("--hypothesis", "minkowski:box", "--features", "poly:2", "--sense", "max"),
        *("--seed", "3", "--jobs", "2"),
        *("--no-check", "-o", "m.json", "--json"),
    )
    assert run.code == 0, run.err
    model = fl.load("m.json")
    assert model.cost == [-1.0, 2.0, -0.5]
    assert (model.sense, model.random_state, model.n_jobs) == ("max", 3, 2)
    assert type(model.features).__name__ == "PolynomialFeatures"
    # A pattern leaves out what other options name.
    assert not {"plant_1", "demand_5"} & set(model.feature_names_in_)
    assert "demand_4" in model.feature_names_in_


def test_no_cost_is_a_warning(example: Path, command: Any) -> None:
    arguments = ("--signals", "demand_*", "--decisions", "plant_*", "-o", "m.json")
    run = command("fit", str(example / "power.csv"), *arguments)
    assert run.code == 0
    assert run.err.startswith("feaslearn: warning: no cost was given")
    assert run.err.count("\n") == 1
    assert command("fit", str(example / "power.csv"), *arguments, "--quiet").err == ""


def test_predict_prints_a_table_or_json(example: Path, command: Any) -> None:
    files = (str(example / "power.json"), str(example / "unseen.csv"))
    printed = command("predict", *files).out.splitlines()
    assert printed[0] == "plant_1,plant_3,plant_5,trust,rests_on"
    assert len(printed) == 8
    assert printed[1].split(",")[3] in STATUSES
    printed = command("predict", *files, "--no-trust").out.splitlines()
    assert printed[0] == "plant_1,plant_3,plant_5"
    found = json.loads(command("predict", *files, "--json").out)
    assert found["columns"] == ["plant_1", "plant_3", "plant_5"]
    assert [float(cell) for cell in printed[1].split(",")] == found["rows"][0]
    assert sum(found["counts"].values()) == len(found["trust"]) == len(found["rests_on"]) == 7


def test_a_model_without_names_and_with_costs_of_its_own(example: Path, command: Any) -> None:
    data = fl.datasets.make_power5(30, random_state=0)
    model = fl.RegionRegressor(fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"))
    model.fit(data.signals, data.decisions, costs=data.cost_matrix)
    fl.save(model, "m.json")
    unseen = str(example / "unseen.csv")
    run = command("predict", "m.json", unseen)
    assert run.code == 2
    assert "fitted without names to 8 signals; name their columns with --signals" in run.err
    run = command("predict", "m.json", unseen, "--signals", "cost_*,demand_*")
    assert run.code == 2
    assert "fitted with costs" in run.err
    named = ("--signals", "cost_*,demand_*", "--costs", "cost_*")
    run = command("predict", "m.json", unseen, *named)
    assert run.code == 0
    assert run.out.startswith("x0,x1,x2,trust,rests_on\n")
    run = command("report", "m.json", unseen, *named, "--decisions", "plant_*", "--json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["n_samples"] == 7
    run = command("report", "m.json", unseen, *named, "--decisions", "plant_1")
    assert run.code == 2


def test_export(example: Path, command: Any) -> None:
    model, data = str(example / "power.json"), str(example / "unseen.csv")
    signal = pd.read_csv(data).filter(regex="cost|demand").iloc[2].to_dict()
    at = ",".join(f"{name}={value!r}" for name, value in signal.items())
    by_text = command("export", model, "--at", at)
    by_row = command("export", model, "--data", data, "--row", "3")
    assert (by_text.code, by_text.out) == (0, by_row.out)
    run = command("export", model, "--at", at, "--format", "halfspaces", "-o", "h.csv", "--json")
    assert json.loads(run.out)["format"] == "halfspaces"
    assert Path("h.csv").read_text().startswith("plant_1,plant_3,plant_5,relation,limit\n")
    printed = json.loads(command("export", model, "--at", at, "--json").out)
    assert printed["text"] == by_text.out


def test_report_for_scripts(command: Any, example: Path) -> None:
    files = [str(example / name) for name in ("power.json", "unseen.csv", "power.csv")]
    run = command(
        *("report", *files[:2], "--train", files[2], "--units", "plant_*=MW,cost_1=EUR"),
        *("--title", "Dispatch & more", "-o", "page.html", "--json"),
    )
    assert run.code == 0
    facts = json.loads(run.out)
    assert facts == {
        "report": "page.html",
        "n_samples": 7,
        "bytes": Path("page.html").stat().st_size,
    }
    page = Path("page.html").read_text("utf-8")
    assert "<title>Dispatch &amp; more</title>" in page
    assert "plant_5 (MW)" in page
    assert command("report", files[0], files[2], "--no-refit").out.startswith("Report on 60 rows")
    assert Path("report.html").exists()


def test_kept_columns_are_numbers_where_the_format_knows_some(example: Path, command: Any) -> None:
    lines = (example / "unseen.csv").read_text().splitlines()
    added = ["day,load,key", *(f"d{i},{'' if i == 2 else i},{2**60 + i}" for i in range(1, 8))]
    Path("days.csv").write_text("\n".join(map(",".join, zip(lines, added, strict=True))))
    asked = ("predict", str(example / "power.json"), "days.csv", "--keep")
    run = command(*asked, "day,load,key", "--costs", "0.9,0.1,0.5", "-o", "out.parquet")
    assert run.code == 0, run.err
    assert "7 of 7 decisions rest on limits that the data never showed" in " ".join(run.out.split())
    found = pd.read_parquet("out.parquet")
    assert [found[name].dtype.kind for name in ("day", "load", "key")] == ["O", "f", "O"]
    assert np.isnan(found["load"][1])
    assert not set(found["trust"]) & set(STATUSES[:2])
    row = json.loads(command(*asked, "day,load,key", "--json").out)["rows"][0]
    assert row[:3] == ["d1", 1.0, str(2**60 + 1)]
    run = command(*asked, "demand_1,plant_1", "-o", "out.csv")
    assert run.code == 2
    assert "--keep: 'plant_1' is the name of a decision that is predicted" in run.err
    names = json.loads(command(*asked, "*", "--json").out)["columns"]
    assert len(names) == len(set(names)) == 14


def test_rows_count_from_one_as_export_takes_them(command: Any) -> None:
    Path("data.csv").write_text(SMALL.replace("demand", "low"))
    known = ("--lower", "low", "--upper", "20", "--hypothesis", "minkowski:box", "--no-check")
    roles = ("--signals", "price,low", "--decisions", "power", "--cost", "price")
    assert command("fit", "data.csv", *roles, *known, "-o", "model.json").code == 0
    Path("other.csv").write_text("price,low\n1,2\n1,30\n1,3\n")
    text = "contradict each other at row 2: "
    assert text in command("predict", "model.json", "other.csv").err
    for row in ("1", "2"):
        run = command("export", "model.json", "--data", "other.csv", "--row", row)
        assert run.code == 0
        assert (text in run.err) is (row == "2")
    with pytest.warns(FeaslearnWarning, match="contradict each other at row 1: "):
        fl.load("model.json").predict(pd.read_csv("other.csv"))


EXPORT = ("export", "power.json", "--data", "unseen.csv")


@pytest.mark.usefixtures("files")
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


@pytest.mark.usefixtures("files")
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


@pytest.mark.usefixtures("files")
def test_costs_are_listed_in_the_order_of_the_decisions(command: Any) -> None:
    frame = pd.read_csv("unseen.csv")
    model = fl.load("power.json")
    costs = frame[["cost_3", "cost_5", "cost_1"]].to_numpy()
    expected = model.predict(frame[list(model.feature_names_in_)], costs=costs)
    run = command(
        "predict", "power.json", "unseen.csv", "--costs", "cost_3,cost_5,cost_1", "--json"
    )
    np.testing.assert_allclose(json.loads(run.out)["rows"], expected.to_numpy(), atol=1e-12)


@pytest.mark.usefixtures("files")
def test_a_model_without_names_says_that_it_goes_by_position(command: Any) -> None:
    data = fl.datasets.make_power5(20, random_state=0)
    fl.save(fit_to(data, fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant")), "m.json")
    names = [f"signal_{j}" for j in range(data.signals.shape[1])]
    pd.DataFrame(data.signals, columns=names).to_csv("signals.csv", index=False)
    run = command("predict", "m.json", "signals.csv")
    assert run.code == 0
    assert "the columns of signals.csv by position ('signal_0'; 'signal_1'; " in run.err
    named = command("predict", "m.json", "signals.csv", "--signals", ",".join(names))
    assert named.out == run.out
    assert "without names" not in named.err


@pytest.mark.usefixtures("files")
def test_known_bounds_and_balance(command: Any) -> None:
    fit = ("fit", "power.csv", *COLUMNS, "--hypothesis", "facets", "-o", "m.json", "--quiet")
    known = ("--lower", "0", "--upper", "3.5,none,3.5", "--balance", "demand_*")
    assert command(*fit, *known).code == 0
    signals = fl.datasets.make_power5(40, random_state=0).signals
    limits = fl.load("m.json").known_.at(signals)
    np.testing.assert_allclose(limits.e[:, 0], signals[:, 3:].sum(axis=1))
    np.testing.assert_array_equal(limits.upper[0], [3.5, np.inf, 3.5])
    run = command(*fit, "--balance", "demnd_1")
    assert run.code != 0
    assert "did you mean 'demand_1'" in run.err
    run = command(*fit, "--upper", "1.0")
    assert run.code != 0
    assert "violates the upper bound of plant_" in run.err


# The demo's story: what it recovers, and how it reads.


@pytest.fixture(scope="module")
def story() -> demo.Story:
    return demo.tell()


def test_the_limits_of_the_hidden_grid_are_recovered(story: demo.Story) -> None:
    texts = {limit.text for limit in story.limits}
    capacity = 2 * demo.LINE_CAPACITY
    assert {
        f"plant_5 >= demand_4 + demand_5 - {capacity:g}",
        f"plant_3 <= demand_3 + {capacity:g}",
        f"plant_1 <= demand_1 + {capacity:g}",
        "plant_1 <= 3.5",
        "plant_3 <= 3.5",
        "plant_5 >= 0",
    } <= texts
    for limit, truth in zip(story.limits, story.truths, strict=True):
        assert truth == demo.RECOVERED or limit.status == "not seen", limit.text
    (balance,) = story.model.facets_.equalities
    assert balance.startswith("plant_1 + plant_3 + plant_5 = demand_1 + demand_2")


def test_the_model_is_ahead_and_marks_what_it_does_not_know(story: demo.Story) -> None:
    (_, ours, error), *others = story.scores
    assert ours > 0.999
    assert error < 1e-3
    assert all(r2 < ours - 0.05 for _, r2, _ in others)
    doubled, tenth = story.what_ifs
    assert doubled.after == pytest.approx(doubled.truth, abs=0.02)
    assert tenth.trust.unseen.mean() > 0.9


def test_it_fits_one_screen(story: demo.Story) -> None:
    lines = demo.lines_of(story, Path("demo_report.html"))
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    assert any("the same" in line for line in lines)


def test_for_scripts(story: demo.Story, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "tell", lambda: story)
    run = command("demo", "--json")
    facts = json.loads(run.out)
    assert facts["report"] == "demo_report.html"
    first, *others = facts["models"]
    assert first["model"] == "learned limits"
    assert first["r2"] > max(other["r2"] for other in others)
    assert {limit["true"] for limit in facts["limits"] if limit["status"] != "not seen"} == {True}
    page = Path("demo_report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "plant_1 + plant_3 + plant_5 = demand_1" in page
    assert "fitted to the same 500 rows and measured on the 100 other rows" in page
