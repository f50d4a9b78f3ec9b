"""Benchmarks can be imported, and run by name."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import feaslearn

FOLDER = Path(__file__).parents[1] / "benchmarks"


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


run = imported(FOLDER / "run.py")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_every_benchmark_can_be_imported(path: Path) -> None:
    assert imported(path).__doc__


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fast.py").write_text("print('ratio 1.2')\n")
    (tmp_path / "broken.py").write_text("print('half'); raise ValueError('no')\n")
    (tmp_path / "missed.py").write_text("print('ratio 0.5 (claim: 2)'); raise SystemExit(1)\n")
    return tmp_path


def test_records_are_saved_unless_a_benchmark_broke(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--save"], folder) == 1
    printed = capfd.readouterr()
    assert "ratio 1.2" in printed.out
    assert "failed: broken, missed" in printed.err
    assert "ValueError: no" in printed.err
    records = {path.stem: json.loads(path.read_text()) for path in folder.glob("results/*.json")}
    assert {name: record["held"] for name, record in records.items()} == {
        "fast": True,
        "missed": False,
    }
    assert records["fast"]["output"] == ["ratio 1.2"]
    assert records["fast"]["versions"]["feaslearn"] == feaslearn.__version__
    assert records["fast"]["machine"]["processors"] >= 1
