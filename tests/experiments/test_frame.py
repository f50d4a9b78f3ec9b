"""Cells are run once, written at once, and run again only when what they measure changed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments.__main__ import main
from experiments.frame import store as store_module
from experiments.frame.contest import best
from experiments.frame.experiment import Claim, Contest, Experiment, Row, Settings
from experiments.frame.page import write_experiment, write_page
from experiments.frame.runner import run, unfinished
from experiments.frame.store import Store, fingerprint

SETTINGS = Settings(seeds=(0, 1, 2))
FACTOR = 2.0
calls: list[tuple[str, int]] = []


def measured(seed: int, *, shift: float) -> dict[str, Any]:
    """Return something that depends on everything."""
    calls.append(("measured", seed))
    if shift < 0 and seed == 1:
        raise ValueError("a broken cell")
    loss = FACTOR * seed + shift
    return {"returned": loss, "validation": 10.0 - loss, "path": [1, 2], "bound": float("nan")}


def other(seed: int, *, shift: float) -> dict[str, Any]:
    return {"returned": 3.0 * seed + shift}


def experiment(**changes: Any) -> Experiment:
    return replace(
        Experiment(
            name="toy",
            title="A toy",
            about="Nothing.",
            rows=lambda _: [
                Row("ours", {"shift": 0.5}, {"returned": 7.0}),
                Row("linear", {"shift": 1.0}),
                Row("theirs", {"shift": 9.0}, most_seeds=1, seconds=99.0),
            ],
            measure=measured,
            columns={"returned": "loss", "bound": "bound"},
        ),
        **changes,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    calls.clear()
    return Store(tmp_path)


def go(toy: Experiment, store: Store, again: bool = False) -> list[str]:
    cells, pace = unfinished([toy], SETTINGS, store, again)
    return run(cells, pace, store, Console(quiet=True))


def test_a_finished_cell_is_not_run_again(store: Store) -> None:
    toy = experiment()
    assert go(toy, store) == []
    assert len(calls) == 7
    cell = store.finished(toy, Row("ours", {"shift": 0.5}))[2]
    assert cell["values"] == {"returned": 4.5, "validation": 5.5, "path": [1, 2], "bound": None}
    assert cell["feaslearn"] == store_module.VERSION
    assert {"commit", "date", "seconds"} < set(cell)
    assert go(toy, store) == []
    assert len(calls) == 7
    go(toy, store, again=True)
    assert len(calls) == 14


def test_a_cell_of_another_version_is_run_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy, row = experiment(), Row("ours", {"shift": 0.5})
    go(toy, store)
    monkeypatch.setattr(store_module, "VERSION", "another one")
    assert store.finished(toy, row) == {}
    cells, pace = unfinished([toy], SETTINGS, store)
    assert len(cells) == 7
    assert pace.left(cells) < 7.0, "what stale cells took is what they will take"
    # One new cell, and an end: the next run has the others to do.
    run(cells[:1], pace, store, Console(quiet=True))
    assert len(unfinished([toy], SETTINGS, store)[0]) == 6
    go(toy, store)
    assert {cell["feaslearn"] for cell in store.finished(toy, row).values()} == {"another one"}
    assert len(calls) == 14
    go(toy, store)
    assert len(calls) == 14


def test_the_cheapest_experiment_is_run_first(store: Store) -> None:
    long, short = (
        experiment(name=name, rows=lambda _, cost=cost: [Row("a", {"shift": 0.0}, seconds=cost)])
        for name, cost in (("long", 9.0), ("short", 2.0))
    )
    cells, _ = unfinished([long, short], SETTINGS, store)
    assert [(cell.experiment.name, cell.seed) for cell in cells] == [
        *(("short", seed) for seed in SETTINGS.seeds),
        *(("long", seed) for seed in SETTINGS.seeds),
    ]


def test_what_changed_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, row = experiment(), Row("ours", {"shift": 0.5})
    before = fingerprint(toy, row)
    assert fingerprint(toy, Row("ours", {"shift": 0.6})) != before
    assert fingerprint(experiment(measure=other), row) != before
    assert fingerprint(experiment(title="B"), Row("mine", {"shift": 0.5})) == before
    with monkeypatch.context() as patch:
        store_module._code.cache_clear()
        patch.setitem(globals(), "FACTOR", 3.0)
        assert fingerprint(toy, row) != before
    store_module._code.cache_clear()
    assert fingerprint(toy, row) == before


def test_a_broken_cell_is_named_and_the_others_are_kept(store: Store) -> None:
    toy = experiment(rows=lambda _: [Row("ours", {"shift": -1.0})])
    failed = go(toy, store)
    assert failed == ["toy: ours, seed 1: ValueError: a broken cell"]
    assert sorted(store.finished(toy, Row("ours", {"shift": -1.0}))) == [0, 2]


def test_the_page_sets_ours_beside_the_paper_s(store: Store) -> None:
    contest = Contest("toy", "linear", ("theirs",), ("ours",), (2.0, 4.0), "it is a toy")
    toy = experiment(
        contests=(contest,),
        claims=(
            Claim("it is small", lambda found: (found.mean("ours", "returned") < 3, "so")),
            Claim("it is not there", lambda found: (found.mean("nobody", "returned") < 3, "so")),
        ),
    )
    go(toy, store)
    write_experiment(toy, SETTINGS, store)
    page = write_page([toy], SETTINGS, store).read_text()
    assert "| ours | 2.5 ± 1.2 [7] | 3 |" in page
    assert "| theirs | 9 | 1 |" in page
    assert "| it is small | holds | so (toy) |" in page
    assert "| it is not there | cannot be decided | cells missing" in page
    # Seed 0 alone is shared with the paper's row; ours has all three.
    assert "| toy | 9 (theirs) | 0.833 (ours) | 0.5 | cannot be decided (seeds: 1) |" in page
    assert f"Made by feaslearn {store_module.VERSION} (commits" in page
    assert "7 of 7 cells are finished" in page
    assert "ours,returned,2.5,1.1547,3,7.0" in (store.folder / "toy.csv").read_text()


def test_the_best_row_is_chosen_on_validation_rows(store: Store) -> None:
    # Where one loss is low the other is high, so that the worse row is taken.
    toy = experiment()
    go(toy, store)
    found = store.found(toy, toy.rows(SETTINGS))
    assert best(("ours", "linear"), "linear", found) == ("linear", 1.0)


@pytest.mark.parametrize("arguments", [["nonsense"], ["--seeds", "3-1"]])
def test_wrong_arguments_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert "python -m experiments" in capsys.readouterr().err


def test_every_row_has_a_name_a_file_and_a_fingerprint_of_its_own(store: Store) -> None:
    from experiments.catalogue import EXPERIMENTS

    for quick in (False, True):
        settings = Settings(quick=quick)
        for each in EXPERIMENTS.values():
            rows = each.rows(settings)
            files = {store.path(each, row) for row in rows}
            assert len({row.name for row in rows}) == len(files) == len(rows), each.name
            assert all(set(row.paper) <= set(each.columns) for row in rows), each.name
            assert len({fingerprint(each, row) for row in rows}) == len(rows), each.name


def test_experiments_use_public_names_and_the_room_of_the_paper() -> None:
    names = {"feaslearn", "feaslearn.exceptions", "feaslearn.paper", "feaslearn.paper.datasets"}
    rooms = {"evaluate", "exceptions", "__version__"}
    files = [*Path(__file__).parents[2].joinpath("experiments").rglob("*.py")]
    assert len(files) > 30
    for path in files:
        text = path.read_text("utf-8")
        imported = re.findall(r"^\s*(?:from|import) (feaslearn[\w.]*)", text, re.M)
        assert set(imported) <= names, path
        assert set(re.findall(r"^\s*from feaslearn import (.*)", text, re.M)) <= {"paper"}, path
        assert set(re.findall(r"\bfl\.([a-z_]\w*)", text)) <= rooms, path


def test_an_interrupted_run_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(seed: int, *, shift: float) -> dict[str, Any]:
        if seed == 1:
            raise KeyboardInterrupt
        return {"returned": seed + shift}

    toy = experiment(measure=interrupted)
    monkeypatch.setattr("experiments.__main__.EXPERIMENTS", {"toy": toy})
    monkeypatch.setattr("experiments.frame.models.warm_up", lambda: None)
    assert main(["toy", "--seeds", "0-2", "--output", str(tmp_path)]) == 1
    assert "interrupted; finished cells are kept" in capsys.readouterr().err
    assert "2 of 7 cells are finished" in (tmp_path / "README.md").read_text()
