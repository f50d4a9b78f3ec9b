"""Where searches begin: around the linear policy."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Shard
from feaslearn.losses import Objective
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.linear_start import linear_start


def objective(hypothesis: object, unit: float = 1.0) -> Objective:
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(30), random.normal(size=(30, 2))])
    decisions = unit * random.normal(size=(30, 3))
    shard = Shard(features, random.normal(size=(30, 3)), decisions, np.full(30, 1 / 30))
    return Objective(fl.Predictability(), hypothesis, [shard])


HYPOTHESES = [
    fl.Affine(fl.Simplex(4)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(fl.Box(2, 1.0, 3.0)),
    fl.Affine(fl.L2Ball(2)),
    fl.Scaled(fl.Simplex(3)),
    fl.Scaled(fl.Box(3, 0.0, 2.0)),
]
EACH = pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)


@EACH
def test_the_centre_is_the_policy(hypothesis: object) -> None:
    problem = objective(hypothesis)
    (shard,) = problem.shards
    policy = shard.features @ least_squares(shard.features, shard.decisions, shard.weights)
    for seed in range(4):
        theta = linear_start(problem, np.random.default_rng(seed), 1.0)
        for phi, expected in zip(shard.features[:5], policy[:5], strict=True):
            image = hypothesis.image(theta, phi, 3)
            np.testing.assert_allclose(image.center(), expected, atol=1e-9)


@EACH
def test_there_is_something_to_move(hypothesis: object) -> None:
    problem = objective(hypothesis)
    for seed in range(6):
        theta = linear_start(problem, np.random.default_rng(seed), 1.0)
        lower, upper = hypothesis.image(theta, problem.shards[0].features[0], 3).bounding_box()
        assert (upper - lower).max() > 1e-3


@EACH
def test_noise_is_measured_in_units_of_the_residuals(hypothesis: object) -> None:
    one, other = (
        linear_start(objective(hypothesis, unit), np.random.default_rng(0), 1.0)
        for unit in (1.0, 2.0**-40)
    )
    np.testing.assert_allclose(other, one * 2.0**-40, rtol=1e-9)


@EACH
def test_no_noise_is_the_policy_itself(hypothesis: object) -> None:
    problem = objective(hypothesis)
    (shard,) = problem.shards
    theta = linear_start(problem, np.random.default_rng(0), 0.0)
    policy = shard.features @ least_squares(shard.features, shard.decisions, shard.weights)
    predicted = hypothesis.predict(theta, shard.features, shard.costs)
    np.testing.assert_allclose(predicted, policy, atol=1e-9)
