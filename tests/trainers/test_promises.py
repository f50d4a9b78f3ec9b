"""What a trainer returns is what it says it is, the same each time, and it changes nothing else."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.hypotheses import Hypothesis
from feaslearn.hypotheses.affine import Maps
from feaslearn.results import Status
from feaslearn.trainers import Objective, Trainer


def samples() -> Block:
    """Return 40 decisions of a simplex that moves with one feature, with a little noise."""
    rng, truth = np.random.default_rng(0), fl.Affine(fl.Simplex(3))
    features = np.column_stack([np.ones(40), rng.uniform(size=40)])
    costs = rng.normal(size=(40, 2))
    theta = rng.normal(size=truth.layout(2, 2).size)
    decisions = truth.predict(theta, features, costs) + 0.01 * rng.normal(size=(40, 2))
    return Block(features, costs, decisions, np.full(40, 1.0 / 40))


AFFINE = fl.Affine(fl.Simplex(3))


@pytest.mark.parametrize(
    ("trainer", "hypothesis"),
    [
        (fl.trainers.Annealing(n_starts=1), AFFINE),
        (fl.trainers.Convex(), fl.Minkowski.box(2)),
        (fl.trainers.FacetLearning(), fl.Facets()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_trainers(trainer: Trainer, hypothesis: Hypothesis) -> None:
    block, kept, before = samples(), samples(), repr(trainer)
    objective = Objective(hypothesis, Samples.of(block))
    used = clone(trainer)
    theta, result, *_ = used.train(objective, np.random.default_rng(0))
    again = trainer.train(objective, np.random.default_rng(0))

    np.testing.assert_array_equal(theta, again.theta)
    assert repr(used) == repr(trainer) == before
    for mine, theirs in zip(kept, block, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert theta.shape == (hypothesis.layout_of(theta, 2, 2).size,)
    assert np.isfinite(theta).all()
    assert result.status in get_args(Status)
    assert result.objective == pytest.approx(objective.value(theta), rel=1e-9, abs=1e-9)
    assert result.lower_bound is None or result.lower_bound <= result.objective + 1e-9
    maps = hypothesis.as_affine()
    if maps is not None:
        offset = np.zeros((2, 2))
        offset[0] = block.decisions.mean(axis=0)
        point = maps.theta_of(Maps(np.zeros((2, 2, maps.latent(2).dimension)), offset))
        assert result.objective <= objective.value(point)
