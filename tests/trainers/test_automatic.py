"""What "auto" chooses."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.losses import Objective
from feaslearn.trainers import Annealing, Convex, GradientDescent
from feaslearn.trainers.automatic import candidates, choose_hypothesis, choose_trainer


def objective(data: fl.Decisions, loss: object = None) -> Objective:
    whole = Block(
        np.ones((len(data), 1)),
        np.array(data.cost_matrix),
        np.array(data.decisions),
        np.full(len(data), 1 / len(data)),
    )
    return Objective(loss or fl.Predictability(), candidates(1, 1)[0], Samples.of(whole, 20))


def choose(data: fl.Decisions, trainer: object = "auto") -> object:
    return choose_hypothesis(objective(data), np.random.default_rng(0), trainer).hypothesis


def box_data() -> fl.Decisions:
    costs = np.random.default_rng(0).normal(size=(50, 2))
    return fl.Decisions.from_arrays(costs, 2.0 - 3.0 * np.sign(costs), [0, 1])


def policy_data() -> fl.Decisions:
    random = np.random.default_rng(0)
    return fl.Decisions.from_arrays(
        random.normal(size=(50, 2)), random.normal(size=(50, 2)), [0, 1]
    )


def test_the_class_that_predicts_best_is_chosen() -> None:
    assert repr(choose(fl.datasets.make_switch(50, random_state=0))) == repr(
        fl.Scaled(fl.Simplex(2))
    )
    assert repr(choose(box_data())) == repr(fl.Scaled(fl.Box(2)))
    assert repr(choose(policy_data())) == repr(fl.Affine(fl.Simplex(1)))


def test_noise_that_hides_facets_leaves_a_polytope_of_learned_vertices() -> None:
    data = fl.datasets.make_l1_ball(60, n=2, noise=0.2, low=-1.0, high=1.0, random_state=101)
    assert repr(choose(data)) == repr(fl.Affine(fl.Simplex(4)))


def test_too_few_samples_leave_the_linear_policy() -> None:
    assert repr(choose(box_data()[:9])) == repr(fl.Affine(fl.Simplex(1)))
    assert repr(choose(box_data()[:10])) == repr(fl.Scaled(fl.Box(2)))


def test_a_given_trainer_limits_the_choice() -> None:
    model = fl.RegionRegressor(cost=[0, 1], trainer=Convex(), random_state=0)
    data = box_data()
    assert isinstance(model.fit(data.signals, data.decisions).hypothesis_, fl.Scaled)
    refused = fl.RegionRegressor(cost=[0, 1], trainer=Convex(robust=True), loss="suboptimality")
    with pytest.raises(UnsupportedError, match="Suboptimality"):
        refused.fit(data.signals, data.decisions)


def test_trainers_by_hypothesis_and_loss() -> None:
    data = box_data()
    for hypothesis, loss, expected in (
        (fl.Scaled(fl.Box(2)), fl.Predictability(), Convex),
        (fl.Affine(fl.Simplex(1)), fl.Predictability(), Convex),
        (fl.Affine(fl.Simplex(2)), fl.Predictability(), Annealing),
        (fl.Scaled(fl.Box(2)), fl.Suboptimality(), Convex),
        (fl.Scaled(fl.Box(2)), fl.Predictability("l1"), Convex),
        (fl.Minkowski.box(2), fl.Predictability(), Convex),
        (fl.Affine(fl.Simplex(2)), fl.Suboptimality(), Annealing),
    ):
        problem = Objective(loss, hypothesis, objective(data).samples)
        assert isinstance(choose_trainer("auto", problem), expected)
    mine = GradientDescent(max_iter=3)
    assert choose_trainer(mine, problem) is mine
    with pytest.raises(UnsupportedError, match="trainer='fast' is not known"):
        choose_trainer("fast", problem)
