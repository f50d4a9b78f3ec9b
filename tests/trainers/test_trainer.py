"""What every trainer reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, SolverError
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


#: Numbers next to what is allowed.
WRONG = {
    fl.trainers.AdaptiveSmoothing: {"epsilon": 0.0, "max_epsilon": np.inf, "max_iter": -1},
    fl.trainers.Annealing: {"ridge": -1.0, "ridge_floor": 2.0, "warmest": 0.0, "n_starts": 0},
    fl.trainers.Convex: {"ridge": -1.0, "sparsity": "much", "n_folds": 1},
    fl.trainers.FacetLearning: {"noise": -1.0, "max_seconds": 0.0},
    fl.trainers.Global: {"solver": "cplex", "tol": 1.0, "radius": -1.0, "n_starts": 0},
    fl.trainers.GradientDescent: {"tol": -1.0, "max_seconds": "1", "callback": 3},
    fl.trainers.MixedInteger: {"max_seconds": -1, "tol": 2.0, "max_iter": 0, "n_starts": 1.5},
}


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_all_wrong_parameters_are_named_together(kind: type[fl.trainers.Trainer]) -> None:
    with pytest.raises(DataError) as caught:
        kind(**WRONG[kind]).train(objective(), np.random.default_rng(0))
    for name, value in WRONG[kind].items():
        assert f"{name}={value!r}" in str(caught.value)


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
