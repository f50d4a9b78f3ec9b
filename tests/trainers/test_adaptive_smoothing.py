"""Algorithm 2: what it promises along the way, what it recovers, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Loss, Objective
from feaslearn.trainers import AdaptiveSmoothing
from registry import example

Array = NDArray[np.float64]

LOSSES = [fl.Predictability(), fl.Suboptimality()]
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES, ids=["predictability", "suboptimality"])
HYPOTHESES = [
    fl.Affine(fl.Simplex(4)),
    fl.Affine(fl.Box(2)),
    fl.Affine(fl.L1Ball(3)),
    fl.Affine(fl.L2Ball(2)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(example("polytope-triangle")),
    fl.Scaled(fl.Box(2)),
    fl.Scaled(fl.L2Ball(2)),
]


def samples(seed: int, n_rows: int = 30, hidden: float = 0.0) -> Block:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 2))
    decisions = features @ random.normal(size=(3, 2)) - np.sign(costs)
    decisions += 0.2 * random.normal(size=decisions.shape)
    decisions[random.random(decisions.shape) < hidden] = np.nan
    return Block(features, costs, decisions, np.full(n_rows, 1 / n_rows))


def train(trainer: AdaptiveSmoothing, hypothesis: object, loss: Loss, rows: Block) -> object:
    return trainer.train(Objective(loss, hypothesis, Samples.of(rows)), np.random.default_rng(0))


# Along the way


@EACH_LOSS
@settings(max_examples=10, deadline=None)
@given(
    hypothesis=st.sampled_from(HYPOTHESES),
    seed=st.integers(0, 10_000),
    hidden=st.sampled_from([0.0, 0.0, 0.2]),
)
def test_the_smoothed_loss_never_rises_while_epsilon_stays(
    loss: Loss, hypothesis: object, seed: int, hidden: float
) -> None:
    result = train(AdaptiveSmoothing(max_iter=30), hypothesis, loss, samples(seed, 20, hidden))[1]
    epsilon, walk = (np.array(result.history[name]) for name in ("epsilon", "smoothed_loss"))
    stays = np.diff(epsilon) == 0.0
    assert (np.diff(walk)[stays] <= 0.0).all()
    assert set(epsilon[1:][~stays] / epsilon[:-1][~stays]) <= {2.0}
    # More weight on the slacks cannot make the loss smaller, and slack only helps.
    assert (
        np.array(result.history["smoothed_loss"])
        <= np.array(result.history["objective"]) * (1 + 1e-9)
    ).all()


def test_a_walk_that_reaches_the_last_epsilon_has_converged() -> None:
    trainer = AdaptiveSmoothing(max_iter=5000, max_epsilon=4.0, tol=1e-4)
    result = train(trainer, fl.Affine(fl.Simplex(2)), LOSSES[0], samples(0))[1]
    assert result.status == "converged"
    assert max(result.history["epsilon"]) == 4.0


# What it recovers


@EACH_LOSS
def test_the_noiseless_l1_ball_is_recovered(loss: Loss) -> None:
    data = fl.datasets.make_l1_ball(200, n=5, random_state=1)
    train_rows, rest = data[:100], data[100:]
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(5)),
        cost=data.cost,
        loss=loss,
        trainer=AdaptiveSmoothing(),
        random_state=1,
    ).fit(train_rows.signals, train_rows.decisions)
    assert model.result_.objective <= 1e-5
    assert model.sample_losses(loss, rest.signals, rest.decisions).mean() <= 1e-5


@EACH_LOSS
def test_the_noiseless_ellipsoid_is_recovered(loss: Loss) -> None:
    data = fl.datasets.make_ellipsoid(200, n=2, random_state=0)
    fitted, rest = data[:100], data[100:]
    model = fl.RegionRegressor(
        fl.Affine(fl.L2Ball(2)),
        cost=data.cost,
        loss=loss,
        trainer=AdaptiveSmoothing(),
        random_state=0,
    ).fit(fitted.signals, fitted.decisions)
    assert ((model.predict(rest.signals) - rest.decisions) ** 2).sum(axis=1).mean() <= 1e-6
    # The map is known up to a rotation of the ball: the shape is A A'.
    A, truth = model.parameters_["A"][0], data.forward.image(data.signals[0]).matrix
    np.testing.assert_allclose(A @ A.T, truth @ truth.T, atol=1e-2)


def test_a_set_that_no_kernel_serves_is_trained_through_cvxpy() -> None:
    rows = samples(2, n_rows=12)
    result = train(
        AdaptiveSmoothing(max_iter=4), fl.Affine(example("conic-half-disc")), LOSSES[0], rows
    )[1]
    walk = result.history["smoothed_loss"]
    assert walk[-1] < walk[0]
    assert result.returned_loss < result.history["returned_loss"][0]


def test_the_paper_s_program_gives_the_same_walk() -> None:
    data = fl.datasets.make_power5(15, random_state=0)
    ours, program = (
        fl.RegionRegressor(
            fl.Affine(fl.Simplex(3)),
            cost=data.cost,
            trainer=fl.trainers.AdaptiveSmoothing(max_iter=3, compiled=compiled),
            random_state=0,
        ).fit(data.signals, data.decisions)
        for compiled in (True, False)
    )
    for name in ("smoothed_loss", "slack_primal", "slack_dual"):
        np.testing.assert_allclose(
            ours.result_.history[name], program.result_.history[name], rtol=1e-5, atol=1e-7
        )
