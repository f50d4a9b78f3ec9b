"""Whatever is wrong: one line, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import SMALL as GOOD

COLUMNS = ("--signals", "price,demand", "--decisions", "power", "--cost", "price")
FIT = ("--hypothesis", "scaled:box", "-o", "out.json")


def refused(run: Any, *messages: str) -> None:
    """Check that a run was refused in one line that says why, and left nothing behind."""
    assert run.code == 2, run
    assert run.out == ""
    assert run.err.startswith("feaslearn: ")
    assert run.err.count("\n") == 1
    for message in messages:
        assert message in run.err
    left = {path.name for path in Path.cwd().iterdir()}
    assert left <= {"data.csv", "data.parquet", "model.json", "other.csv"}


TABLES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "data.csv: the file is empty"),
    "ragged": (b"price,demand,power\n1,2,3\n4,5\n", "line 3 has 2 cells"),
    "encoding": (b"price,demand,power\n\xe9,2,3\n", "not utf-8 text at byte 19"),
    "text": (b"price,demand,power\n1,two,3\n", "line 2, column 'demand' is the text 'two'"),
    "gap": (b"price,demand,power\n1,,3\n", "line 2, column 'demand' is empty"),
    "twice": (b"price,demand,demand,power\n1,2,3,4\n", "2 columns in data.csv are called 'demand'"),
    "missing": (
        b"price,demnad,power\n1,2,3\n",
        "'demand' is not in data.csv; did you mean 'demnad'",
    ),
    "no-header": (b"1,2,3\n4,5,6\n", "the first line holds numbers"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_cannot_be_used(name: str, command: Any) -> None:
    contents, message = TABLES[name]
    Path("data.csv").write_bytes(contents)
    refused(command("fit", "data.csv", *COLUMNS, *FIT), message)


def test_files_that_cannot_be_read(command: Any) -> None:
    refused(command("fit", "missing.csv", *COLUMNS, *FIT), "missing.csv: No such file")
    refused(command("fit", ".", *COLUMNS, *FIT), "directory")
    Path("data.csv").write_text(GOOD)
    refused(command("fit", "data.csv", *COLUMNS, *FIT, "--max-bytes", "9"), "the limit is 9")
    refused(command("fit", "data.csv", *COLUMNS, *FIT, "--encoding", "nonsense"), "encoding")
    refused(command("fit", "data.csv", *COLUMNS, *FIT, "--delimiter", "--"), "delimiter")
    if os.geteuid():
        Path("data.csv").chmod(0)
        refused(command("fit", "data.csv", *COLUMNS, *FIT), "Permission denied")


OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "no-decisions": (("--decisions", "nothing"), "column 'nothing' is not in data.csv"),
    "both": (("--signals", "power"), "column 'power' is both a signal and a decision"),
    "cost": (
        ("--cost", "prize"),
        "--cost: column 'prize' is not in data.csv; did you mean 'price'",
    ),
    "cost-count": (("--cost", "1,2"), "number of entries is 2, that of decisions 1"),
    "hypothesis": (("--hypothesis", "simplx:6"), "did you mean 'simplex:P'?"),
    "hypothesis-number": (("--hypothesis", "simplex:six"), "0 or 1 integer(s)"),
    "hypothesis-set": (("--hypothesis", "scaled:bx"), "names no set; did you mean 'box'?"),
    "loss": (("--loss", "predictabilty"), "did you mean 'predictability'?"),
    "features-number": (("--features", "poly"), "1 integer(s)"),
    "trainer": (("--trainer", "convx"), "did you mean 'convex'?"),
    "trainer-mismatch": (("--trainer", "facet-learning"), "cannot train this"),
    "sense": (("--sense", "sideways"), "--sense"),
    "jobs": (("--jobs", "0"), "n_jobs=0"),
    "unknown": (("--colour", "red"), "--colour"),
    "output": (("-o", "missing/out.json"), "cannot be written"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_cannot_be_used(name: str, command: Any) -> None:
    Path("data.csv").write_text(GOOD)
    changed, message = OPTIONS[name]
    arguments = dict(zip((*COLUMNS, *FIT)[::2], (*COLUMNS, *FIT)[1::2], strict=True))
    arguments.update([changed])
    run = command("fit", "data.csv", *(part for pair in arguments.items() for part in pair))
    refused(run, message)


def test_everything_wrong_is_said_at_once(command: Any) -> None:
    Path("data.csv").write_text("price,demand,power\n1,two,3\n")
    run = command(
        *("fit", "data.csv", "--signals", "demand,wind", "--decisions", "pwr", "--cost", "prize"),
        *FIT,
    )
    refused(run, "'wind'", "'pwr'", "'prize'", "line 2, column 'demand' is the text 'two'")


def test_missing_arguments(command: Any) -> None:
    refused(command("fit"), "Missing argument", "fit --help")
    Path("data.csv").write_text(GOOD)
    refused(command("fit", "data.csv"), "--decisions")
    refused(command("predict"), "Missing argument")
    refused(command("nonsense"), "No such command 'nonsense'")
    refused(command("--nonsense"), "--nonsense")


MODELS: dict[str, tuple[Any, str]] = {
    "empty": (lambda text: "", "model.json: the file is empty"),
    "truncated": (lambda text: text[: len(text) // 2], "not whole"),
    "edited": (lambda text: text.replace('"demand"', '"wind"'), "the checksum is wrong"),
    "newer": (lambda text: text.replace('"version": 4', '"version": 9'), "upgrade feaslearn"),
    "deep": (lambda text: "[" * 10**5, "nested too deep"),
    "table": (lambda text: GOOD, "not a model file"),
    "other-json": (lambda text: json.dumps({"a": 1}), "its format is not"),
}


@pytest.fixture
def model(example: Path, command: Any) -> Path:
    """Copy a model and its table into the folder of the commands."""
    for name in ("data.csv", "model.json"):
        shutil.copy(example / name, name)
    return Path("model.json")


@pytest.mark.parametrize("name", MODELS)
def test_models_that_cannot_be_used(name: str, model: Path, command: Any) -> None:
    change, message = MODELS[name]
    text = model.read_text()
    assert change(text) != text
    model.write_text(change(text))
    refused(command("predict", "model.json", "data.csv"), message)
    refused(command("export", "model.json", "--data", "data.csv"), message)


def test_models_that_cannot_be_read(command: Any, model: Path) -> None:
    refused(command("predict", "missing.json", "data.csv"), "missing.json: No such file")
    refused(
        command("predict", "data.csv", "model.json"), "data.csv: not whole, or not a model file"
    )
    small = ("--max-bytes", "9")
    refused(command("predict", "model.json", "data.csv", *small), "model.json", "--max-bytes")


USES: dict[str, tuple[tuple[str, ...], str]] = {
    "missing-signal": (
        ("predict", "model.json", "other.csv"),
        "signals: column 'demand' is not in",
    ),
    "keep": (("predict", "model.json", "data.csv", "--keep", "day"), "--keep: column 'day'"),
    "costs": (("predict", "model.json", "data.csv", "--costs", "1,2"), "2 costs for 1 decisions"),
    "signals": (("predict", "model.json", "data.csv", "--signals", "price"), "1 columns, but the"),
    "decisions": (("evaluate", "model.json", "other.csv"), "decisions: column 'power' is not in"),
    "twice": (("evaluate", "model.json", "data.csv", "--costs", "1"), "reads its costs from the"),
    "at-most": (("evaluate", "model.json", "data.csv", "--at-most", "nan"), "--at-most: nan"),
    "norm": (("evaluate", "model.json", "data.csv", "--norm", "l7"), "--norm"),
    "report-columns": (
        ("report", "model.json", "other.csv", "-o", "x.html"),
        "report: signals: column 'demand' is not in other.csv",
    ),
    "report-train": (
        ("report", "model.json", "data.csv", "--train", "other.csv", "-o", "x.html"),
        "report --train: signals: column 'demand'",
    ),
    "report-units": (
        ("report", "model.json", "data.csv", "--units", "pover=MW", "-o", "x.html"),
        "--units: column: column 'pover' is not in the model; did you mean 'power'?",
    ),
    "report-unit": (
        ("report", "model.json", "data.csv", "--units", "power=MW,kW", "-o", "x.html"),
        "--units: 'kW' is not of the form column=unit",
    ),
    "no-signal": (("export", "model.json"), "give the signal once"),
    "two-signals": (("export", "model.json", "--at", "a=1", "--data", "data.csv"), "once"),
    "at-name": (("export", "model.json", "--at", "wind=1"), "'wind=1' does not set a signal"),
    "at-missing": (("export", "model.json", "--at", "price=1"), "no number is given to 'demand'"),
    "row": (("export", "model.json", "--data", "data.csv", "--row", "99"), "99 is not a row"),
    "row-gap": (("export", "model.json", "--data", "other.csv"), "line 2, column 'demand'"),
    "format": (
        ("export", "model.json", "--data", "data.csv", "--format", "vertexes"),
        "did you mean 'vertices'?",
    ),
    "export-folder": (
        ("export", "model.json", "--data", "data.csv", "--format", "mps", "-o", "no/x.mps"),
        "no/x.mps: cannot be written",
    ),
}


@pytest.mark.parametrize("name", USES)
def test_uses_that_cannot_be_served(name: str, model: Path, command: Any) -> None:
    head = "price,demand\n1,x\n" if name == "row-gap" else "price,wind\n1,2\n"
    Path("other.csv").write_text(head)
    arguments, message = USES[name]
    refused(command(*arguments), message)


def test_an_extra_that_is_missing(
    command: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for arguments in (("report", "model.json", "data.csv"), ("demo",)):
        refused(command(*arguments), 'needs jinja2: pip install "feaslearn[report]"')


def test_demo_data_that_cannot_be_written(command: Any) -> None:
    refused(command("demo", "--data", "power.txt"), ".csv and .parquet")
    refused(command("demo", "--samples", "0"), "--samples")
    refused(command("demo", "--data", "power.csv", "--samples", "1" + "0" * 20), "--samples")
