"""The command line as a user meets it."""

from __future__ import annotations

import json
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
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "fast.py").write_text("print('ratio 1.2')\n")
    (folder / "broken.py").write_text("raise SystemExit(3)\n")
    return tmp_path


def test_version(tmp_path: Path) -> None:
    run = feaslearn_command("--version", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, f"feaslearn {feaslearn.__version__}\n")


def test_unknown_command(tmp_path: Path) -> None:
    assert feaslearn_command("nonsense", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("command", ["bench", "reproduce"])
def test_outside_a_checkout_it_says_so(command: str, tmp_path: Path) -> None:
    run = feaslearn_command(command, cwd=tmp_path)
    assert run.returncode == 2
    assert "inside a checkout" in run.stderr


def test_bench_runs_the_named_script_from_a_folder_below(checkout: Path) -> None:
    run = feaslearn_command("bench", "fast", cwd=checkout / "benchmarks")
    assert run.returncode == 0
    assert "ratio 1.2" in run.stdout


def test_bench_runs_all_and_names_what_failed(checkout: Path) -> None:
    run = feaslearn_command("bench", cwd=checkout)
    assert run.returncode == 1
    assert "ratio 1.2" in run.stdout
    assert "failed: broken" in run.stderr


def test_bench_keeps_what_was_measured_but_nothing_of_a_script_that_broke(checkout: Path) -> None:
    folder = checkout / "benchmarks"
    (folder / "missed.py").write_text("print('ratio 0.5 (claim: 2)'); raise SystemExit(1)\n")
    (folder / "broken.py").write_text("print('half'); raise ValueError('no')\n")
    run = feaslearn_command("bench", "--save", cwd=checkout)
    assert run.returncode == 1
    assert "failed: broken, missed" in run.stderr
    assert "ValueError: no" in run.stderr
    records = {path.stem: json.loads(path.read_text()) for path in folder.glob("results/*.json")}
    assert {name: record["held"] for name, record in records.items()} == {
        "fast": True,
        "missed": False,
    }
    assert records["fast"]["output"] == ["ratio 1.2"]
    assert records["fast"]["versions"]["feaslearn"] == feaslearn.__version__
    assert records["fast"]["machine"]["processors"] >= 1


def test_bench_names_what_there_is(checkout: Path) -> None:
    run = feaslearn_command("bench", "slow", cwd=checkout)
    assert run.returncode == 2
    assert "no slow in benchmarks/; there are: broken, fast" in run.stderr


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
