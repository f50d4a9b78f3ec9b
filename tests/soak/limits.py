"""Give every trainer a deadline that is too short for its problem, and see when its search stops.

    python tests/soak/limits.py             5 seconds each
    python tests/soak/limits.py --seconds 10 --cases "annealing,facets"

A deadline is kept if the search looks at its clock at most a tenth of the limit and two seconds
after it; measuring the result comes on top. Kernels are compiled on a small problem first: the time
of that is not counted. Exit code 1 if a deadline is not kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import feaslearn as fl
from feaslearn import trainers
from feaslearn.exceptions import FeaslearnError
from feaslearn.hypotheses import GrownMinkowski
from feaslearn.runs import Clock

#: Makes a problem, small or too large for its limit, and returns what is to be timed.
Fit = Callable[[float | None, bool], Callable[[], Any]]


def _fit(data: Any, hypothesis: Any, trainer: Any, **options: Any) -> Any:
    model = fl.RegionRegressor(
        hypothesis, cost=data.cost, trainer=trainer, **({"random_state": 0} | options)
    )
    return lambda: model.fit(data.signals, data.decisions).result_


def _power(small: bool, many: int, noise: float = 0.1) -> Any:
    return fl.datasets.make_power5(30 if small else many, noise=noise, random_state=0)


def _ball(small: bool, many: int, n: int = 3) -> Any:
    return fl.datasets.make_l1_ball(30 if small else many, n=n, noise=0.2, random_state=0)


def gradient_descent(limit: float | None, small: bool) -> Any:
    trainer = trainers.GradientDescent(3 if small else 10**6, limit, tol=0.0, n_starts=2)
    return _fit(_power(small, 20_000), fl.Affine(fl.Simplex(9)), trainer)


def gradient_descent_by_solver(limit: float | None, small: bool) -> Any:
    trainer = trainers.GradientDescent(1 if small else 10**6, limit, n_starts=2)
    return _fit(_power(small, 200), fl.Affine(_cone()), trainer)


def adaptive_smoothing_by_solver(limit: float | None, small: bool) -> Any:
    trainer = trainers.AdaptiveSmoothing(1 if small else 10**6, limit, compiled=False)
    return _fit(_power(small, 200), fl.Affine(_cone()), trainer)


def _cone() -> Any:
    return fl.ConicSet(-np.vstack([np.zeros(3), np.eye(3)]), -np.eye(4)[0], [("second-order", 4)])


def adaptive_smoothing(limit: float | None, small: bool) -> Any:
    trainer = trainers.AdaptiveSmoothing(3 if small else 10**6, limit)
    return _fit(_power(small, 20_000), fl.Affine(fl.Simplex(6)), trainer)


def adaptive_smoothing_by_program(limit: float | None, small: bool) -> Any:
    trainer = trainers.AdaptiveSmoothing(1 if small else 10**6, limit, compiled=False)
    return _fit(_power(small, 500), fl.Affine(fl.Simplex(4)), trainer)


def annealing(limit: float | None, small: bool) -> Any:
    trainer = trainers.Annealing(10 if small else 10**6, limit, tol=0.0)
    return _fit(_power(small, 20_000), fl.Affine(fl.Simplex(13)), trainer)


def annealing_of_many_samples(limit: float | None, small: bool) -> Any:
    trainer = trainers.Annealing(10 if small else 10**6, limit, tol=0.0)
    return _fit(_ball(small, 300_000), fl.Affine(fl.L1Ball(3)), trainer)


def open_number_of_columns(limit: float | None, small: bool) -> Any:
    trainer = trainers.Annealing(10 if small else 10**6, limit, tol=0.0)
    return _fit(_power(small, 5_000), fl.Affine(fl.Simplex("auto")), trainer)


def facets(limit: float | None, small: bool) -> Any:
    trainer = trainers.FacetLearning(max_seconds=limit)
    return _fit(_power(small, 5_000), fl.Facets(), trainer)


def facets_without_balance(limit: float | None, small: bool) -> Any:
    trainer = trainers.FacetLearning(max_seconds=limit)
    return _fit(_ball(small, 3_000, 6), fl.Facets(), trainer)


def facets_of_many_samples(limit: float | None, small: bool) -> Any:
    trainer = trainers.FacetLearning(max_seconds=limit)
    return _fit(_power(small, 50_000), fl.Facets(), trainer)


def blend(limit: float | None, small: bool) -> Any:
    members = [*[fl.Facets()] * (1 if small else 8), fl.Minkowski("auto")]
    return _fit(_power(small, 3_000), fl.Blend(members), trainers.Blending(max_seconds=limit))


def chosen_hypothesis(limit: float | None, small: bool) -> Any:
    return _fit(_power(small, 3_000, 0.3), None, trainers.Auto(limit))


def chosen_hypothesis_of_many_samples(limit: float | None, small: bool) -> Any:
    return _fit(_power(small, 200_000, 0.3), None, trainers.Auto(limit))


def known_constraints(limit: float | None, small: bool) -> Any:
    known = fl.Known(bounds=(0.0, 3.5), contradictions="keep")
    trainer = trainers.Annealing(10 if small else 200, limit)
    return _fit(_power(small, 500), fl.Affine(fl.Simplex(9)), trainer, known=known)


def convex(limit: float | None, small: bool) -> Any:
    data = fl.datasets.make_flexible_plant(20 if small else 400, random_state=0)
    return _fit(data, fl.Minkowski.pairs(24), trainers.Convex(max_seconds=limit))


def convex_by_program(limit: float | None, small: bool) -> Any:
    trainer = trainers.Convex(max_seconds=limit)
    return _fit(_power(small, 4_000), fl.Minkowski("auto"), trainer, loss="suboptimality")


def convex_by_lengths(limit: float | None, small: bool) -> Any:
    trainer, loss = trainers.Convex(max_seconds=limit), fl.Predictability(squared=False)
    return _fit(_power(small, 20_000), fl.Minkowski("auto"), trainer, loss=loss)


def convex_with_ties(limit: float | None, small: bool) -> Any:
    data = _power(small, 5_000)
    model = fl.RegionRegressor(
        fl.Minkowski("auto"),
        cost=[1.0, 1.0, 2.0],
        trainer=trainers.Convex(max_seconds=limit),
        random_state=0,
    )
    return lambda: model.fit(data.signals, data.decisions).result_


def convex_of_many_terms(limit: float | None, small: bool) -> Any:
    n = 4 if small else 60
    model = fl.Minkowski.pairs(n, scale="constant")
    return _fit(_ball(small, 2_000, n), model, trainers.Convex(max_seconds=limit))


def convex_of_many_samples(limit: float | None, small: bool) -> Any:
    model = fl.Minkowski.pairs(12)
    return _fit(_ball(small, 200_000, 12), model, trainers.Convex(max_seconds=limit))


def robust(limit: float | None, small: bool) -> Any:
    trainer = trainers.Convex(robust=True, max_seconds=limit)
    return _fit(_power(small, 200_000), fl.Minkowski("auto"), trainer)


def convex_that_grows(limit: float | None, small: bool) -> Any:
    data = fl.datasets.make_flexible_plant(20 if small else 400, random_state=0)
    hypothesis = GrownMinkowski(max_terms=2 if small else 200)
    return _fit(data, hypothesis, trainers.Convex(max_seconds=limit))


def branch_and_bound(limit: float | None, small: bool) -> Any:
    trainer = trainers.MixedInteger(limit, tol=1e-6, n_starts=1 if small else 100)
    data = _power(small, 300, 0.5)
    return _fit(data, fl.Affine(fl.Simplex(2 if small else 5, binary=True)), trainer)


def branch_and_bound_of_many_samples(limit: float | None, small: bool) -> Any:
    trainer = trainers.MixedInteger(limit, n_starts=1)
    return _fit(_power(small, 15_000), fl.Affine(fl.Simplex(4, binary=True)), trainer)


def ternary_map_of_many_samples(limit: float | None, small: bool) -> Any:
    trainer = trainers.MixedInteger(limit, n_starts=1)
    return _fit(_ball(small, 100_000), fl.Ternary(fl.Box(3)), trainer)


def ternary_map(limit: float | None, small: bool) -> Any:
    trainer = trainers.MixedInteger(limit, tol=1e-6, n_starts=1 if small else 100)
    return _fit(_ball(small, 300, 3 if small else 5), fl.Ternary(fl.Box(3)), trainer)


def global_search(limit: float | None, small: bool) -> Any:
    trainer = trainers.Global(max_seconds=limit, n_starts=1 if small else 10)
    return _fit(_power(small, 60, 0.5), fl.Affine(fl.Simplex(2 if small else 4)), trainer)


def network(limit: float | None, small: bool) -> Any:
    data = fl.datasets.make_power5(
        20 if small else 200, noise=0.0 if small else 0.5, random_state=0
    )
    learner = fl.NetworkLearner(
        5,
        [1, 3, 5],
        generator_capacity=3.5,
        line_capacity=3.5,
        cost=[0, 1, 2],
        demand=range(3, 8),
        solver="milp",
        loss=fl.Predictability(),
        max_seconds=limit,
    )
    return lambda: learner.fit(data.signals, data.decisions).result_


def _chunks(small: bool) -> Any:
    """A million rows, made anew in each pass."""
    data = fl.datasets.make_power5(10_000, noise=0.1, random_state=0)
    times = 1 if small else 200

    def rows() -> Any:
        for _ in range(times):
            yield data.signals, data.decisions

    return data, fl.Chunks(rows)


def _fit_chunks(hypothesis: Any, trainer: Any, small: bool) -> Any:
    data, chunks = _chunks(small)
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=0)
    return lambda: model.fit(chunks).result_


def moments_from_chunks(limit: float | None, small: bool) -> Any:
    return _fit_chunks(fl.Minkowski("auto"), trainers.Convex(max_seconds=limit), small)


def annealing_from_chunks(limit: float | None, small: bool) -> Any:
    return _fit_chunks(fl.Affine(fl.Simplex(6)), trainers.Annealing(max_seconds=limit), small)


def chosen_hypothesis_from_chunks(limit: float | None, small: bool) -> Any:
    return _fit_chunks(None, trainers.Auto(limit), small)


def streaming(limit: float | None, small: bool) -> Any:
    trainer = trainers.Streaming(first=trainers.Annealing(max_seconds=limit, tol=0.0))
    return _fit(_power(small, 50_000), fl.Affine(fl.Simplex(9)), trainer)


CASES: dict[str, Fit] = {
    fit.__name__.replace("_", " "): fit
    for fit in (
        gradient_descent,
        gradient_descent_by_solver,
        adaptive_smoothing_by_solver,
        adaptive_smoothing,
        adaptive_smoothing_by_program,
        annealing,
        annealing_of_many_samples,
        open_number_of_columns,
        facets,
        facets_without_balance,
        facets_of_many_samples,
        blend,
        chosen_hypothesis,
        chosen_hypothesis_of_many_samples,
        known_constraints,
        convex,
        convex_by_program,
        convex_by_lengths,
        convex_with_ties,
        convex_of_many_terms,
        convex_of_many_samples,
        robust,
        convex_that_grows,
        branch_and_bound,
        branch_and_bound_of_many_samples,
        ternary_map,
        ternary_map_of_many_samples,
        global_search,
        network,
        moments_from_chunks,
        annealing_from_chunks,
        chosen_hypothesis_from_chunks,
        streaming,
    )
}


def stopped_after(fit: Callable[[], Any]) -> tuple[float | None, float, str]:
    """Return when a clock first said that the time is up, how long all took, and its end."""
    stopped: list[float] = []
    began, look = time.monotonic(), Clock.out

    def looked(clock: Clock) -> bool:
        if late := look(clock):
            stopped.append(time.monotonic() - began)
        return late

    Clock.out = looked  # type: ignore[method-assign]
    try:
        status = str(fit().status)
    except FeaslearnError as problem:  # no model yet at the deadline
        status = f"{type(problem).__name__}: {problem}"
    finally:
        Clock.out = look  # type: ignore[method-assign]
    return next(iter(stopped), None), time.monotonic() - began, status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cases", default=",".join(CASES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    allowed = 1.1 * asked.seconds + 2.0
    kept = True
    print("| fit | search stopped (s) | measured (s) | ended with |", flush=True)
    print("|---|---|---|---|", flush=True)
    for case in asked.cases.split(","):
        CASES[case](20.0, True)()
        stopped, took, status = stopped_after(CASES[case](asked.seconds, False))
        stopped = took if stopped is None else stopped
        kept &= stopped <= allowed
        print(f"| {case} | {stopped:.1f} | {took - stopped:.1f} | {status} |", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
