"""Weighted least squares with gaps, against an independent solution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from feaslearn.trainers.standardize import least_squares


def example(seed: int, n_rows: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 3))])
    return features, random.normal(size=(n_rows, 2)), random.uniform(size=n_rows)


@pytest.mark.parametrize("seed", range(5))
def test_equals_scipy_with_weights_and_gaps(seed: int) -> None:
    features, targets, weights = example(seed)
    targets[np.random.default_rng(seed).uniform(size=targets.shape) < 0.3] = np.nan
    weights[::4] = 0.0
    beta = least_squares(features, targets, weights)
    for j, target in enumerate(targets.T):
        seen = ~np.isnan(target)
        roots = np.sqrt(weights[seen])
        expected = lsq_linear(features[seen] * roots[:, None], target[seen] * roots).x
        np.testing.assert_allclose(beta[:, j], expected, atol=1e-8)


def test_repeated_features_share_the_effect() -> None:
    features, targets, weights = example(4)
    beta = least_squares(np.column_stack([features, features[:, 3]]), targets, weights)
    np.testing.assert_allclose(beta[3], beta[4])
    single = least_squares(features, targets, weights)
    np.testing.assert_allclose(beta[3] + beta[4], single[3])
