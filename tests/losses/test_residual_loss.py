"""A loss of the residual in two functions, and what trainers rely on in every loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses import Hypothesis
from feaslearn.losses import Loss, ResidualLoss

REGIONS = [
    *(fl.Affine(each) for each in (fl.Simplex(3), fl.Box(2), fl.L2Ball(2))),
    fl.Scaled(fl.Box(2)),
    fl.Minkowski.box(2),
]


class Huber(ResidualLoss):
    """Squared near zero, straight from ``at`` on."""

    def __init__(self, at: float = 0.5) -> None:
        self.at = at

    def lengths(self, residuals: Any) -> Any:
        size = np.abs(residuals)
        return np.where(size <= self.at, size**2, self.at * (2 * size - self.at)).sum(axis=1)

    def slopes(self, residuals: Any) -> Any:
        return 2.0 * np.clip(residuals, -self.at, self.at)


def drawn(hypothesis: Hypothesis, seed: int = 0, rows: int = 6) -> tuple[np.ndarray, Block]:
    """Return random parameters and rows of two decisions."""
    rng = np.random.default_rng(seed)
    theta = np.abs(rng.normal(size=hypothesis.layout(2, 3).size))
    features = np.column_stack([np.ones(rows), rng.uniform(size=(rows, 2))])
    costs, decisions = rng.normal(size=(2, rows, 2))
    return theta, Block(features, costs, decisions, rng.uniform(0.5, 2.0, size=rows))


@pytest.mark.parametrize("loss", [fl.Predictability("linf"), fl.Suboptimality(), Huber()], ids=repr)
@pytest.mark.parametrize("hypothesis", REGIONS, ids=repr)
def test_samples(loss: Loss, hypothesis: Hypothesis) -> None:
    theta, block = drawn(hypothesis)
    values = loss.samples(hypothesis, theta, block)
    assert values.shape == block.weights.shape
    assert (values >= 0.0).all()
    best = hypothesis.predict(theta, block.features, block.costs)
    assert loss.samples(hypothesis, theta, block._replace(decisions=best)).max() <= 1e-6
    unseen = block._replace(decisions=np.full_like(block.decisions, np.nan))
    assert np.abs(loss.samples(hypothesis, theta, unseen)).max() <= 1e-6
    maps = hypothesis.as_maps()
    if maps is not None:
        value, gradient = loss.value_and_gradient(maps, theta, block)
        assert value == pytest.approx(block.weights @ values, abs=1e-6)
        halves = [block.rows(block.weights < 1.0), block.rows(block.weights >= 1.0)]
        parts = [loss.value_and_gradient(maps, theta, half)[1] for half in halves]
        np.testing.assert_allclose(sum(parts), gradient, atol=1e-6)


@pytest.mark.parametrize("hypothesis", REGIONS[:4], ids=repr)
@pytest.mark.parametrize("hidden", [False, True])
def test_the_gradient_is_that_of_the_value(hypothesis: Any, hidden: bool) -> None:
    compared = 0
    for seed in range(6):
        theta, block = drawn(hypothesis, seed, rows=3)
        block.decisions[hidden, 0] = np.nan if hidden else block.decisions[0, 0]
        gradient = Huber().value_and_gradient(hypothesis, theta, block)[1]
        for j in range(len(theta)):
            after, here, before = (
                Huber().value_and_gradient(hypothesis, theta + move, block)[0]
                for move in np.array([[1e-6], [0.0], [-1e-6]]) * np.eye(len(theta))[j]
            )
            if abs(after - 2.0 * here + before) <= 1e-10:  # no kink or jump
                assert (after - before) / 2e-6 == pytest.approx(gradient[j], rel=1e-5, abs=1e-5)
                compared += 1
    assert compared > 20


@pytest.mark.parametrize(
    "hypothesis", [None, fl.Facets(), fl.Scaled(fl.Box(2)), fl.Affine(fl.Simplex(2))]
)
def test_trainers_serve_it(hypothesis: Hypothesis | None) -> None:
    data = fl.datasets.make_switch(15, random_state=0)
    trainer = fl.trainers.GradientDescent(max_iter=50, n_starts=1) if hypothesis is None else "auto"
    model = fl.RegionRegressor(
        hypothesis, cost=data.cost, loss=Huber(), trainer=trainer, random_state=0
    )
    result = model.fit(data.signals, data.decisions).result_
    assert 0.0 <= result.returned_loss <= 0.5  # the mean decision loses 0.5


@pytest.mark.parametrize("hypothesis", [fl.Minkowski.box(2), fl.Ternary(fl.Box(2))])
def test_where_no_trainer_serves_it_each_says_why(hypothesis: Hypothesis) -> None:
    data = fl.datasets.make_switch(30, random_state=0)
    model = fl.RegionRegressor(hypothesis, cost=data.cost, loss=Huber())
    with pytest.raises(UnsupportedError, match=r"(?s)no trainer serves .* with Huber\(\).*Convex:"):
        model.fit(data.signals, data.decisions)
