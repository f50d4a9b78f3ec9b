"""What commands print, and where: people, scripts, closed and full streams, hostile names."""

from __future__ import annotations

import csv
import io
import json
import logging
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from feaslearn.cli.console import Console, error, write
from feaslearn.exceptions import DataError, FeaslearnWarning, FileError, Problems
from feaslearn.printable import printable

#: Clears the screen, begins a line, turns the direction, goes back, is invisible, is markup.
NAMES = ["a\x1b[2J", "b\nstatus  optimal", "c\u202ed", "e\r\x08f", "g\u200b", "[red]h[/red]", "[/]"]


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True


def is_harmless(text: str) -> bool:
    return all(each.isprintable() or each in "\n\t" for each in text)


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_hides_warnings_and_the_log(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    logger = logging.getLogger("feaslearn")
    before = (logger.level, list(logger.handlers), warnings.showwarning)
    with suppress(KeyboardInterrupt), Console(quiet=quiet).running():
        warnings.warn(f"careful {NAMES[0]}", FeaslearnWarning, stacklevel=1)
        warnings.warn("of no interest", UserWarning, stacklevel=1)
        logger.warning("odd")
        raise KeyboardInterrupt
    heard = terminal.getvalue()
    for text in (f"feaslearn: warning: careful {printable(NAMES[0])}", "feaslearn: odd"):
        assert (text in heard) is not quiet
    assert "of no interest" not in heard
    assert (logger.level, logger.handlers, warnings.showwarning) == before
    assert sys.stderr is terminal


def test_facts_for_scripts_are_plain_json(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": None, "e": (1, True, "é")}}
    Console(as_json=True, quiet=True).print(facts, lambda _: None)
    found = json.loads(capsys.readouterr().out)
    assert found == {"a": None, "b": [None, 1.5], "c": {"d": None, "e": [1, True, "é"]}}
    Console(quiet=True).print(facts, lambda rich: rich.print("loud"))
    assert capsys.readouterr().out == ""


def test_errors_warnings_and_logs_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        problems = Problems()
        problems.add(f"column {name} is missing")
        with pytest.raises(DataError) as caught:
            problems.raise_if_any(DataError, name)
        for each in (caught.value, FileError(2, "no such file", name), FeaslearnWarning(name)):
            assert is_harmless(str(each))
        error(f"fit:\n  - a\n  - {name}")
        with Console(verbose=2).running():
            warnings.warn(name, FeaslearnWarning, stacklevel=1)
            logging.getLogger("feaslearn").info("%s", name)
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 3 * len(NAMES)
    assert is_harmless(printed)


def test_a_fit_shows_names_by_their_codes(tmp_path: Path, command: Any) -> None:
    signals = np.random.default_rng(0).random((30, 5))
    path = tmp_path / "[bold]data\x1b[31m.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        moved = np.sign(signals[:, :2] - 0.5) + signals[:, 2:3]
        writer.writerows(np.hstack([signals, moved]).tolist())
    options = [word for name in NAMES[:5] for word in ("--signals", name)]
    options += [word for name in NAMES[5:] for word in ("--decisions", name)]
    options += [word for name in NAMES[:2] for word in ("--cost", name)]
    run = command("fit", str(path), *options, "--hypothesis", "facets", "-v", "-o", "[i]m.json")
    assert run.code == 0, run.err
    assert is_harmless(run.out + run.err)
    for text in (r"a\x1b[2J", r"c\u202ed", "[red]h[/red]"):
        assert text in run.out.replace("\n", "")
    assert not any(line.startswith("status  optimal") for line in run.out.splitlines())


def test_data_are_written_as_they_are_but_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "a\x1b[2J,b\tc\n1,2\n"
    write(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    write(text)
    assert capsys.readouterr().out == "a\\x1b[2J,b\tc\n1,2\n"


def start(*arguments: str, at: Path, shell: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run the installed program in a process of its own, with streams as a shell is told."""
    program = str(Path(sys.executable).with_name("feaslearn"))
    return subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", program, *arguments],
        cwd=at,
        capture_output=True,
        check=False,
        timeout=300,
    )


def test_closed_and_full_streams(example: Path, tmp_path: Path) -> None:
    files = ("predict", str(example / "power.json"), str(example / "unseen.csv"))
    run = start(*files, "-o", "closed.csv", at=tmp_path, shell="<&- >&- 2>&-")
    assert run.returncode == 0
    assert len((tmp_path / "closed.csv").read_text().splitlines()) == 8
    if Path("/dev/full").exists():
        run = start(*files, at=tmp_path, shell=">/dev/full")
        assert run.returncode == 2
        assert run.stderr.endswith(b"standard output: cannot be written: No space left on device\n")
