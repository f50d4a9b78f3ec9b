"""Trainers whose deadline is too short for their problem stop searching when it is over.

A deadline is kept if the search looks at its clock at most a tenth of the limit and two seconds
after it; measuring the result comes on top. Kernels are compiled on a small problem first: the time
of that is not counted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest

import feaslearn as fl
from feaslearn import trainers
from feaslearn.exceptions import FeaslearnError
from feaslearn.runs import Clock

SECONDS = 5.0

#: Makes a model without a fit, and its data, from options of the trainer; short or long.
Case = Callable[..., tuple[fl.RegionRegressor, tuple[Any, ...]]]


def _power(count: int, noise: float = 0.1) -> Any:
    return fl.datasets.make_power5(count, noise=noise, random_state=1)


def _ball(count: int, n: int = 3) -> Any:
    return fl.datasets.make_l1_ball(count, n=n, noise=0.2, random_state=1)


def _case(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> Any:
    options = {"cost": data.cost, "random_state": 5} | options
    model = fl.RegionRegressor(hypothesis, trainer=trainer, **options)
    return model, (data.signals, data.decisions)


def annealing(long: bool, **limits: Any) -> Any:
    trainer = trainers.Annealing(10**6 if long else 200, tol=0.0 if long else 1e-7, **limits)
    return _case(_power(20_000 if long else 100), fl.Affine(fl.Simplex(6)), trainer)


def annealing_on_threads(long: bool, **limits: Any) -> Any:
    model, data = annealing(long, **limits)
    return model.set_params(n_jobs=2), data


def annealing_of_many_samples(long: bool, **limits: Any) -> Any:
    trainer = trainers.Annealing(40, n_starts=1, ridge=0.1, **limits)
    return _case(_ball(300_000 if long else 21_000), fl.Affine(fl.L1Ball(3)), trainer)


def facets(long: bool, **limits: Any) -> Any:
    return _case(
        _power(50_000 if long else 100, 0.1 if long else 0.0),
        fl.Facets(),
        trainers.FacetLearning(**limits),
    )


def facets_under_noise(long: bool, **limits: Any) -> Any:
    data = _ball(3_000, 6) if long else _ball(60)
    return _case(data, fl.Facets(), trainers.FacetLearning(**limits))


def chosen_hypothesis(long: bool, **limits: Any) -> Any:
    return _case(_power(200_000 if long else 60, 0.3), None, trainers.Auto(**limits))


def known_constraints(long: bool, **limits: Any) -> Any:
    known = fl.Known(bounds=(0.0, 3.5), contradictions="keep")
    trainer = trainers.Annealing(n_starts=1, max_iter=200 if long else 50, **limits)
    return _case(_power(500 if long else 60), fl.Affine(fl.Simplex(9)), trainer, known=known)


def convex(long: bool, **limits: Any) -> Any:
    data = fl.datasets.make_flexible_plant(400 if long else 20, random_state=0)
    return _case(data, fl.Minkowski.pairs(24), trainers.Convex(**limits))


def convex_with_ties(long: bool, **limits: Any) -> Any:
    data, trainer = _power(5_000 if long else 30), trainers.Convex(**limits)
    return _case(data, fl.Minkowski("auto"), trainer, cost=[1.0, 1.0, 2.0])


def convex_of_many_terms(long: bool, **limits: Any) -> Any:
    n = 60 if long else 4
    hypothesis = fl.Minkowski.pairs(n, scale="constant")
    return _case(_ball(2_000 if long else 30, n), hypothesis, trainers.Convex(**limits))


def robust(long: bool, **limits: Any) -> Any:
    trainer = trainers.Convex(robust=True, **limits)
    return _case(_power(20_000 if long else 30), fl.Minkowski("auto"), trainer)


def _from_chunks(hypothesis: Any, trainer: Any, long: bool) -> Any:
    """Two million rows, made anew in each pass."""
    data = _power(10_000)

    def rows() -> Any:
        for _ in range(200 if long else 3):
            yield data.signals, data.decisions

    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=5)
    return model, (fl.Chunks(rows),)


def moments_from_chunks(long: bool, **limits: Any) -> Any:
    return _from_chunks(fl.Minkowski("auto"), trainers.Convex(**limits), long)


def annealing_from_chunks(long: bool, **limits: Any) -> Any:
    trainer = trainers.Annealing(20, n_starts=1, ridge=0.1, **limits)
    return _from_chunks(fl.Affine(fl.Simplex(6)), trainer, long)


def chosen_hypothesis_from_chunks(long: bool, **limits: Any) -> Any:
    return _from_chunks(None, trainers.Auto(**limits), long)


def named(*cases: Case) -> dict[str, Case]:
    return {case.__name__.replace("_", " "): case for case in cases}


ALL = named(
    *(annealing, annealing_on_threads, annealing_of_many_samples),
    *(facets, facets_under_noise, chosen_hypothesis, known_constraints),
    *(moments_from_chunks, annealing_from_chunks, convex, convex_with_ties),
    *(convex_of_many_terms, robust, chosen_hypothesis_from_chunks),
)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALL)
def test_deadlines_are_kept(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = ALL[case](False, max_seconds=20.0)
    model.fit(*data)
    model, data = ALL[case](True, max_seconds=SECONDS)
    stopped: list[float] = []
    began, look = time.monotonic(), Clock.out

    def looked(clock: Clock) -> bool:
        if late := look(clock):
            stopped.append(time.monotonic() - began)
        return late

    monkeypatch.setattr(Clock, "out", looked)
    with contextlib.suppress(FeaslearnError):  # no model yet at the deadline
        model.fit(*data)
    stopped.append(time.monotonic() - began)
    assert stopped[0] <= 1.1 * SECONDS + 2.0
