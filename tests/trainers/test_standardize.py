"""Standardised features are the same objective in other parameters; least squares with gaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import Standardization, least_squares

HYPOTHESES = [
    fl.Affine(fl.Simplex(3)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(fl.Box(2)),
    fl.Affine(fl.L2Ball(3)),
]


def objective(hypothesis: object) -> Objective:
    random = np.random.default_rng(0)
    signals = random.normal(size=(40, 3)) * [1.0, 50.0, 1e-3] + [0.0, 200.0, -5.0]
    features = np.column_stack([np.ones(40), signals])
    whole = Block(features, *random.normal(size=(2, 40, 2)), random.uniform(size=40))
    return Objective(hypothesis, Samples.of(whole, 16))


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
def test_both_parametrisations_have_the_same_objective(hypothesis: object) -> None:
    raw = objective(hypothesis)
    standardization = Standardization.of(raw)
    scaled = standardization.apply(raw)
    for seed in range(5):
        theta = np.random.default_rng(seed).normal(size=raw.size)
        there = scaled.value(theta)
        back = raw.value(standardization.revert(raw, theta))
        assert back == pytest.approx(there, rel=1e-9)
        for one, other in zip(raw.samples, scaled.samples, strict=True):
            np.testing.assert_allclose(
                hypothesis.predict(standardization.revert(raw, theta), one.features, one.costs),
                hypothesis.predict(theta, other.features, other.costs),
                atol=1e-9,
            )


def regression(seed: int, n_rows: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 3))])
    return features, random.normal(size=(n_rows, 2)), random.uniform(size=n_rows)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_with_weights_and_gaps(seed: int) -> None:
    features, targets, weights = regression(seed)
    targets[np.random.default_rng(seed).uniform(size=targets.shape) < 0.3] = np.nan
    weights[::4] = 0.0
    beta = least_squares(features, targets, weights)
    for j, target in enumerate(targets.T):
        seen = ~np.isnan(target)
        roots = np.sqrt(weights[seen])
        expected = lsq_linear(features[seen] * roots[:, None], target[seen] * roots).x
        np.testing.assert_allclose(beta[:, j], expected, atol=1e-8)


def test_repeated_features_share_the_effect() -> None:
    features, targets, weights = regression(4)
    beta = least_squares(np.column_stack([features, features[:, 3]]), targets, weights)
    np.testing.assert_allclose(beta[3], beta[4])
    single = least_squares(features, targets, weights)
    np.testing.assert_allclose(beta[3] + beta[4], single[3])
