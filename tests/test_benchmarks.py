"""Benchmarks can be imported and run by name; golden cases are as they were, and fail if worse."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import feaslearn
import golden

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


# Golden cases.

CASES = json.loads(golden.FILE.read_text("utf-8"))["cases"]


def failures(after: dict[str, Any], exact: bool = False) -> list[str]:
    return [each.case for each in golden.compare(CASES, after, exact) if each.fails]


def changed(case: str, key: str, value: Any) -> dict[str, Any]:
    after = copy.deepcopy(CASES)
    after[case][key] = value
    return after


def test_the_quick_part_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert golden.main(["--quick", "--jobs", "1"]) == 0, capsys.readouterr().out


def test_nothing_fails_where_nothing_changed() -> None:
    assert failures(copy.deepcopy(CASES), exact=True) == []


def some(room: str, key: str) -> tuple[str, Any]:
    """Return a case of a room with a large value, and that value."""
    found = {c: v[key] for c, v in CASES.items() if c.startswith(room) and v and key in v}
    case = max(found, key=lambda each: found[each])
    return case, found[case]


@pytest.mark.parametrize(("room", "little", "much"), [("grid/", 4e-4, 6e-4), ("kind/", 5e-3, 7e-3)])
def test_a_worse_grid_or_mean_over_seeds_fails(room: str, little: float, much: float) -> None:
    case, r2 = some(room, "r2")
    assert failures(changed(case, "r2", r2 - little)) == []
    told = case if room == "grid/" else case.rpartition("/")[0]
    assert failures(changed(case, "r2", r2 - much)) == [told]
    assert case in failures(changed(case, "r2", r2 - 1e-8), exact=True)


@pytest.mark.parametrize("room", ["grid/", "world/"])
def test_a_lost_true_facet_fails(room: str) -> None:
    case, count = some(room, "true")
    assert case in failures(changed(case, "true", count - 1))


@pytest.mark.parametrize("what", ["", "what-if "])
@pytest.mark.parametrize("sign", ["one sign", "both signs"])
def test_one_more_trusted_row_that_is_wrong_fails(what: str, sign: str) -> None:
    case = f"random/const/{sign}/1"
    wrong = CASES[case][what + "trusted wrong"]
    assert failures(changed(case, what + "trusted wrong", wrong + 1)) == [f"random/*/{sign}"]


def test_fewer_right_rows_trusted_fail() -> None:
    after = copy.deepcopy(CASES)
    for case, values in after.items():
        if case.startswith("random/") and values:
            values["right trusted"] = int(0.98 * values["right trusted"])
    assert set(failures(after)) == {"random/*/one sign", "random/*/both signs"}


def test_other_words_of_a_command_fail_but_not_other_numbers() -> None:
    key, lines = next(iter(CASES["transcript"].items()))
    assert failures(changed("transcript", key, [line.replace("1", "2") for line in lines])) == []
    assert failures(changed("transcript", key, [*lines, "and more"])) == ["transcript"]


def test_a_file_that_is_not_read_back_and_a_case_that_breaks_fail() -> None:
    assert failures(changed("export/mps", "same optimum", False)) == ["export/mps"]
    assert failures({"export/mps": {"error": "ValueError"}}) == ["export/mps"] * 2
