"""Time limits: as many samples as there is time for, and an error where that is none."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Chunk, ChunkSource, Names, Shard, shards
from feaslearn.exceptions import TimeLimitError
from feaslearn.losses import Objective
from feaslearn.runs import Clock, OutOfTime, Run
from feaslearn.trainers import trainer as trainer_module
from feaslearn.trainers.minkowski_fit import by_program, programs
from feaslearn.trainers.minkowski_fit.dual_active_set import DualActiveSet
from feaslearn.trainers.minkowski_fit.shard_moments import ShardMoments
from feaslearn.trainers.minkowski_fit.units import Units
from feaslearn.trainers.mixed_integer import mixed_integer
from feaslearn.trainers.mixed_integer.linear_model import LinearModel
from feaslearn.trainers.quasi_newton import quasi_newton
from feaslearn.trainers.time_to_measure import affordable, seconds_of, with_time_to_measure

POWER = fl.datasets.make_power5(300, noise=0.1, random_state=0)


def objective(seconds: float | None, hypothesis: Any = None) -> Objective:
    features = np.hstack([np.ones((300, 1)), POWER.signals])
    costs = POWER.cost_matrix
    rows = Shard(features, costs, POWER.decisions, np.full(300, 1.0 / 300))
    chosen = fl.Affine(fl.Simplex(3)) if hypothesis is None else hypothesis
    return Objective(fl.Predictability(), chosen, list(shards(rows)), run=Run(clock=Clock(seconds)))


def slow(part: Objective) -> None:
    """Take 2 ms for each sample, and 5 ms in any case."""
    time.sleep(0.005 + 0.002 * part.n_samples)


def test_the_time_of_a_pass_is_told_from_what_is_done_once() -> None:
    assert 0.5 < seconds_of(objective(5.0), slow) < 1.2


def test_a_limit_with_room_keeps_all_samples() -> None:
    whole = objective(60.0)
    part, told = affordable(whole, slow)
    assert part is whole
    assert told == []


def test_a_short_limit_draws_some_and_says_so() -> None:
    part, (told,) = affordable(objective(1.0), slow)
    assert 50 <= part.n_samples < 200
    assert part.drawn
    assert f"{part.n_samples} of 300" in told
    assert np.isclose(sum(shard.weights.sum() for shard in part.shards), 1.0)


def test_without_a_limit_nothing_is_tried() -> None:
    def never(_: Objective) -> None:
        raise AssertionError

    whole = objective(None)
    assert affordable(whole, never) == (whole, [])
    assert with_time_to_measure(whole) is whole


@pytest.mark.parametrize("hypothesis", [fl.Affine(fl.Box(2)), fl.Facets(), fl.Facets(max_facets=1)])
def test_typical_parameters_are_measured(hypothesis: Any) -> None:
    whole = objective(30.0, hypothesis)
    assert 0.0 < with_time_to_measure(whole).run.clock.left <= 30.0


def test_a_fit_to_a_part_proves_nothing() -> None:
    class Short(fl.trainers.Convex):
        def affordable(self, objective: Objective) -> tuple[Objective, list[str]]:
            part, told = affordable(replace(objective, run=Run(clock=Clock(0.2))), slow)
            return replace(part, run=objective.run), told

    model = fl.RegionRegressor(fl.Scaled(fl.Simplex(3)), cost=POWER.cost, trainer=Short())
    result = model.fit(POWER.signals, POWER.decisions).result_
    assert result.status == "time limit"
    assert result.lower_bound is None
    assert any("no room for all samples" in text for text in result.warnings)


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


def test_the_program_has_the_samples_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = by_program.CanonicalProgram.solve

    def slower(self: Any, *arguments: Any, **options: Any) -> Any:
        if len(self._program._rows.weights) > 100:
            raise OutOfTime
        return solve(self, *arguments, **options)

    monkeypatch.setattr(by_program.CanonicalProgram, "solve", slower)
    trainer = fl.trainers.Convex(max_seconds=60.0)
    model = fl.RegionRegressor(
        fl.Minkowski.pairs(3), cost=POWER.cost, trainer=trainer, loss="suboptimality"
    )
    result = model.fit(POWER.signals, POWER.decisions).result_
    assert result.status == "time limit"
    assert result.lower_bound is None
    assert any("program of 75 samples" in text for text in result.warnings)


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
    assert any("program of 0 samples" in text for text in result.warnings)


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
    attempt = LinearModel._attempt

    def tried(self: Any, start: Any, seconds: float, *rest: Any, **options: Any) -> Any:
        allowed.append(seconds)
        if len(allowed) == 1:
            time.sleep(0.1)
            raise fl.exceptions.SolverError("it gave up")
        return attempt(self, start, seconds, *rest, **options)

    monkeypatch.setattr(LinearModel, "_attempt", tried)
    model = LinearModel()
    x = model.columns(1, lower=0.0, upper=2.0)
    model.row([(x, 1.0)], lower=1.0)
    assert model.solve({}, 30.0, 1e-6).finished
    assert allowed[1] <= allowed[0] - 0.1
    allowed.clear()
    assert not model.solve({}, 0.05, 1e-6).finished
    assert len(allowed) == 1


def test_a_first_look_at_chunks_ends_at_the_deadline() -> None:
    signals, decisions = (np.tile(table, (100, 1)) for table in (POWER.signals, POWER.decisions))
    count, read = len(signals), []

    class Slow(ChunkSource):
        names = Names(tuple("abcdefgh"), tuple("xyz"))

        def map(self, function: Any, n_jobs: int = 1, signals_only: Any = None) -> Any:
            for part in range(20):
                read.append(part)
                time.sleep(0.05)
                yield function(Chunk(signals, decisions, np.ones(count), first=part * count))

    trainer = fl.trainers.GradientDescent(0, n_starts=1, max_seconds=0.4)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=POWER.cost, trainer=trainer)
    with pytest.raises(TimeLimitError, match=r"any model\. Allow"):
        model.fit(Slow())
    assert len(read) < 20


def test_programs_of_a_branch_and_bound_have_the_samples_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mixed_integer, "solve_one_program", slow)
    trainer = fl.trainers.MixedInteger(max_seconds=1.0)
    part, (told,) = trainer.affordable(objective(1.0, fl.Affine(fl.Simplex(2, binary=True))))
    assert 50 <= part.n_samples < 300
    assert "drawn at random" in told


def test_moments_of_a_shard_end_with_the_time() -> None:
    def late() -> None:
        raise OutOfTime

    first = objective(None).first
    of = ShardMoments(fl.Minkowski.pairs(3), 3, 9, Units.of(first, True, True), None)
    of.patterns = None
    with pytest.raises(OutOfTime):
        of.of(first, late)
