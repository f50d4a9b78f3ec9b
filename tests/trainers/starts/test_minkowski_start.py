"""Starts at the vertices of a Minkowski sum: what they predict, and what training makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.losses import Objective
from feaslearn.trainers import Annealing, Convex
from feaslearn.trainers.starts import MinkowskiStart

SUM = fl.Minkowski.hypersimplices(3)


def fitted(
    data: fl.Decisions, hypothesis: fl.Affine | fl.Minkowski, trainer: object = "auto"
) -> fl.RegionRegressor:
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=0)
    return model.fit(data.signals, data.decisions)


def rows(seed: int, count: int = 80) -> Block:
    """Return samples of power5; two orders of price occur there, so two vertices are visited."""
    data = fl.datasets.make_power5(count, random_state=seed)
    features = np.column_stack([np.ones(count), data.signals[:, 3:]])
    return Block(features, data.cost_matrix, data.decisions, np.full(count, 1.0 / count))


def started(p: int, given: bool) -> tuple[np.ndarray, np.ndarray, Block]:
    """Return what a first start predicts, what its sum predicts, and the samples."""
    block = rows(0)
    samples = Samples.of(block)
    random = np.random.default_rng(7)
    theta = Convex().train(Objective(fl.Predictability(), SUM, samples), random).theta
    start = MinkowskiStart(SUM, theta if given else None)
    objective = Objective(fl.Predictability(), fl.Affine(fl.Simplex(p)), samples)
    found = start.parameters(objective, np.random.default_rng(7), 0)
    known = block.features, block.costs
    predicted = objective.hypothesis.predict(found, *known)
    return predicted, SUM.predict(theta, *known), block


@pytest.mark.parametrize("p", [2, 5])
@pytest.mark.parametrize("given", [False, True])
def test_the_first_start_predicts_what_the_sum_predicts(p: int, given: bool) -> None:
    predicted, expected, _ = started(p, given)
    np.testing.assert_allclose(predicted, expected, atol=1e-6)


def test_fewer_columns_than_vertices_take_those_visited_most() -> None:
    predicted, expected, samples = started(1, given=True)
    usual = samples.costs[:, 0] < samples.costs[:, 1]
    usual = usual if usual.mean() > 0.5 else ~usual
    np.testing.assert_allclose(predicted[usual], expected[usual], atol=1e-6)
    assert np.abs(predicted - expected)[~usual].max() > 0.1


def test_what_is_refused() -> None:
    data = fl.datasets.make_power5(30, random_state=0)
    with pytest.raises(UnsupportedError, match="columns of a Simplex"):
        fitted(data, fl.Affine(fl.Box(2)), Annealing(start=MinkowskiStart(SUM), ridge=0.1))
    for start, named in (
        (MinkowskiStart(fl.Affine(fl.Simplex(2))), "is not a Minkowski"),
        (MinkowskiStart(theta=[1.0]), "needs the hypothesis"),
        (MinkowskiStart(SUM, theta=["one"]), "finite numbers"),
        (MinkowskiStart(SUM, theta=[1.0, 2.0]), "has 2 entries"),
    ):
        with pytest.raises(DataError, match=named):
            fitted(data, fl.Affine(fl.Simplex(2)), Annealing(start=start, ridge=0.1))
