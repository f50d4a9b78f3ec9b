"""Losses are not negative, and zero exactly for decisions that are optimal in the region."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.data import Block

SETS = (fl.Simplex(3), fl.Box(2), fl.L1Ball(2), fl.L2Ball(2), fl.Hypersimplex(4, 2))
LOSSES = (fl.Predictability(), fl.Predictability("l1", squared=False), fl.Suboptimality())


@given(st.integers(0, 2**32 - 1), st.sampled_from(SETS), st.sampled_from(LOSSES))
def test_losses(seed: int, primitive: fl.Simplex, loss: fl.Predictability) -> None:
    random = np.random.default_rng(seed)
    hypothesis, n, k, count = fl.Affine(primitive), 2, 2, 4
    theta = random.normal(size=hypothesis.layout(n, k).size)
    features = np.column_stack([np.ones(count), random.normal(size=count)])
    costs = random.normal(size=(count, n))
    decisions = random.normal(size=(count, n))
    weights = np.full(count, 1.0 / count)
    values = loss.samples(hypothesis, theta, Block(features, costs, decisions, weights))
    assert (values >= 0.0).all()
    optimal = hypothesis.predict(theta, features, costs)
    zero = loss.samples(hypothesis, theta, Block(features, costs, optimal, weights))
    size = np.abs(theta).sum() + 1.0
    assert (zero <= 1e-7 * size).all()
    # Dearer than the optimum by much, or outside: the loss says so.
    worst = hypothesis.predict(theta, features, -costs)
    dearer = np.einsum("ij,ij->i", costs, worst - optimal) > 1e-3
    lost = loss.samples(hypothesis, theta, Block(features, costs, worst, weights))
    assert (lost[dearer] > 0.0).all()
