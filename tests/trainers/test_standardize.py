"""Standardised features: the same objective in other parameters."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Objective
from feaslearn.trainers.standardize import Standardization

HYPOTHESES = [
    fl.Affine(fl.Simplex(3)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(fl.Box(2)),
    fl.Affine(fl.L2Ball(3)),
    fl.Scaled(fl.L1Ball(2)),
]


def objective(hypothesis: object, loss: object = None, constant: bool = False) -> Objective:
    random = np.random.default_rng(0)
    signals = random.normal(size=(40, 3)) * [1.0, 50.0, 1e-3] + [0.0, 200.0, -5.0]
    if constant:
        signals[:, 1] = 7.0
    features = np.column_stack([np.ones(40), signals])
    whole = Block(
        features,
        random.normal(size=(40, 2)),
        random.normal(size=(40, 2)),
        random.uniform(size=40),
    )
    return Objective(loss or fl.Predictability(), hypothesis, Samples.of(whole, 16))


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
@pytest.mark.parametrize("loss", [fl.Predictability(), fl.Suboptimality("l2", squared=False)])
def test_both_parametrisations_have_the_same_objective(hypothesis: object, loss: object) -> None:
    raw = objective(hypothesis, loss)
    standardization = Standardization.of(raw)
    scaled = standardization.apply(raw)
    for seed in range(5):
        theta = np.random.default_rng(seed).normal(size=raw.size)
        theta[0] = abs(theta[0])  # the scale of a scaled set
        there = scaled.value_and_gradient(theta)[0]
        back = raw.value_and_gradient(standardization.revert(raw, theta))[0]
        assert back == pytest.approx(there, rel=1e-9)
        for one, other in zip(raw.samples, scaled.samples, strict=True):
            np.testing.assert_allclose(
                hypothesis.predict(standardization.revert(raw, theta), one.features, one.costs),
                hypothesis.predict(theta, other.features, other.costs),
                atol=1e-9,
            )


def test_features_have_mean_zero_and_deviation_one() -> None:
    raw = objective(fl.Affine(fl.Simplex(2)))
    scaled = Standardization.of(raw).apply(raw)
    features = np.vstack([block.features for block in scaled.samples])
    weights = np.concatenate([block.weights for block in scaled.samples])
    np.testing.assert_array_equal(features[:, 0], 1.0)
    np.testing.assert_allclose(np.average(features[:, 1:], axis=0, weights=weights), 0.0, atol=1e-9)
    squares = np.average(features[:, 1:] ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(squares, 1.0)


def test_a_constant_feature_is_left_out() -> None:
    raw = objective(fl.Affine(fl.Box(2)), constant=True)
    standardization = Standardization.of(raw)
    scaled = standardization.apply(raw)
    assert all((block.features[:, 2] == 0.0).all() for block in scaled.samples)
    theta = standardization.revert(raw, np.ones(raw.size))
    maps = raw.hypothesis.maps(theta, 2, 4)
    assert (maps.A[2] == 0.0).all()
    assert (maps.b[2] == 0.0).all()
    assert raw.value_and_gradient(theta)[0] == pytest.approx(
        scaled.value_and_gradient(np.ones(raw.size))[0]
    )
