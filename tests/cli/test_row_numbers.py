"""Rows are counted from 1 in whatever a command says, as --row does; in Python, from 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning

COLUMNS = ("--signals", "price,low", "--decisions", "power", "--cost", "price")
GOOD = "price,low,power\n" + "".join(f"{i % 3 - 1},{i},{i + 1}\n" for i in range(9))


@pytest.fixture
def model(command: Any) -> str:
    """Return a model whose known bounds contradict each other where ``low`` is above 20."""
    Path("data.csv").write_text(GOOD)
    known = ("--lower", "low", "--upper", "20", "--hypothesis", "scaled:box")
    run = command("fit", "data.csv", *COLUMNS, *known, "-o", "model.json")
    assert run.code == 0, run.err
    return "model.json"


def test_a_warning_names_the_row_that_export_takes(model: str, command: Any) -> None:
    Path("other.csv").write_text("price,low\n1,2\n1,30\n1,3\n")
    run = command("predict", model, "other.csv")
    assert run.code == 0
    assert "contradict each other at row 2: " in run.err
    for row, warned in (("1", False), ("2", True), ("3", False)):
        run = command("export", model, "--data", "other.csv", "--row", row)
        assert run.code == 0
        assert ("contradict each other at row 2: " in run.err) is warned
    with pytest.warns(FeaslearnWarning, match="contradict each other at row 1: "):
        fl.load(model).predict(pd.read_csv("other.csv"))


def test_a_fit_counts_alike(command: Any) -> None:
    lines = GOOD.splitlines()
    lines[3] = "1,2,1e120"
    Path("data.csv").write_text("\n".join(lines))
    run = command("fit", "data.csv", *COLUMNS, "-o", "model.json")
    assert run.code == 2
    assert "row 3, column 'power' is 1e+120" in run.err
    lines[3] = "1,2,x"
    Path("data.csv").write_text("\n".join(lines))
    assert "line 4, column 'power'" in command("fit", "data.csv", *COLUMNS, "-o", "m.json").err
