"""Containment in known constraints: the rows that matter are found, images are linear in theta."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Shard
from feaslearn.exceptions import DataError
from feaslearn.runs import Clock
from feaslearn.trainers.contained import _within_rows
from feaslearn.trainers.contained_rows import linear_in_theta


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_that_matter_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    D, x = rng.normal(size=(6, 6)), rng.normal(size=6)
    R = rng.normal(size=(3_000, 6))
    r = R @ rng.normal(size=6) - rng.exponential(size=3_000)
    found = _within_rows(D, x, R, r, np.zeros(6), Clock())
    v = cp.Variable(6)
    whole = cp.Problem(cp.Minimize(cp.sum_squares(D @ v - x)), [R @ v >= r])
    whole.solve(solver="CLARABEL")
    assert ((R @ np.linalg.solve(D, x)) < r).any()  # they do matter
    assert (R @ found - r).min() >= -1e-8
    np.testing.assert_allclose(((D @ found - x) ** 2).sum(), whole.value, rtol=1e-5)


def test_rows_that_contradict_each_other_are_named() -> None:
    R = np.vstack([np.repeat([[1.0, 0.0]], 50, axis=0), [[-1.0, 0.0]]])
    with pytest.raises(DataError, match="contradict"):
        _within_rows(np.eye(2), np.zeros(2), R, np.full(51, 1.0), np.full(2, 9.0), Clock())


@pytest.mark.parametrize(
    "hypothesis",
    [fl.Affine(fl.Simplex(4)), fl.Affine(fl.Box(2)), fl.Scaled(fl.L1Ball(3))],
    ids=["simplex", "box", "scaled"],
)
def test_decisions_of_images_are_linear_in_theta(hypothesis: Any) -> None:
    rng = np.random.default_rng(0)
    n, k, count = 3, 2, 7
    linear = linear_in_theta(hypothesis, n, k)
    features, costs = rng.normal(size=(count, k)), rng.normal(size=(count, n))
    theta = rng.uniform(0.5, 1.0, size=linear.free().size)
    samples = Shard(features, costs, np.zeros((count, n)), np.ones(count))
    decisions = linear.design(theta, samples) @ theta
    A, b = hypothesis.maps(theta, n, k).at(features)
    z = hypothesis.latent(n).argmin(np.einsum("inp,in->ip", A, costs))
    np.testing.assert_allclose(decisions, np.einsum("inp,ip->in", A, z) + b, atol=1e-12)
