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
from feaslearn.exceptions import FeaslearnError
from feaslearn.runs import Run
from feaslearn.trainers import Annealing, Convex, FacetLearning

SECONDS = 5.0

#: Data, hypothesis, trainer and other parameters of a fit.
Parts = tuple[Any, Any, Any, dict[str, Any]]


def power(count: int, noise: float = 0.1) -> Any:
    return fl.datasets.make_power5(count, noise=noise, random_state=1)


def ball(count: int, n: int = 3) -> Any:
    return fl.datasets.make_l1_ball(count, n=n, noise=0.2, random_state=1)


def annealing(long: bool) -> Parts:
    trainer = Annealing(10**6 if long else 200, tol=0.0 if long else 1e-7)
    return power(20_000 if long else 100), fl.Affine(fl.Simplex(6)), trainer, {}


def annealing_on_threads(long: bool) -> Parts:
    return *annealing(long)[:3], {"n_jobs": 2}


def annealing_of_many_samples(long: bool) -> Parts:
    trainer = Annealing(40, n_starts=1, ridge=0.1)
    return ball(300_000 if long else 21_000), fl.Affine(fl.L1Ball(3)), trainer, {}


def facets(long: bool) -> Parts:
    data = power(50_000 if long else 100, 0.1 if long else 0.0)
    return data, fl.Facets(), FacetLearning(), {}


def facets_under_noise(long: bool) -> Parts:
    return ball(3_000, 6) if long else ball(60), fl.Facets(), FacetLearning(), {}


def chosen_hypothesis(long: bool) -> Parts:
    return power(200_000 if long else 60, 0.3), None, "auto", {}


def known_constraints(long: bool) -> Parts:
    known = fl.Known(bounds=(0.0, 3.5), contradictions="keep")
    trainer = Annealing(n_starts=1, max_iter=200 if long else 50)
    return power(500 if long else 60), fl.Affine(fl.Simplex(9)), trainer, {"known": known}


def convex(long: bool) -> Parts:
    data = fl.datasets.make_flexible_plant(400 if long else 20, random_state=0)
    return data, fl.Minkowski.pairs(24), Convex(), {}


def convex_with_ties(long: bool) -> Parts:
    cost = {"cost": [1.0, 1.0, 2.0]}
    return power(5_000 if long else 30), fl.Minkowski("auto"), Convex(), cost


def convex_of_many_terms(long: bool) -> Parts:
    n = 60 if long else 4
    hypothesis = fl.Minkowski.pairs(n, scale="constant")
    return ball(2_000 if long else 30, n), hypothesis, Convex(), {}


def robust(long: bool) -> Parts:
    return power(20_000 if long else 30), fl.Minkowski("auto"), Convex(robust=True), {}


def moments_from_chunks(long: bool) -> Parts:
    return power(10_000), fl.Minkowski("auto"), Convex(), {}


def annealing_from_chunks(long: bool) -> Parts:
    trainer = Annealing(20, n_starts=1, ridge=0.1)
    return power(10_000), fl.Affine(fl.Simplex(6)), trainer, {}


def chosen_hypothesis_from_chunks(long: bool) -> Parts:
    return power(10_000), None, "auto", {}


CASES: list[Callable[[bool], Parts]] = [
    *(annealing, annealing_on_threads, annealing_of_many_samples),
    *(facets, facets_under_noise, chosen_hypothesis, known_constraints),
    *(moments_from_chunks, annealing_from_chunks, convex, convex_with_ties),
    *(convex_of_many_terms, robust, chosen_hypothesis_from_chunks),
]


def fit(case: Callable[[bool], Parts], long: bool, max_seconds: float) -> None:
    """Fit a case; chunks are two million rows where it is long, made anew in each pass."""
    data, hypothesis, trainer, others = case(long)
    options = {"cost": data.cost, "random_state": 5, "max_seconds": max_seconds} | others
    model = fl.RegionRegressor(hypothesis, trainer=trainer, **options)

    def rows() -> Any:
        for _ in range(200 if long else 3):
            yield data.signals, data.decisions

    if case.__name__.endswith("from_chunks"):
        model.fit(fl.Chunks(rows))
    else:
        model.fit(data.signals, data.decisions)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_deadlines_are_kept(case: Callable[[bool], Parts], monkeypatch: pytest.MonkeyPatch) -> None:
    fit(case, False, 20.0)
    stopped: list[float] = []
    began, look = time.monotonic(), Run.late

    def looked(run: Run) -> bool:
        if late := look(run):
            stopped.append(time.monotonic() - began)
        return late

    monkeypatch.setattr(Run, "late", looked)
    with contextlib.suppress(FeaslearnError):  # no model yet at the deadline
        fit(case, True, SECONDS)
    stopped.append(time.monotonic() - began)
    assert stopped[0] <= 1.1 * SECONDS + 2.0
