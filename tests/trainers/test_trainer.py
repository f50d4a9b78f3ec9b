"""What every trainer reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import SolverError
from feaslearn.losses import Objective
from feaslearn.trainers import GradientDescent
from feaslearn.trainers.returned_decisions import returned_loss, tied_share

COSTS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


def objective(loss: object = None, hypothesis: object = None) -> Objective:
    decisions = np.array([[1.0, 0.5], [0.0, 1.0], [0.5, 0.5], [np.nan, 1.0]])
    whole = Block(np.ones((4, 1)), COSTS, decisions, np.array([0.1, 0.2, 0.3, 0.4]))
    hypothesis = hypothesis or fl.Affine(fl.Simplex(2))
    return Objective(loss or fl.Predictability(), hypothesis, Samples.of(whole, 3))


def test_ties_are_counted_by_weight() -> None:
    assert tied_share(objective(), np.eye(2).ravel()) == pytest.approx(0.7)


def test_columns_that_coincide_do_not_tie() -> None:
    assert tied_share(objective(), np.full(4, 0.5)) == 0.0
    point = objective(hypothesis=fl.Scaled(fl.Simplex(2)))
    assert tied_share(point, np.array([0.0, 0.3, 0.4])) == 0.0
    assert tied_share(point, np.array([1e-30, 0.0, 0.0])) == pytest.approx(0.7)


def test_returned_loss_takes_the_first_of_tied_minimisers() -> None:
    theta = np.eye(2).ravel()
    # Misses by row: (0, -0.5), none, (0.5, -0.5), (unobserved, -1).
    assert returned_loss(objective(), theta) == pytest.approx(0.1 * 0.25 + 0.3 * 0.5 + 0.4)
    l1 = objective(fl.Predictability("l1"))
    assert returned_loss(l1, theta) == pytest.approx(0.1 * 0.5 + 0.3 * 1.0 + 0.4)
    plain = objective(fl.Suboptimality(squared=False))
    assert returned_loss(plain, theta) == pytest.approx(0.1 * 0.5 + 0.3 * 0.5**0.5 + 0.4)
    assert objective().value_and_gradient(theta)[0] == pytest.approx(0.1 * 0.25)


def test_more_parameters_than_values_are_mentioned() -> None:
    problem = objective(hypothesis=fl.Affine(fl.Simplex(4)))
    result = fl.trainers.GradientDescent(1).train(problem, np.random.default_rng(0)).result
    assert any("8 parameters were fitted to 7 observed values" in text for text in result.warnings)
    problem = objective(hypothesis=fl.Affine(fl.Simplex(3)))
    result = fl.trainers.GradientDescent(1).train(problem, np.random.default_rng(0)).result
    assert not any("parameters were fitted" in text for text in result.warnings)
    assert any("minimisers tie in 40 %" in text for text in result.warnings)


@pytest.mark.parametrize("value", [np.nan, -1e200])
def test_parameters_that_diverged_are_refused(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = GradientDescent.search

    def diverging(self: GradientDescent, *arguments: Any) -> Any:
        trained = search(self, *arguments)
        trained.theta[1] = value
        return trained

    monkeypatch.setattr(GradientDescent, "search", diverging)
    data = fl.datasets.make_switch(10, random_state=0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=GradientDescent(max_iter=1)
    )
    with pytest.raises(SolverError, match="the first is number 1 of"):
        model.fit(data.signals, data.decisions)
