"""Deadlines: the best so far, and an error where there is none."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Chunk, Names, Samples, Source
from feaslearn.exceptions import TimeLimitError
from feaslearn.losses import Objective
from feaslearn.runs import Clock, OutOfTime, Run
from feaslearn.solvers.cone_least_squares import DualActiveSet
from feaslearn.solvers.lbfgs import quasi_newton
from feaslearn.solvers.mip import MixedIntegerProgram
from feaslearn.trainers import annealing, selection
from feaslearn.trainers.minkowski_fit import programs
from feaslearn.trainers.minkowski_fit.block_moments import BlockMoments
from feaslearn.trainers.minkowski_fit.moments import Units

POWER = fl.datasets.make_power5(300, noise=0.1, random_state=0)


def objective(seconds: float | None, hypothesis: Any = None) -> Objective:
    features = np.hstack([np.ones((300, 1)), POWER.signals])
    costs = POWER.cost_matrix
    rows = Block(features, costs, POWER.decisions, np.full(300, 1.0 / 300))
    chosen = fl.Affine(fl.Simplex(3)) if hypothesis is None else hypothesis
    return Objective(fl.Predictability(), chosen, Samples.of(rows), run=Run(clock=Clock(seconds)))


def test_no_model_in_time_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(fl.trainers.Convex, "search", late)
    trainer = fl.trainers.Convex(max_seconds=3.0)
    model = fl.RegionRegressor(fl.Scaled(fl.Simplex(3)), cost=POWER.cost, trainer=trainer)
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

    trainer = fl.trainers.Convex(max_seconds=0.2)
    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=POWER.cost, trainer=trainer)
    with pytest.raises(TimeLimitError, match="before there was any model"):
        model.fit(fl.Chunks(rows))


def test_the_first_fit_where_there_is_no_time_for_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(programs, "fit_by_program", late)
    trainer = fl.trainers.Convex(max_seconds=60.0)
    model = fl.RegionRegressor(
        fl.Minkowski.pairs(3), cost=POWER.cost, trainer=trainer, loss="suboptimality"
    )
    result = model.fit(POWER.signals, POWER.decisions).result_
    assert result.status == "time limit"
    assert result.lower_bound is None
    assert any("before the optimum of the program" in text for text in result.warnings)


def test_an_active_set_ends_with_the_time() -> None:
    search = DualActiveSet(-np.ones(3), Run(clock=Clock(0.0)))
    with pytest.raises(OutOfTime):
        search.add_rows(np.eye(3))


def test_a_descent_ends_within_a_line_search() -> None:
    clock = Clock(60.0)
    values: list[float] = []

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        values.append(float(x @ x))
        if len(values) == 2:
            clock.interrupt()
        return values[-1], 2.0 * x

    found = quasi_newton(evaluate, np.array([3.0, -4.0]), Run(clock=clock))
    assert len(values) == 2
    assert found.fun == min(values)


def test_a_second_attempt_of_a_solver_has_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed: list[float] = []
    attempt = MixedIntegerProgram._attempt

    def tried(self: Any, program: Any, start: Any, seconds: float, **options: Any) -> Any:
        allowed.append(seconds)
        if len(allowed) == 1:
            time.sleep(0.1)
            raise fl.exceptions.SolverError("it gave up")
        return attempt(self, program, start, seconds, **options)

    monkeypatch.setattr(MixedIntegerProgram, "_attempt", tried)
    model = MixedIntegerProgram("small")
    x = model.columns(1, lower=0.0, upper=2.0)
    model.row([(x, 1.0)], lower=1.0)
    assert model.solve(seconds=30.0).outcome == "optimal"
    assert allowed[1] <= allowed[0] - 0.1
    allowed.clear()
    assert model.solve(seconds=0.05).outcome == "time limit"
    assert len(allowed) == 1


def test_a_first_look_at_chunks_ends_at_the_deadline() -> None:
    signals, decisions = (np.tile(table, (100, 1)) for table in (POWER.signals, POWER.decisions))
    total, read = len(signals), []

    class Slow(Source):
        names = Names(tuple("abcdefgh"), tuple("xyz"))

        def map(self, function: Any, n_jobs: int = 1, signals_only: Any = None) -> Any:
            for part in range(20):
                read.append(part)
                time.sleep(0.05)
                yield function(Chunk(signals, decisions, np.ones(total), first=part * total))

    trainer = fl.trainers.GradientDescent(0, n_starts=1, max_seconds=0.4)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=POWER.cost, trainer=trainer)
    with pytest.raises(TimeLimitError, match=r"any model\. Allow"):
        model.fit(Slow())
    assert len(read) < 20


@pytest.mark.parametrize(
    ("hypothesis", "trainer"),
    [
        (fl.Affine(fl.Simplex(3)), fl.trainers.Annealing),
        (fl.Affine(fl.Simplex(3)), fl.trainers.GradientDescent),
        (fl.Affine(fl.Simplex(3)), fl.trainers.AdaptiveSmoothing),
        (fl.Facets(), fl.trainers.FacetLearning),
        (fl.Affine(fl.Simplex(3, binary=True)), fl.trainers.MixedInteger),
        (fl.Ternary(fl.Box(3)), fl.trainers.MixedInteger),
        (None, fl.trainers.Auto),
    ],
    ids=repr,
)
@pytest.mark.parametrize("looks", [2, 10, 40])
def test_a_search_returns_its_best_so_far(
    hypothesis: Any, trainer: Any, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count()
    monkeypatch.setattr(Clock, "out", lambda clock: clock.limited and next(asked) >= looks)
    model = fl.RegionRegressor(
        hypothesis, cost=POWER.cost, trainer=trainer(max_seconds=1e6), random_state=0
    )
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
            arguments[1].run.clock._end = 0.0
        return trained(*arguments, **options)

    monkeypatch.setattr(selection, "train_once", last)
    model = fl.RegionRegressor(None, cost=POWER.cost, trainer=fl.trainers.Auto(1e6), random_state=0)
    model.fit(POWER.signals, POWER.decisions)
    assert model.result_.status == "time limit"
    assert isinstance(model.hypothesis_, fl.Facets)
    assert any("selection of a hypothesis" in text for text in model.result_.warnings)


def test_a_cut_choice_of_the_ridge_starts_from_its_best_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose = annealing.choose_ridge

    def cut(objective: Objective, *arguments: Any) -> Any:
        choice = choose(objective, *arguments)
        objective.run.clock._end = 0.0
        return choice

    def loss(**options: Any) -> float:
        model = fl.RegionRegressor(
            fl.Affine(fl.Simplex(4)),
            cost=POWER.cost,
            trainer=fl.trainers.Annealing(max_seconds=1e6, **options),
            random_state=0,
        )
        return float(model.fit(POWER.signals, POWER.decisions).result_.returned_loss)

    start = loss(max_iter=0, n_starts=1, ridge=0.1, ridge_floor=1.0)
    monkeypatch.setattr(annealing, "choose_ridge", cut)
    assert loss() < 0.8 * start


def test_moments_of_a_block_end_with_the_time() -> None:
    def late() -> None:
        raise OutOfTime

    first = objective(None).first
    of = BlockMoments(fl.Minkowski.pairs(3), 3, 9, Units.of(first, True, True), None)
    of.patterns = None
    with pytest.raises(OutOfTime):
        of.of(first, late)
