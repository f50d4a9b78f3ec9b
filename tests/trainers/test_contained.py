"""Containment in known constraints: the rows that matter are found, images are linear in theta."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import nnls

import feaslearn as fl
from feaslearn.data import Shard
from feaslearn.exceptions import DataError
from feaslearn.known import KnownLimits
from feaslearn.runs import Run
from feaslearn.trainers.contained import Rows, _within_rows
from feaslearn.trainers.contained_rows import linear_in_theta


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_that_matter_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    D, x = np.triu(rng.normal(size=(6, 6))) + 2.0 * np.eye(6), rng.normal(size=6)
    R = rng.normal(size=(3_000, 6))
    r = R @ rng.normal(size=6) - rng.exponential(size=3_000)
    found = _within_rows(D, x, lambda v: R @ v - r, lambda i: Rows(R[i], r[i]), Run())
    v = cp.Variable(6)
    whole = cp.Problem(cp.Minimize(cp.sum_squares(D @ v - x)), [R @ v >= r])
    whole.solve(solver="CLARABEL")
    assert ((R @ np.linalg.solve(D, x)) < r).any()  # they do matter
    assert (R @ found - r).min() >= -1e-8
    np.testing.assert_allclose(((D @ found - x) ** 2).sum(), whole.value, rtol=1e-5)
    # Stationary: what is left is a combination of rows that are met, none of them negative.
    met = R @ found - r <= 1e-9
    _, rest = nnls(R[met].T, D.T @ (D @ found - x))
    assert rest <= 1e-9


def test_rows_that_contradict_each_other_are_named() -> None:
    R = np.vstack([np.repeat([[1.0, 0.0]], 50, axis=0), [[-1.0, 0.0]]])
    r = np.ones(51)
    with pytest.raises(DataError, match="contradict"):
        _within_rows(np.eye(2), np.zeros(2), lambda v: R @ v - r, lambda i: Rows(R[i], r[i]), Run())


@pytest.mark.parametrize(
    "hypothesis",
    [
        fl.Affine(fl.Simplex(4)),
        fl.Affine(fl.Box(2)),
        fl.Scaled(fl.L1Ball(3)),
        fl.Minkowski.hypersimplices(3),
        fl.Minkowski.pairs(3, scale="constant"),
        fl.Minkowski.pairs(3, scale="shared"),
    ],
    ids=["simplex", "box", "scaled", "sum", "constant", "shared"],
)
def test_decisions_and_values_are_linear_in_theta(hypothesis: Any) -> None:
    rng = np.random.default_rng(0)
    n, k, count = 3, 2, 7
    features, costs = rng.uniform(size=(count, k)), rng.normal(size=(count, n))
    known = KnownLimits(
        rng.normal(size=(1, n)),
        np.zeros((0, n)),
        rng.normal(size=(count, 1)),
        np.full((count, n), -5.0),
        np.full((count, n), np.inf),
        np.zeros((count, 0)),
    )
    linear = linear_in_theta(hypothesis, features, known)
    theta = rng.uniform(0.5, 1.0, size=hypothesis.layout(n, k).size)
    samples = Shard(features, costs, np.zeros((count, n)), np.ones(count))
    decisions = linear.design(theta, samples) @ theta
    np.testing.assert_allclose(decisions, hypothesis.predict(theta, features, costs), atol=1e-12)
    values, asked = linear.values(theta), np.isfinite(linear.right)
    assert values.shape == linear.right.shape
    rows, kinds = np.nonzero(asked)
    written = linear.rows(theta, rows, kinds) @ theta
    np.testing.assert_allclose(written, values[rows, kinds], atol=1e-12)
    # Of all vertices or none, the least value is that of the minimiser in its direction.
    for j, d in enumerate(linear.limits.d):
        least = hypothesis.predict(theta, features, np.tile(d, (count, 1))) @ d
        own = values[:, j] if linear.rounds == 1 else values[:, j :: len(linear.limits.d)]
        own = own if own.ndim == 1 else own[:, : len(linear.vertices)].min(axis=1)
        np.testing.assert_allclose(own, least, atol=1e-12)
