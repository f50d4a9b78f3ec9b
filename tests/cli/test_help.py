"""The help of every command teaches by example, the examples run; what words stand for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import feaslearn as fl
from feaslearn.cli import parsing
from feaslearn.exceptions import DataError

WITH_EXAMPLES = ["", "demo", "check", "fit", "predict", "explain", "report", "export"]


def examples(text: str) -> list[tuple[str, ...]]:
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
        found = examples(text)
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
