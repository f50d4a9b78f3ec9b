"""One rule for time limits: None or a positive number, whoever is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, Problems
from feaslearn.trainers.trainer import Trainer

TRAINERS = [
    getattr(fl.trainers, name)
    for name in fl.trainers.__all__
    if isinstance(getattr(fl.trainers, name), type)
    and issubclass(getattr(fl.trainers, name), Trainer)
    and not getattr(fl.trainers, name).__abstractmethods__
]
WRONG: list[Any] = [0, 0.0, -1.0, float("nan"), -np.inf, "10", True, [5.0]]


DATA = fl.datasets.make_switch(20, random_state=0)
CLASS = fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant")


def refit(limit: Any) -> object:
    trainer = fl.trainers.Auto(max_seconds=limit)
    model = fl.RegionRegressor(CLASS, cost=DATA.cost, trainer=trainer)
    return model.fit(DATA.signals, DATA.decisions)


@pytest.mark.parametrize("kind", TRAINERS)
def test_every_trainer_takes_a_limit_and_refuses_what_is_none(kind: type[Trainer]) -> None:
    for limit in (*WRONG, None, 1e-9, np.inf):
        problems = Problems()
        kind(max_seconds=limit).check(problems)
        told = [text for text in problems.messages if "max_seconds" in text]
        assert len(told) == any(limit is each for each in WRONG)
        assert all(f"max_seconds={limit!r}" in text for text in told)


def test_a_fit_says_the_same() -> None:
    with pytest.raises(DataError, match="max_seconds=0 is neither None nor a positive"):
        refit(0)
