"""Whatever is wrong: one line, exit code 2, nothing written; and help that teaches by example."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import feaslearn as fl
from cli.conftest import COLUMNS as POWER
from cli.conftest import SMALL as GOOD
from feaslearn.cli import parsing
from feaslearn.exceptions import DataError

COLUMNS = ("--signals", "price,demand", "--decisions", "power", "--cost", "price")
FIT = ("fit", "data.csv", *COLUMNS, "--hypothesis", "minkowski:box", "-o", "out.json")


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


def test_files_that_cannot_be_read(command: Any) -> None:
    refused(command(*FIT), "data.csv: No such file")
    refused(command("fit", ".", *FIT[2:]), "directory")
    Path("data.csv").write_text(GOOD)
    if os.geteuid():
        Path("data.csv").chmod(0)
        refused(command(*FIT), "Permission denied")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--max-bytes", "9", "the limit is 9"),
        ("--encoding", "nonsense", "encoding"),
        ("--delimiter", "--", "delimiter"),
        ("--decisions", "nothing", "column 'nothing' is not in data.csv"),
        ("--signals", "power", "column 'power' is both a signal and a decision"),
        ("--cost", "prize", "--cost: column 'prize' is not in data.csv; did you mean 'price'"),
        ("--cost", "1,2", "number of entries is 2, that of decisions 1"),
        ("--hypothesis", "simplx:6", "did you mean 'simplex:P'?"),
        ("--hypothesis", "simplex:six", "0 or 1 integer(s)"),
        ("--features", "poly", "1 integer(s)"),
        ("--sense", "sideways", "--sense"),
        ("--jobs", "0", "n_jobs=0"),
        ("--colour", "red", "--colour"),
        ("-o", "missing/out.json", "cannot be written"),
    ],
)
def test_options_that_cannot_be_used(option: str, value: str, message: str, command: Any) -> None:
    Path("data.csv").write_text(GOOD)
    options = dict(zip(FIT[2::2], FIT[3::2], strict=True)) | {option: value}
    refused(command(*FIT[:2], *(part for pair in options.items() for part in pair)), message)


def test_everything_wrong_is_said_at_once(command: Any) -> None:
    Path("data.csv").write_text("price,demand,power\n1,two,3\n")
    wrong = ("--signals", "demand,wind", "--decisions", "pwr", "--cost", "prize")
    run = command("fit", "data.csv", *wrong, "-o", "out.json")
    refused(run, "'wind'", "'pwr'", "'prize'", "line 2, column 'demand' is the text 'two'")


def test_missing_arguments(command: Any) -> None:
    refused(command("fit"), "Missing argument", "fit --help")
    Path("data.csv").write_text(GOOD)
    refused(command("fit", "data.csv"), "--decisions")
    refused(command("nonsense"), "No such command 'nonsense'")
    refused(command("demo", "--data", "power.txt"), ".csv and .parquet")
    refused(command("demo", "--samples", "1" + "0" * 20), "--samples")


@pytest.fixture
def model(example: Path, command: Any) -> Path:
    """Copy a model and its table into the folder of the commands."""
    for name in ("data.csv", "model.json"):
        shutil.copy(example / name, name)
    return Path("model.json")


def test_models_that_cannot_be_used(model: Path, command: Any) -> None:
    refused(command("predict", "missing.json", "data.csv"), "missing.json: No such file")
    refused(command("predict", "data.csv", "model.json"), "data.csv: damaged, or not a model file")
    small = ("--max-bytes", "9")
    refused(command("predict", "model.json", "data.csv", *small), "model.json", "--max-bytes")
    model.write_bytes(model.read_bytes().replace(b'"demand"', b'"demanD"'))
    refused(command("predict", "model.json", "data.csv"), "damaged, or not a model file")
    refused(command("export", "model.json", "--data", "data.csv"), "damaged, or not a model file")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("predict model.json other.csv", "signals: column 'demand' is not in"),
        ("predict model.json data.csv --keep day", "--keep: column 'day'"),
        ("predict model.json data.csv --costs 1,2", "2 costs for 1 decisions"),
        ("predict model.json data.csv --signals price", "1 columns, but the"),
        ("report model.json other.csv", "decisions: column 'power' is not in"),
        ("report model.json data.csv --costs 1", "reads its costs from the"),
        ("report model.json data.csv --train other.csv", "report --train: signals: column 'demand"),
        ("report model.json data.csv --units pover=MW", "--units: column: column 'pover' is not"),
        ("report model.json data.csv --units power=MW,kW", "'kW' is not of the form column=unit"),
        ("report model.json data.csv --time demand", "--time: 'demand' does not hold times"),
        ("export model.json", "give the signal once"),
        ("export model.json --at a=1 --data data.csv", "once"),
        ("export model.json --at wind=1", "'wind=1' does not set a signal"),
        ("export model.json --at price=1", "no number is given to 'demand'"),
        ("export model.json --data data.csv --row 99", "99 is not a row"),
        ("export model.json --data other.csv --signals price,wind", "line 2, column 'wind'"),
        ("export model.json --data data.csv --format vertexes", "did you mean 'vertices'?"),
        ("export model.json --data data.csv --format mps -o no/x.mps", "no/x.mps: cannot be"),
    ],
)
def test_uses_that_cannot_be_served(
    arguments: str, message: str, model: Path, command: Any
) -> None:
    Path("other.csv").write_text("price,wind\n1,x\n")
    refused(command(*arguments.split()), message)


@pytest.mark.parametrize("arguments", ["report model.json data.csv", "demo"])
def test_an_extra_that_is_missing(
    arguments: str, command: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    refused(command(*arguments.split()), 'needs jinja2: pip install "feaslearn[report]"')


FIT_POWER = ("fit", "power.csv", *POWER, "--hypothesis", "minkowski:hypersimplices", "--no-check")
EXPORT = ("export", "power.json", "--data", "unseen.csv")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "power.json", "link-power.csv", "-o", "./power.csv"), "this command reads"),
        ((*FIT_POWER, "-o", "power.csv"), "--output: power.csv is a file that this command reads"),
        ((*EXPORT, "-o", "power.json"), "is a file that this command reads"),
        (("report", "power.json", "power.csv", "-o", "link-power.json"), "this command reads"),
        (
            ("report", "power.json", "unseen.csv", "--train", "power.csv", "-o", "power.csv"),
            "this command reads",
        ),
        ((*FIT_POWER, "-o", "-"), "--output: this command writes a file"),
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


# The help of every command teaches by example, the examples run; what words stand for.

WITH_EXAMPLES = ["", "demo", "check", "fit", "predict", "explain", "report", "export"]


def examples_in(text: str) -> list[tuple[str, ...]]:
    """Return the commands under "Examples:", lines that end with a backslash joined."""
    _, _, block = text.partition("Examples:\n")
    block = block.split("\n\n")[0].replace("\\\n", " ")
    lines = [line.strip() for line in block.splitlines()]
    assert all(line.startswith("$ feaslearn ") for line in lines), lines
    return [tuple(shlex.split(line)[2:]) for line in lines]


def test_examples_run_as_printed_and_lines_fit_a_terminal(command: Any) -> None:
    """Each once, in their order: a command writes the same file in the help of every other."""
    Path("data").mkdir()
    assert command("demo", "--data", "data/power.parquet", "--samples", "30").code == 0
    done: set[tuple[str, ...]] = set()
    for verb in WITH_EXAMPLES:
        text = command(*verb.split(), "--help").out
        assert max(map(len, text.splitlines())) <= 100
        found = examples_in(text)
        assert not verb or any(verb == example[0] for example in found)
        for example in found:
            if example not in done:
                run = command(*example)
                assert run.code == 0, (example, run)
                assert "Traceback" not in run.err
            done.add(example)
    assert len(done) > 15
    listed = command("--help").out
    assert all(f"\n  {verb} " in listed for verb in WITH_EXAMPLES[1:])


def test_the_help_of_fit_names_the_hypotheses(command: Any) -> None:
    text = command("fit", "--help").out
    for usage in parsing.usages():
        assert usage.split(":")[0] in text, f"say in the help of fit what {usage} is"


@pytest.mark.parametrize("usage", parsing.usages())
def test_every_usage_that_is_offered_works(usage: str) -> None:
    text = usage.replace(":P", ":3").replace(":M", ":2")
    hypothesis = parsing.parse_hypothesis(text, 3)
    assert (hypothesis is None) == (text == "auto")
    if hypothesis is not None:
        hypothesis.check(3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("linear", fl.Affine(fl.Simplex(1))),
        ("facets:0", fl.Facets(max_facets=0)),
        ("facets:30", fl.Facets(30)),
        ("simplex:6", fl.Affine(fl.Simplex(6))),
        ("box", fl.Affine(fl.Box(4))),
        ("l2ball:2", fl.Affine(fl.L2Ball(2))),
        ("hypersimplex:5:2", fl.Affine(fl.Hypersimplex(5, 2))),
        ("minkowski:windows:2:3", fl.Minkowski.windows(4, [2, 3])),
    ],
)
def test_hypotheses(text: str, expected: fl.hypotheses.Hypothesis) -> None:
    assert repr(parsing.parse_hypothesis(text, 4)) == repr(expected)


@pytest.mark.parametrize(
    "text",
    ["", ":", "auto:1", "linear:2", "facets:1:2", "simplex:-1", "simplex:٣", "scaled", "affine:",
     "hypersimplex", "hypersimplex:3", "Simplex(3)", "__class__", "minkowski:nothing",
     "minkowski:box:1", "minkowski:windows", "minkowski:__class__"],
)  # fmt: skip
def test_hypotheses_that_are_not_known(text: str) -> None:
    with pytest.raises(DataError, match="--hypothesis"):
        parsing.parse_hypothesis(text, 4)


def test_features() -> None:
    assert parsing.parse_features("non-cost") == "non-cost"
    assert parsing.parse_features("spline:4").n_knots == 4
    for text in ("scale:2", "all:1", "poly:x", "poly:", "StandardScaler"):
        with pytest.raises(DataError, match="--features"):
            parsing.parse_features(text)
