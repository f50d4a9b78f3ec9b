"""Deadlines: the best so far, and an error where there is none."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import TimeLimitError
from feaslearn.runs import OutOfTime, Run
from feaslearn.trainers import selection

POWER = fl.datasets.make_power5(300, noise=0.1, random_state=0)


def test_no_model_in_time_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(fl.trainers.Convex, "search", late)
    hypothesis = fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant")
    model = fl.RegionRegressor(hypothesis, cost=POWER.cost, max_seconds=3.0)
    with pytest.raises(
        TimeLimitError, match=r"max_seconds=3\.0 was over before there was any model"
    ):
        model.fit(POWER.signals, POWER.decisions)


def test_chunks_that_cannot_be_read_in_time() -> None:
    many = [np.tile(table, (50, 1)) for table in (POWER.signals, POWER.decisions)]

    def rows() -> Any:
        for _ in range(100):
            time.sleep(0.02)
            yield tuple(many)
        raise AssertionError("read to the end")

    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=POWER.cost, max_seconds=0.2)
    with pytest.raises(TimeLimitError, match="before there was any model"):
        model.fit(fl.Chunks(rows))


@pytest.mark.parametrize("hypothesis", [fl.Affine(fl.Simplex(3)), fl.Facets(), None], ids=repr)
@pytest.mark.parametrize("looks", [10, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 40))])
def test_a_search_returns_its_best_so_far(
    hypothesis: Any, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count()
    monkeypatch.setattr(Run, "late", lambda run: run.left < np.inf and next(asked) >= looks)
    model = fl.RegionRegressor(hypothesis, cost=POWER.cost, max_seconds=1e6, random_state=0)
    try:
        result = model.fit(POWER.signals[:60], POWER.decisions[:60]).result_
    except TimeLimitError:  # not even the first candidate was trained
        assert hypothesis is None
        assert looks < 40
        return
    assert result.status == "time limit" or next(asked) < looks  # or it was done before
    assert np.isfinite(result.objective)
    assert np.isfinite(model.predict(POWER.signals)).all()


def test_a_selection_that_comes_to_the_deadline_returns_what_it_trained_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained = selection.train_once
    folds = list[Any]()

    def last(*arguments: Any, **options: Any) -> Any:
        folds.append(arguments[0])
        if len(folds) == 3:
            arguments[1].run._end = 0.0
        return trained(*arguments, **options)

    monkeypatch.setattr(selection, "train_once", last)
    model = fl.RegionRegressor(None, cost=POWER.cost, max_seconds=1e6, random_state=0)
    model.fit(POWER.signals, POWER.decisions)
    assert model.result_.status == "time limit"
    assert isinstance(model.hypothesis_, fl.Facets)
    assert any("selection of a hypothesis" in text for text in model.result_.warnings)
