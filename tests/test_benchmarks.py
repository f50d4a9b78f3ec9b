"""Benchmarks can be imported and run by name; golden cases are as they were, and fail if worse."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import facet_worlds
import facets_few_rows
import feaslearn
import golden
import pglib
from common.facet_truth import Inequalities, count_recovered
from common.worlds import draw_world

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


@pytest.mark.parametrize(
    ("case", "key", "change", "told"),
    [
        *(
            (some(room, "true")[0], "true", -1, some(room, "true")[0])
            for room in ("grid/", "world/")
        ),
        *(
            (f"random/const/{sign}/1", what + "trusted wrong", 1, f"random/*/{sign}")
            for what in ("", "what-if ")
            for sign in ("one sign", "both signs")
        ),
    ],
)
def test_a_lost_facet_or_one_more_trusted_row_that_is_wrong_fails(
    case: str, key: str, change: int, told: str
) -> None:
    assert told in failures(changed(case, key, CASES[case][key] + change))


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


# Benchmarks of facets on a few rows; truths are derived and compared as they count them.


def test_grids_are_learned_and_compared_with_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cases", "14_ieee:typ", "--rows", "60", "--seeds", "0", "--no-baselines"]
    assert pglib.main(options) == 0
    told = capsys.readouterr().out
    assert "14_ieee      typ     0   60    2  1.00000" in told
    assert "not judged" in told


def test_identified_facets_are_true_and_most_determined_ones_are_called_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts, invented = facet_worlds.run(worlds=4, empty=1)
    assert counts.true == counts.identified
    assert counts.called >= facet_worlds.CALLED * counts.determined > 0
    assert invented == 0
    assert "determined" in capsys.readouterr().out


def test_paths_are_shortest() -> None:
    paths = facets_few_rows.shortest_paths(20, 0)
    balances, leaves = facets_few_rows.grid_balances()
    assert balances.shape == (25, 40)
    np.testing.assert_allclose(paths.arcs @ balances.T, np.tile(leaves, (20, 1)))
    np.testing.assert_array_equal(paths.arcs.sum(axis=1), 8.0)
    regret, forbidden, _ = facets_few_rows.path_regret(50, 1)
    assert regret < 0.05
    assert forbidden == 0.0


def table(rows: Inequalities, identified: bool = True) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(normal=a, limit=f, identified=identified)
        for a, f in zip(*rows, strict=True)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_is_recovered_whatever_its_form(seed: int) -> None:
    world = draw_world(seed)
    random = np.random.default_rng(seed)
    truth, region = world.truth(), world.region
    factors = random.uniform(0.1, 10.0, (len(truth.a), 1))
    along = random.normal(size=(len(truth.a), len(region.E)))
    other = Inequalities(factors * truth.a + along @ region.E, factors * truth.f + along @ region.e)
    found = count_recovered(table(other), truth, world.features, world.decisions)
    assert found.determined > 0
    assert found.recovered == found.determined
    assert found.true == found.identified == len(truth.a)
