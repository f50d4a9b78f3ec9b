"""The shape of the ridge, and how it is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.trainers import Annealing
from feaslearn.trainers.annealed_objective import CONSTANT_SHARE, Ridge

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 6), st.integers(1, 4), st.floats(1e-4, 1.0))
def test_metric_is_positive_and_least_where_the_policy_moves_most(
    seed: int, k: int, n: int, floor: float
) -> None:
    beta = np.random.default_rng(seed).normal(size=(k, n))
    metric = Ridge(2.0, floor).metric(beta)
    np.testing.assert_allclose(metric, metric.T, atol=1e-12)
    assert metric[0, 0] == 2.0 * CONSTANT_SHARE
    if k == 1:
        return
    slopes = np.linalg.svd(beta[1:])[0]
    np.testing.assert_allclose(slopes[:, 0] @ metric[1:, 1:] @ slopes[:, 0], 2.0)
    strengths = np.linalg.eigvalsh(metric[1:, 1:])
    assert strengths.min() == pytest.approx(2.0)
    assert strengths.max() <= 2.0 / floor * (1.0 + 1e-9)


def test_an_even_ridge_is_the_identity_and_a_policy_without_slopes_has_one() -> None:
    beta = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(Ridge(0.5).metric(beta)[1:, 1:], 0.5 * np.eye(3), atol=1e-12)
    flat = Ridge(1.0, 0.01).metric(np.vstack([beta[0], np.zeros((3, 2))]))
    assert np.isfinite(flat).all()


def by_floor(data: fl.Decisions, floor: float | str) -> fl.RegionRegressor:
    trainer = Annealing(ridge_floor=floor)  # type: ignore[arg-type]
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(4)), cost=data.cost, trainer=trainer, random_state=0
    )
    return model.fit(data.signals[:60], data.decisions[:60])


def total_of_many(slopes: np.ndarray) -> fl.Decisions:
    """Two plants share a demand that is the total of six; the cheaper one serves twice as much.

    With noise, without which every ridge ends at the exact fit.
    """
    random = np.random.default_rng(3)
    costs, demands = random.uniform(size=(260, 2)), random.uniform(size=(260, 6))
    total = (demands @ slopes)[:, None]
    decisions = np.where(costs == costs.min(axis=1, keepdims=True), 2.0, 1.0) * total
    decisions += 0.3 * random.normal(size=decisions.shape)
    return fl.Decisions.from_arrays(np.hstack([costs, demands]), decisions, cost=[0, 1])


def test_shape_follows_the_policy_where_decisions_follow_a_total() -> None:
    data = total_of_many(np.ones(6))
    model = by_floor(data, "auto")
    assert model.result_.details["floor of the ridge"] < 0.1
    errors = [
        np.mean((by_floor(data, floor).predict(data.signals[60:]) - data.decisions[60:]) ** 2)
        for floor in (0.001, 1.0)
    ]
    assert errors[0] < errors[1]
