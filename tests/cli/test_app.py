"""The command line as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import feaslearn


def feaslearn_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "feaslearn", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src" / "feaslearn").mkdir(parents=True)
    return tmp_path


def test_version(tmp_path: Path) -> None:
    run = feaslearn_command("--version", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, f"feaslearn {feaslearn.__version__}\n")


def test_unknown_command(tmp_path: Path) -> None:
    assert feaslearn_command("nonsense", cwd=tmp_path).returncode == 2


def test_outside_a_checkout_it_says_so(tmp_path: Path) -> None:
    run = feaslearn_command("reproduce", cwd=tmp_path)
    assert run.returncode == 2
    assert "inside a checkout" in run.stderr


def test_reproduce_hands_everything_to_the_experiments(checkout: Path) -> None:
    folder = checkout / "experiments"
    folder.mkdir()
    (folder / "__main__.py").write_text("import sys; print(sys.argv[1:]); sys.exit(1)\n")
    options = ("--seeds", "0-2", "--quick", "--solver-seconds", "5", "-o", "out", "--no-run")
    run = feaslearn_command("reproduce", "table1", *options, cwd=folder)
    assert run.returncode == 1
    told = ["table1", "--seeds", "0-2", "--solver-seconds", "5.0", "--output", str(folder / "out")]
    assert run.stdout == f"{[*told, '--quick', '--no-run']}\n"
    assert feaslearn_command("reproduce", cwd=checkout).stdout == "['all']\n"


def test_report_that_cannot_be_written(tmp_path: Path) -> None:
    run = feaslearn_command("demo", "-o", str(tmp_path), cwd=tmp_path)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "directory" in run.stderr
