"""Names that would write on the terminal, look like another line, or be read as markup."""

from __future__ import annotations

import csv
import io
import logging
import os
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.cli.streams import hand_over
from feaslearn.cli.talk import Talk, complain, one_line
from feaslearn.exceptions import DataError, FeaslearnWarning, FileError, Problems
from feaslearn.printable import printable
from feaslearn.runs import progress

#: Clears the screen, begins a line, turns the direction, goes back, is invisible, is markup.
NAMES = ["a\x1b[2J", "b\nstatus  optimal", "c\u202ed", "e\r\x08f", "g\u200b", "[red]h[/red]", "[/]"]


def is_harmless(text: str) -> bool:
    return all(each.isprintable() or each in "\n\t" for each in text)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose columns have these names: four signals, two of them prices, two decisions."""
    random = np.random.default_rng(0)
    signals = random.random((30, 5))
    decisions = np.sign(signals[:, :2] - 0.5) + signals[:, 2:3]
    path = tmp_path / "[bold]data\x1b[31m.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        writer.writerows(np.hstack([signals, decisions]).tolist())
    return path


def fit_arguments(table: Path, output: Path, hypothesis: str) -> list[str]:
    names = [list(NAMES[:5]), list(NAMES[5:]), list(NAMES[:2])]
    options = []
    for option, some in zip(("--signals", "--decisions", "--cost"), names, strict=True):
        options += [word for name in some for word in (option, name)]
    return ["fit", str(table), *options, "--hypothesis", hypothesis, "-o", str(output)]


@pytest.mark.parametrize("hypothesis", ["facets", "scaled:box:2"])
def test_what_a_fit_shows(hypothesis: str, table: Path, tmp_path: Path, command: Any) -> None:
    said = command(*fit_arguments(table, tmp_path / "[i]m.json", hypothesis), "-v")
    assert said.code == 0, said.err
    assert is_harmless(said.out)
    assert is_harmless(said.err)
    assert r"a\x1b[2J" in said.out
    assert r"c\u202ed" in said.out
    assert "[red]h[/red]" in said.out.replace("\n", "")
    assert not any(line.startswith("status  optimal") for line in said.out.splitlines())


def test_what_is_wrong_with_names(table: Path, command: Any) -> None:
    said = command("fit", str(table), "--signals", "a\x1b[3J", "--decisions", "[/]", "-o", "m.json")
    assert said.code == 2
    assert is_harmless(said.err)
    assert said.err.count("\n") == 1


def test_cells_that_are_no_numbers(tmp_path: Path, command: Any) -> None:
    path = tmp_path / "cells.csv"
    path.write_text('price,power\n1,"\x1b]0;title\x07"\n2,3\n', encoding="utf-8")
    said = command("fit", str(path), "--signals", "price", "--decisions", "power", "-o", "m.json")
    assert said.code == 2
    assert is_harmless(said.err)


@pytest.mark.parametrize("name", NAMES)
def test_errors_and_warnings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    problems = Problems()
    problems.add(f"column {name} is missing")
    with pytest.raises(DataError) as caught:
        problems.raise_if_any(DataError, name)
    assert is_harmless(str(caught.value))
    assert is_harmless(str(FileError(2, "no such file", name)))
    assert is_harmless(str(FeaslearnWarning(name)))
    complain(name)
    with Talk(verbose=2).speaking():
        warnings.warn(name, FeaslearnWarning, stacklevel=1)
        logging.getLogger("feaslearn").info("%s", name)
    *said, logged = capsys.readouterr().err.splitlines()
    assert is_harmless("".join([*said, logged]))
    told = f"warning: {one_line(FeaslearnWarning(name))}"
    assert said == [f"feaslearn: {printable(text)}" for text in (one_line(name), told)]
    assert logged == f"feaslearn: {printable(name)}"


def test_what_python_shows() -> None:
    random = np.random.default_rng(0)
    signals = random.random((30, 5))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(signals, columns=NAMES[:5])
    power = pandas.DataFrame(np.sign(signals[:, :2] - 0.5), columns=NAMES[1:3])
    model = fl.RegionRegressor(fl.Facets(), cost=NAMES[:2], random_state=0).fit(frame, power)
    for shown in (model.facets_, model.result_, model.explain(), model.region(signals[0])):
        assert is_harmless(repr(shown))
    lines = f"{model.facets_!r}\n{model.explain()!r}".splitlines()
    assert not any(line.startswith("status  optimal") for line in lines)


def test_data_are_handed_over_as_they_are_but_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "a\x1b[2J,b\tc\n1,2\n"
    hand_over(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    hand_over(text)
    assert capsys.readouterr().out == "a\\x1b[2J,b\tc\n1,2\n"


@pytest.mark.parametrize("name", ["[/]", "[red]x", "y\x1b[2J"])
def test_a_bar_shows_names_as_they_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.ProgressBar(f"reading {name}", 2) as bar:
        bar.update(1, name)
    assert printable(name) in terminal.getvalue()
    assert "\x1b[2J" not in terminal.getvalue()


def test_a_report_on_files_whose_names_are_no_letters(example: Path, command: Any) -> None:
    name = os.fsdecode(b"p\xff.csv")
    shutil.copy(example / "unseen.csv", name)
    model = str(example / "power.json")
    options = ("--no-refit", "--units", "plant_*=\udcfe", "-o", "page.html")
    run = command("report", model, name, *options)
    assert (run.code, run.err) == (0, "")
    page = Path("page.html").read_text("utf-8")
    assert r"power.json on p\udcff.csv" in page
    assert r"Rows are those of p\udcff.csv." in page
    assert r"plant_1 (\udcfe)" in page
