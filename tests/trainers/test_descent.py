"""Algorithms 1 and 2: what they promise along the way, and what they recover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Loss, Objective
from feaslearn.trainers import AdaptiveSmoothing, GradientDescent, Trained, Trainer
from registry import example

LOSSES = [fl.Predictability(), fl.Suboptimality()]
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES, ids=["predictability", "suboptimality"])
HYPOTHESES = [
    *(fl.Affine(fl.Simplex(4)), fl.Affine(fl.Box(2)), fl.Affine(fl.L2Ball(2))),
    *(fl.Scaled(fl.Box(2)), fl.Scaled(fl.L1Ball(2))),
]
SMOOTHED = [
    *HYPOTHESES,
    *(fl.Affine(fl.L1Ball(3)), fl.Affine(fl.Hypersimplex(4, 2)), fl.Scaled(fl.L2Ball(2))),
    fl.Affine(example("polytope-triangle")),
]


def samples(seed: int = 0, n_rows: int = 30, hidden: float = 0.0) -> Block:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 2))
    decisions = features @ random.normal(size=(3, 2)) - np.sign(costs)
    decisions += 0.2 * random.normal(size=decisions.shape)
    decisions[random.random(decisions.shape) < hidden] = np.nan
    return Block(features, costs, decisions, np.full(n_rows, 1 / n_rows))


def train(trainer: Trainer, hypothesis: object, loss: Loss, rows: Block) -> Trained:
    return trainer.train(Objective(loss, hypothesis, Samples.of(rows)), np.random.default_rng(0))


# Algorithm 1


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
@pytest.mark.parametrize("loss", [*LOSSES, fl.Predictability("l1")], ids=repr)
def test_the_objective_never_rises_and_the_best_is_kept(hypothesis: object, loss: Loss) -> None:
    trainer = GradientDescent(max_iter=12, n_starts=2)
    theta, result = train(trainer, hypothesis, loss, samples())
    walk = result.history["objective"]
    assert (np.diff(walk) <= 0.0).all()
    assert walk[-1] < walk[0]
    problem = Objective(loss, hypothesis, Samples.of(samples()))
    assert result.objective == pytest.approx(problem.value_and_gradient(theta)[0])
    kept = "returned_loss" if isinstance(loss, fl.Predictability) else "objective"
    assert getattr(result, kept) == pytest.approx(min(result.history[kept]), rel=1e-9)


@EACH_LOSS
def test_scales_stay_in_their_class(loss: Loss) -> None:
    """These decisions ask for a negative scale: the best that is allowed is zero."""
    flipped = samples()._replace(costs=-samples().costs)
    trainer = GradientDescent(max_iter=15, n_starts=1)
    theta, result = train(trainer, fl.Scaled(fl.Box(2)), loss, flipped)
    assert theta[0] >= 0.0
    assert result.history["objective"][-1] == pytest.approx(result.objective, rel=1e-6)


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
    rows = samples()
    exact = rows._replace(decisions=rows.features @ np.arange(6.0).reshape(3, 2))
    zero = rows._replace(decisions=np.zeros((30, 2)))
    for each in (exact, zero):
        result = train(GradientDescent(n_starts=1), fl.Affine(fl.Simplex(2)), LOSSES[0], each)[1]
        assert result.objective < 1e-20
    assert result.status == "optimal"
    assert result.lower_bound == result.objective == 0.0


# Algorithm 2


@EACH_LOSS
@settings(max_examples=10, deadline=None)
@given(
    hypothesis=st.sampled_from(SMOOTHED),
    seed=st.integers(0, 10_000),
    hidden=st.sampled_from([0.0, 0.0, 0.2]),
)
def test_the_smoothed_loss_never_rises_while_epsilon_stays(
    loss: Loss, hypothesis: object, seed: int, hidden: float
) -> None:
    trainer = AdaptiveSmoothing(max_iter=30)
    history = train(trainer, hypothesis, loss, samples(seed, 20, hidden))[1].history
    epsilon, walk = (np.array(history[name]) for name in ("epsilon", "smoothed_loss"))
    stays = np.diff(epsilon) == 0.0
    assert (np.diff(walk)[stays] <= 0.0).all()
    assert set(epsilon[1:][~stays] / epsilon[:-1][~stays]) <= {2.0}
    # More weight on the slacks cannot make the loss smaller, and slack only helps.
    assert (walk <= np.array(history["objective"]) * (1 + 1e-9)).all()


def test_a_search_that_reaches_the_last_epsilon_has_converged() -> None:
    trainer = AdaptiveSmoothing(max_iter=5000, max_epsilon=4.0, tol=1e-4)
    result = train(trainer, fl.Affine(fl.Simplex(2)), LOSSES[0], samples())[1]
    assert result.status == "converged"
    assert max(result.history["epsilon"]) == 4.0


def smoothed(primitive: object, data: fl.Decisions, loss: Loss) -> fl.RegionRegressor:
    """Fit a set to the first 100 samples by Algorithm 2."""
    trainer = AdaptiveSmoothing()
    model = fl.RegionRegressor(
        fl.Affine(primitive), cost=data.cost, loss=loss, trainer=trainer, random_state=1
    )
    return model.fit(data.signals[:100], data.decisions[:100])


@EACH_LOSS
def test_the_noiseless_l1_ball_is_recovered(loss: Loss) -> None:
    data = fl.datasets.make_l1_ball(200, n=5, random_state=1)
    model, rest = smoothed(fl.Simplex(5), data, loss), data[100:]
    assert model.result_.objective <= 1e-5
    assert model.sample_losses(loss, rest.signals, rest.decisions).mean() <= 1e-5


@EACH_LOSS
def test_the_noiseless_ellipsoid_is_recovered(loss: Loss) -> None:
    data = fl.datasets.make_ellipsoid(200, n=2, random_state=0)
    model, rest = smoothed(fl.L2Ball(2), data, loss), data[100:]
    assert ((model.predict(rest.signals) - rest.decisions) ** 2).sum(axis=1).mean() <= 1e-6
    # The map is known up to a rotation of the ball: the shape is A A'.
    A, truth = model.parameters_["A"][0], data.forward.image(data.signals[0]).matrix
    np.testing.assert_allclose(A @ A.T, truth @ truth.T, atol=1e-2)


def test_a_set_that_no_kernel_serves_is_trained_through_cvxpy() -> None:
    hypothesis = fl.Affine(example("conic-half-disc"))
    result = train(AdaptiveSmoothing(max_iter=4), hypothesis, LOSSES[0], samples(2, 12))[1]
    walk = result.history["smoothed_loss"]
    assert walk[-1] < walk[0]
    assert result.returned_loss < result.history["returned_loss"][0]


def test_the_program_of_the_paper_gives_the_same_search() -> None:
    data = fl.datasets.make_power5(15, random_state=0)
    ours, program = (
        fl.RegionRegressor(
            fl.Affine(fl.Simplex(3)),
            cost=data.cost,
            trainer=AdaptiveSmoothing(max_iter=3, compiled=compiled),
            random_state=0,
        )
        .fit(data.signals, data.decisions)
        .result_.history
        for compiled in (True, False)
    )
    for name in ("smoothed_loss", "slack_primal", "slack_dual"):
        np.testing.assert_allclose(ours[name], program[name], rtol=1e-5, atol=1e-7)
