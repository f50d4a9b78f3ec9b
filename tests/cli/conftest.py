"""Run commands as a user would, in this process: the one that starts Python is tested once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from feaslearn.cli import main


class Run(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]
#: A table with one decision.
SMALL = "price,demand,power\n" + "".join(f"{i % 3 - 1},{i},{i + 1}\n" for i in range(9))


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return a function that runs ``feaslearn`` with some arguments in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["feaslearn", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Run(code, out, err)

    return run


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, its model and unseen rows; and with a smaller one."""
    folder = tmp_path_factory.mktemp("example")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    columns = ["--signals", "cost_*,demand_*", "--decisions", "plant_*", "--cost", "cost_*"]
    small = ["--signals", "price,demand", "--decisions", "power", "--cost", "price"]
    (folder / "data.csv").write_text(SMALL)
    for line in (
        ["demo", "--data", "power.csv", "--samples", "60"],
        ["demo", "--data", "unseen.csv", "--samples", "7", "--seed", "1"],
        [
            "fit",
            "power.csv",
            *columns,
            "--hypothesis",
            "facets:6",
            "--no-check",
            "-o",
            "power.json",
        ],
        [
            "fit",
            "data.csv",
            *small,
            "--hypothesis",
            "minkowski:box",
            "--no-check",
            "-o",
            "model.json",
        ],
    ):
        patch.setattr(sys, "argv", ["feaslearn", *line, "--quiet"])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 0
    patch.undo()
    return folder
