"""Deadlines: the best so far, and an error where there is none."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import TimeLimitError
from feaslearn.runs import Clock
from feaslearn.trainers import selection
from registry import fit_to

POWER = fl.datasets.make_power5(300, noise=0.1, random_state=0)


def test_chunks_that_cannot_be_read_in_time() -> None:
    many = [np.tile(table, (50, 1)) for table in (POWER.signals, POWER.decisions)]

    def rows() -> Any:
        for _ in range(100):
            time.sleep(0.02)
            yield tuple(many)
        raise AssertionError("read to the end")

    trainer = fl.trainers.Convex(max_seconds=0.2)
    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=POWER.cost, trainer=trainer)
    with pytest.raises(TimeLimitError, match="before there was any model"):
        model.fit(fl.Chunks(rows))


@pytest.mark.parametrize(
    ("hypothesis", "trainer"),
    [
        (fl.Affine(fl.Simplex(3)), fl.trainers.Annealing),
        (fl.Facets(), fl.trainers.FacetLearning),
        (None, fl.trainers.Auto),
    ],
    ids=repr,
)
@pytest.mark.parametrize("looks", [10, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 40))])
def test_a_search_returns_its_best_so_far(
    hypothesis: Any, trainer: Any, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count()
    monkeypatch.setattr(Clock, "out", lambda clock: clock.limited and next(asked) >= looks)
    try:
        model = fit_to(POWER[:60], hypothesis, trainer=trainer(max_seconds=1e6))
    except TimeLimitError:  # not even the first candidate was trained
        assert hypothesis is None
        assert looks < 40
        return
    result = model.result_
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
            arguments[1].run.clock._end = 0.0
        return trained(*arguments, **options)

    monkeypatch.setattr(selection, "train_once", last)
    model = fit_to(POWER, trainer=fl.trainers.Auto(1e6))
    assert model.result_.status == "time limit"
    assert isinstance(model.hypothesis_, fl.Facets)
    assert any("selection of a hypothesis" in text for text in model.result_.warnings)
