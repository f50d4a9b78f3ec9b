"""The loop of all iterative trainers: starts, limits, callbacks, interruption."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.losses import Objective
from feaslearn.trainers import AdaptiveSmoothing, GradientDescent, Iterate, IterativeTrainer
from feaslearn.trainers.starts import GivenStart

POWER = fl.datasets.make_power5(60, noise=0.1, random_state=0)


def fit(trainer: object, **options: object) -> fl.RegionRegressor:
    options = {"cost": POWER.cost, "random_state": 0, **options}
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(4)), trainer=trainer, **options)
    return model.fit(POWER.signals, POWER.decisions)


@pytest.mark.parametrize("max_iter", [0, 1, 7])
def test_the_limit_on_iterations(max_iter: int) -> None:
    calls: list[int] = []
    trainer = GradientDescent(max_iter, tol=0.0, n_starts=1, callback=lambda i, _: calls.append(i))
    result = fit(trainer).result_
    assert result.n_iter == max_iter
    assert result.status == "iteration limit"
    assert len(result.history["objective"]) == len(result.history["returned_loss"]) == max_iter + 1
    assert calls == list(range(max_iter + 1))


def test_every_start_is_walked_and_the_best_is_kept() -> None:
    values: list[list[float]] = []

    def record(i: int, iterate: Iterate) -> None:
        if i == 0:
            values.append([])
        values[-1].append(iterate.value)

    result = fit(GradientDescent(max_iter=6, n_starts=4, callback=record)).result_
    assert len(values) == 4
    assert len({walk[0] for walk in values}) == 4
    assert result.n_iter == sum(len(walk) - 1 for walk in values)
    assert result.history["objective"] in values
    assert result.objective == pytest.approx(min(map(min, values)))


def test_a_callback_stops_the_search() -> None:
    result = fit(GradientDescent(n_starts=3, callback=lambda i, _: i == 4)).result_
    assert result.status == "stopped by callback"
    assert result.n_iter == 4


def test_an_interrupted_search_returns_the_best_so_far() -> None:
    seen: list[float] = []

    def interrupt(i: int, iterate: Iterate) -> None:
        seen.append(iterate.value)
        if len(seen) == 30:
            raise KeyboardInterrupt

    model = fit(GradientDescent(max_iter=12, tol=0.0, n_starts=5, callback=interrupt))
    assert model.result_.status == "interrupted"
    assert model.result_.objective == pytest.approx(min(seen))
    assert np.isfinite(model.predict(POWER.signals)).all()


class Scripted(IterativeTrainer):
    """Takes fixed parameters one after the other, better or not."""

    def __init__(self, thetas: list[np.ndarray], endings: list[str | None]) -> None:
        self.thetas = thetas
        self.endings = endings
        self.max_iter = len(thetas)
        self.max_seconds = None
        self.tol = 0.0
        self.n_starts = 1
        self.start = self.callback = None

    def mismatches(self, objective: Objective) -> list[str]:
        return []

    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        k = int(iterate.memory.get("k", 0))
        theta = self.thetas[k]
        value, gradient = objective.value_and_gradient(theta)
        return Iterate(theta, value, gradient, {"k": k + 1}, self.endings[k])


def switch(**options: object) -> fl.RegionRegressor:
    data = fl.datasets.make_switch(40, random_state=0)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, **options)
    return model.fit(data.signals, data.decisions)


def test_the_best_iterate_is_returned_not_the_last() -> None:
    right = np.eye(2).ravel()
    model = switch(trainer=Scripted([right, right + 0.3, right + 0.5], [None, None, "stalled"]))
    np.testing.assert_allclose(model.theta_, right)
    assert model.result_.objective == 0.0
    assert model.result_.status == "optimal"
    assert len(model.result_.history["objective"]) == 4


def test_ties_that_flatter_the_objective_are_not_kept() -> None:
    """Columns that tie for every cost put all decisions on an optimal face: the loss is zero."""
    data = fl.datasets.make_switch(40, random_state=0)
    apart, together = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    apart[0], together[0] = np.eye(2), 0.5
    trainer = Scripted([apart.ravel(), together.ravel()], [None, "stalled"])
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=[1.0, 1.0], trainer=trainer)
    result = model.fit(data.signals, data.decisions).result_
    assert result.history["objective"][1] < 1e-12
    assert result.history["returned_loss"][1] > 0.9
    assert result.objective > 0.1
    assert result.returned_loss == pytest.approx(min(result.history["returned_loss"]))


def test_suboptimality_keeps_the_least_objective() -> None:
    data = fl.datasets.make_switch(40, noise=0.3, random_state=0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(2)),
        cost=data.cost,
        loss="suboptimality",
        trainer=GradientDescent(max_iter=30, n_starts=3),
        random_state=0,
    ).fit(data.signals, data.decisions)
    result = model.result_
    losses = model.sample_losses(fl.Suboptimality(), data.signals, data.decisions)
    assert result.objective == pytest.approx(losses.mean())
    assert result.objective == pytest.approx(min(result.history["objective"]))
    distance = ((model.predict(data.signals) - data.decisions) ** 2).sum(axis=1).mean()
    assert result.returned_loss == pytest.approx(distance)
    assert result.returned_loss > result.objective


# Several threads


@pytest.mark.parametrize("kind", [GradientDescent, AdaptiveSmoothing])
def test_threads_do_not_change_the_result(kind: type[IterativeTrainer]) -> None:
    one, other = (fit(kind(max_iter=10, n_starts=4), n_jobs=n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.theta_, other.theta_)
    assert one.result_.history == other.result_.history
    assert one.result_.n_iter == other.result_.n_iter


# Where a search begins, and when it is enough


@pytest.mark.parametrize("kind", [GradientDescent, AdaptiveSmoothing])
def test_a_search_goes_on_from_parameters_that_are_given(kind: type[IterativeTrainer]) -> None:
    first = fit(kind(max_iter=5, n_starts=1))
    again = fit(kind(max_iter=0, n_starts=1, start=first.theta_))
    assert again.result_.objective == pytest.approx(first.result_.objective, rel=1e-9)
    np.testing.assert_allclose(again.theta_, first.theta_, rtol=1e-6, atol=1e-9)
    further = fit(kind(max_iter=20, n_starts=2, start=GivenStart(first.theta_)))
    assert further.result_.returned_loss <= first.result_.returned_loss * (1 + 1e-9)


def test_given_parameters_must_fit_the_class() -> None:
    with pytest.raises(DataError, match="theta has 3 entries, but Affine"):
        fit(GradientDescent(start=[1.0, 2.0, 3.0]))
    with pytest.raises(DataError, match="theta is not a vector of finite numbers"):
        fit(GradientDescent(start=[[1.0, np.nan]]))
    with pytest.raises(DataError, match="theta is not a vector of finite numbers"):
        fit(GradientDescent(start="policy"))


# Messages


@pytest.mark.parametrize(("verbose", "expected"), [(0, 0), (1, 2), (2, 2 + 2 * 4)])
def test_verbose_lets_the_log_through(
    verbose: int, expected: int, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("feaslearn")
    fit(GradientDescent(max_iter=3, tol=0.0, n_starts=2), verbose=verbose)
    assert len([record for record in caplog.records if record.name == "feaslearn"]) == expected
    assert logger.level == logging.NOTSET
    if verbose:
        assert "GradientDescent: start 2 of 2: iteration limit, loss" in caplog.text
