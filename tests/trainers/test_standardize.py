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
