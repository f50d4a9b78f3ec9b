"""Gradient descent: what it promises along the way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Objective
from feaslearn.trainers import GradientDescent

HYPOTHESES = [
    fl.Affine(fl.Simplex(4)),
    fl.Affine(fl.Box(2)),
    fl.Affine(fl.L2Ball(2)),
    fl.Scaled(fl.Box(2)),
    fl.Scaled(fl.L1Ball(2)),
]
LOSSES = [fl.Predictability(), fl.Predictability("l1"), fl.Suboptimality()]


def samples(seed: int = 0, n_rows: int = 30) -> Block:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 2))
    decisions = features @ random.normal(size=(3, 2)) - np.sign(costs)
    decisions += 0.2 * random.normal(size=decisions.shape)
    return Block(features, costs, decisions, np.full(n_rows, 1 / n_rows))


def train(trainer: GradientDescent, hypothesis: object, loss: object, seed: int = 0) -> object:
    problem = Objective(loss, hypothesis, Samples.of(samples()))
    return trainer.train(problem, np.random.default_rng(seed))


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_objective_never_rises_and_the_best_is_kept(hypothesis: object, loss: object) -> None:
    theta, result, _ = train(GradientDescent(max_iter=12, n_starts=2), hypothesis, loss)
    walk = result.history["objective"]
    assert (np.diff(walk) <= 0.0).all()
    assert walk[-1] < walk[0]
    problem = Objective(loss, hypothesis, Samples.of(samples()))
    assert result.objective == pytest.approx(problem.value_and_gradient(theta)[0])
    assert min(walk) <= result.objective * (1 + 1e-9)
    kept = "returned_loss" if isinstance(loss, fl.Predictability) else "objective"
    assert getattr(result, kept) == pytest.approx(min(result.history[kept]), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_scales_stay_in_their_class(loss: object) -> None:
    """These decisions ask for a negative scale: the best that is allowed is zero."""
    whole = samples()
    flipped = Objective(loss, fl.Scaled(fl.Box(2)), Samples.of(whole._replace(costs=-whole.costs)))
    trainer = GradientDescent(max_iter=15, n_starts=1)
    theta, result, _ = trainer.train(flipped, np.random.default_rng(0))
    assert theta[0] >= 0.0
    assert result.history["objective"][-1] == pytest.approx(result.objective, rel=1e-6)
    assert flipped.value_and_gradient(theta)[0] == pytest.approx(result.objective)


@pytest.mark.parametrize("primitive", [fl.Box(2), fl.L1Ball(2)], ids=repr)
def test_finds_the_optimum_of_a_convex_suboptimality(primitive: object) -> None:
    problem = Objective(fl.Suboptimality(), fl.Scaled(primitive), Samples.of(samples()))
    bounds = [(1e-9, None)] + 6 * [(None, None)]
    expected = minimize(
        problem.value_and_gradient, np.ones(7), jac=True, method="L-BFGS-B", bounds=bounds
    )
    result = GradientDescent(n_starts=1).train(problem, np.random.default_rng(0)).result
    assert result.objective == pytest.approx(expected.fun, rel=1e-4)


def test_a_region_that_explains_all_is_recognised_as_optimal() -> None:
    whole = samples()
    exact = whole._replace(decisions=whole.features @ np.arange(6.0).reshape(3, 2))
    problem = Objective(fl.Predictability(), fl.Affine(fl.Simplex(2)), Samples.of(exact))
    result = GradientDescent(n_starts=1).train(problem, np.random.default_rng(0)).result
    assert result.objective < 1e-20
    zero = exact._replace(decisions=np.zeros((30, 2)))
    problem = Objective(fl.Predictability(), fl.Affine(fl.Simplex(2)), Samples.of(zero))
    result = GradientDescent(n_starts=3).train(problem, np.random.default_rng(0)).result
    assert result.status == "optimal"
    assert result.lower_bound == result.objective == 0.0
