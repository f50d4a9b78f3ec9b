"""Run commands as a user would, in this process: the one that starts Python is tested once."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

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
#: The columns of a table that ``feaslearn demo`` writes.
COLUMNS = ("--signals", "cost_*,demand_*", "--decisions", "plant_*", "--cost", "cost_*")


def ended(patch: pytest.MonkeyPatch, arguments: Iterable[str]) -> int:
    """Run ``feaslearn`` and return its exit code."""
    patch.setattr(sys, "argv", ["feaslearn", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return a function that runs ``feaslearn`` with some arguments in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        capsys.readouterr()
        code = ended(monkeypatch, arguments)
        return Run(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, its model and unseen rows; and with a smaller one."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "data.csv").write_text(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in (
            "demo --data power.csv --samples 60",
            "demo --data unseen.csv --samples 7 --seed 1",
            f"fit power.csv {' '.join(COLUMNS)} --hypothesis facets:6 --no-check -o power.json",
            "fit data.csv --signals price,demand --decisions power --cost price"
            " --hypothesis minkowski:box --no-check -o model.json",
        ):
            assert ended(patch, [*line.split(), "--quiet"]) == 0
    return folder


@pytest.fixture
def files(example: Path, command: Any) -> None:
    """Copy a table, its model and a link to each into the folder of the commands."""
    for name in ("power.csv", "unseen.csv", "power.json"):
        shutil.copy(example / name, name)
        Path(f"link-{name}").symlink_to(name)
