"""Fits of every kind, short ones that are killed and long ones that must keep their time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import feaslearn as fl
from feaslearn import trainers

#: Makes a model without a fit, and its data, from options of the estimator; short or long.
Case = Callable[..., tuple[fl.RegionRegressor, tuple[Any, ...]]]


def _power(count: int, noise: float = 0.1) -> Any:
    return fl.datasets.make_power5(count, noise=noise, random_state=1)


def _ball(count: int, n: int = 3) -> Any:
    return fl.datasets.make_l1_ball(count, n=n, noise=0.2, random_state=1)


def _case(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> Any:
    options = {"cost": data.cost, "random_state": 5} | options
    model = fl.RegionRegressor(hypothesis, trainer=trainer, **options)
    return model, (data.signals, data.decisions)


def annealing(long: bool, **options: Any) -> Any:
    trainer = trainers.Annealing(10**6 if long else 200, tol=0.0 if long else 1e-7)
    return _case(_power(20_000 if long else 100), fl.Affine(fl.Simplex(6)), trainer, **options)


def annealing_on_threads(long: bool, **options: Any) -> Any:
    model, data = annealing(long, **options)
    return model.set_params(n_jobs=2), data


def annealing_of_many_samples(long: bool, **options: Any) -> Any:
    trainer = trainers.Annealing(40, n_starts=1, ridge=0.1)
    return _case(_ball(300_000 if long else 21_000), fl.Affine(fl.L1Ball(3)), trainer, **options)


def facets(long: bool, **options: Any) -> Any:
    data = _power(50_000 if long else 100, 0.1 if long else 0.0)
    return _case(data, fl.Facets(), trainers.FacetLearning(), **options)


def facets_under_noise(long: bool, **options: Any) -> Any:
    data = _ball(3_000, 6) if long else _ball(60)
    return _case(data, fl.Facets(), trainers.FacetLearning(), **options)


def chosen_hypothesis(long: bool, **options: Any) -> Any:
    return _case(_power(200_000 if long else 60, 0.3), None, "auto", **options)


def known_constraints(long: bool, **options: Any) -> Any:
    known = fl.Known(bounds=(0.0, 3.5), contradictions="keep")
    trainer = trainers.Annealing(n_starts=1, max_iter=200 if long else 50)
    data, options = _power(500 if long else 60), options | {"known": known}
    return _case(data, fl.Affine(fl.Simplex(9)), trainer, **options)


def convex(long: bool, **options: Any) -> Any:
    data = fl.datasets.make_flexible_plant(400 if long else 20, random_state=0)
    return _case(data, fl.Minkowski.pairs(24), trainers.Convex(), **options)


def convex_with_ties(long: bool, **options: Any) -> Any:
    data, options = _power(5_000 if long else 30), options | {"cost": [1.0, 1.0, 2.0]}
    return _case(data, fl.Minkowski("auto"), trainers.Convex(), **options)


def convex_of_many_terms(long: bool, **options: Any) -> Any:
    n = 60 if long else 4
    hypothesis = fl.Minkowski.pairs(n, scale="constant")
    return _case(_ball(2_000 if long else 30, n), hypothesis, trainers.Convex(), **options)


def robust(long: bool, **options: Any) -> Any:
    trainer = trainers.Convex(robust=True)
    return _case(_power(20_000 if long else 30), fl.Minkowski("auto"), trainer, **options)


def _from_chunks(hypothesis: Any, trainer: Any, long: bool, **options: Any) -> Any:
    """Two million rows, made anew in each pass."""
    data = _power(10_000)

    def rows() -> Any:
        for _ in range(200 if long else 3):
            yield data.signals, data.decisions

    return _case(data, hypothesis, trainer, **options)[0], (fl.Chunks(rows),)


def moments_from_chunks(long: bool, **options: Any) -> Any:
    return _from_chunks(fl.Minkowski("auto"), trainers.Convex(), long, **options)


def annealing_from_chunks(long: bool, **options: Any) -> Any:
    trainer = trainers.Annealing(20, n_starts=1, ridge=0.1)
    return _from_chunks(fl.Affine(fl.Simplex(6)), trainer, long, **options)


def chosen_hypothesis_from_chunks(long: bool, **options: Any) -> Any:
    return _from_chunks(None, "auto", long, **options)


def named(*cases: Case) -> dict[str, Case]:
    return {case.__name__.replace("_", " "): case for case in cases}


ALL = named(
    *(annealing, annealing_on_threads, annealing_of_many_samples),
    *(facets, facets_under_noise, chosen_hypothesis, known_constraints),
    *(moments_from_chunks, annealing_from_chunks, convex, convex_with_ties),
    *(convex_of_many_terms, robust, chosen_hypothesis_from_chunks),
)
