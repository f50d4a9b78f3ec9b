"""Blends: members trained on their own, then weighed."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.runs import OutOfTime
from feaslearn.trainers import Blending, Convex, FacetLearning
from feaslearn.trainers.blending import best_weights
from feaslearn.trainers.trainer import Trained, Trainer


def test_weights_are_the_best_of_all_mixtures() -> None:
    random = np.random.default_rng(0)
    guesses = random.normal(size=(3, 40, 2))
    truth = 0.3 * guesses[0] + 0.7 * guesses[2]
    block = Block(np.ones((40, 1)), np.ones((40, 2)), truth, np.full(40, 1 / 40))
    np.testing.assert_allclose(best_weights(guesses, block), [0.3, 0.0, 0.7], atol=1e-6)
    # Signed mixtures are no regions.
    block = block._replace(decisions=2.0 * guesses[0] - guesses[1])
    weights = best_weights(guesses, block)
    assert weights[0] > 0.99
    assert weights.sum() == pytest.approx(1.0)


def test_weights_leave_out_what_was_not_observed_and_heed_sample_weights() -> None:
    random = np.random.default_rng(1)
    guesses = random.normal(size=(2, 30, 2))
    truth = guesses[0].copy()
    truth[:10] = guesses[1, :10]
    truth[20:, 0] = np.nan
    weights = np.r_[np.zeros(10), np.full(20, 0.05)]
    block = Block(np.ones((30, 1)), np.ones((30, 2)), truth, weights)
    np.testing.assert_allclose(best_weights(guesses, block), [1.0, 0.0], atol=1e-6)


def fit(members: list[object], data: fl.Decisions, **options: object) -> fl.RegionRegressor:
    trainer = Blending(**options)  # type: ignore[arg-type]
    blend = fl.Blend(members)  # type: ignore[arg-type]
    model = fl.RegionRegressor(blend, cost=data.cost, trainer=trainer, random_state=0)
    return model.fit(data.signals, data.decisions)


def test_members_of_one_kind_share_the_weight() -> None:
    data = fl.datasets.make_power5(60, random_state=0)
    model = fit([fl.Facets(), fl.Facets()], data)
    np.testing.assert_array_equal(model.parameters_["weights"], [0.5, 0.5])


def test_a_member_that_explains_nothing_gets_no_weight() -> None:
    data = fl.datasets.make_power5(80, random_state=0)
    model = fit([fl.Affine(fl.Simplex(1)), fl.Facets()], data)
    weights = model.parameters_["weights"]
    assert weights[1] > 0.95
    assert weights.sum() == pytest.approx(1.0)
    alone = fit([fl.Affine(fl.Simplex(1))], data)
    assert model.result_.objective < alone.result_.objective


def test_without_folds_members_share_the_weight() -> None:
    data = fl.datasets.make_power5(40, random_state=0)
    model = fit([fl.Affine(fl.Simplex(1)), fl.Facets()], data, n_folds=0)
    np.testing.assert_array_equal(model.parameters_["weights"], [0.5, 0.5])


class _Late(Convex):
    """Has no model in time, the first times that it is asked."""

    times = 0

    def search(self, objective: fl.losses.Objective, random: np.random.Generator) -> Trained:
        type(self).times -= 1
        if self.times >= 0:
            raise OutOfTime
        return super().search(objective, random)


def test_a_member_without_time_has_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Late, "times", 1)

    def choose(objective: fl.losses.Objective) -> Trainer:
        facets = isinstance(objective.hypothesis, fl.Facets)
        return FacetLearning() if facets else _Late()

    data = fl.datasets.make_power5(40, random_state=0)
    members = [fl.Facets(max_facets=1), fl.Affine(fl.Simplex(1))]
    model = fit(members, data, choose=choose, n_folds=0, max_seconds=60.0)
    np.testing.assert_array_equal(model.parameters_["weights"], [1.0, 0.0])
    assert model.result_.status == "time limit"
