"""Algorithm 2: what it promises along the way, what it recovers, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.losses import Loss, Objective
from feaslearn.trainers import AdaptiveSmoothing, Iterate
from feaslearn.trainers.returned_decisions import returned_loss, tied_share
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


def test_epsilon_is_doubled_when_the_slack_has_settled() -> None:
    result = train(
        AdaptiveSmoothing(max_iter=120, tol=0.0), fl.Affine(fl.Simplex(3)), LOSSES[0], samples(0)
    )[1]
    names = ("epsilon", "slack_primal", "slack_dual")
    epsilon, primal, dual = (np.array(result.history[name]) for name in names)
    assert epsilon[-1] >= 8.0
    decisions = samples(0).decisions
    scale = ((decisions - decisions.mean(axis=0)) ** 2).sum(axis=1).mean()
    moved = (np.abs(np.diff(primal)) + np.abs(np.diff(dual))) / scale
    stays = np.diff(epsilon) == 0.0
    assert (moved[stays] >= 0.01 / 10 ** (np.log2(epsilon[:-1][stays]) + 1)).all()


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


@pytest.mark.soak
def test_programs_of_several_starts_do_not_meet() -> None:
    rows, hypothesis = samples(2, n_rows=8), fl.Affine(example("conic-half-disc"))
    found = [
        AdaptiveSmoothing(max_iter=3, n_starts=3)
        .train(Objective(LOSSES[0], hypothesis, Samples.of(rows), n_jobs), np.random.default_rng(0))
        .theta
        for n_jobs in (1, 3)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


# What it refuses


def test_everything_that_it_cannot_train_is_named_at_once() -> None:
    problem = Objective(fl.Predictability("l1"), fl.Facets(), Samples.of(samples(0)))
    with pytest.raises(UnsupportedError) as caught:
        AdaptiveSmoothing().train(problem, np.random.default_rng(0))
    said = str(caught.value)
    assert "Facets" in said
    assert "FacetLearning" in said
    assert "Predictability(norm='l1')" in said
    assert "GradientDescent" in said


def test_a_solver_that_fails_is_said_in_our_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from feaslearn.formulations import smoothed_program

    hopeless = (("CLARABEL", {"max_iter": 1}),)
    monkeypatch.setattr(smoothed_program.SmoothedProgram.__init__, "__defaults__", (hopeless,))
    with pytest.raises(SolverError, match="no solver solved the smoothed program"):
        train(AdaptiveSmoothing(), fl.Affine(example("conic-half-disc")), LOSSES[0], samples(0))


# The vacuous optimum


def vacuous(features: Array, costs: Array, decisions: Array, n_columns: int) -> Array:
    """Return maps with columns ``b(s) + R M_j c``, all M_j skew: they cost ``c'b(s)``, all of them.

    The first feature is the constant and the next n are the costs, so the map of cost i holds the
    i-th column of each ``M_j``. The common part b(s) is fitted to what the decisions cost.
    """
    n = costs.shape[1]
    lengths = np.linalg.norm(costs, axis=1)
    unit = costs / lengths[:, None]
    table = np.einsum("ik,in->ikn", features, unit).reshape(len(features), -1)
    beta = np.linalg.lstsq(table, np.einsum("in,in->i", unit, decisions), rcond=None)[0]
    A = np.repeat(beta.reshape(-1, n)[:, :, None], n_columns, axis=2)
    random = np.random.default_rng(0)
    for j in range(n_columns):
        half = random.normal(size=(n, n))
        A[1 : n + 1, :, j] += 20.0 * (half - half.T).T
    return A.ravel()


def test_columns_that_depend_on_the_cost_can_make_predictability_vacuous() -> None:
    data = fl.datasets.make_power5(300, random_state=0)
    costs, decisions = data.cost_matrix.copy(), data.decisions.copy()
    features = np.column_stack([np.ones(300), data.signals])
    np.testing.assert_array_equal(features[:, 1:4], costs)
    theta = vacuous(features, costs, decisions, 8)
    problem = Objective(
        fl.Predictability(),
        fl.Affine(fl.Simplex(8)),
        Samples.of(Block(features, costs, decisions, np.full(300, 1 / 300))),
    )
    policy = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    linear = ((policy.predict(data.signals) - data.decisions) ** 2).sum(axis=1).mean()
    assert problem.value(theta) < 0.1 * linear
    assert returned_loss(problem, theta) > 100.0 * linear
    assert tied_share(problem, theta) == 1.0


def test_a_vacuous_start_is_not_kept() -> None:
    """With features="all" a search may begin at ties; what is kept returns better decisions."""
    data = fl.datasets.make_power5(100, random_state=0)
    seen: list[float] = []

    def watch(i: int, iterate: Iterate) -> None:
        seen.append(iterate.loss)

    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(6)),
        cost=data.cost,
        features="all",
        trainer=AdaptiveSmoothing(max_iter=100, callback=watch),
        random_state=2,
    ).fit(data.signals, data.decisions)
    result = model.result_
    assert result.returned_loss == pytest.approx(min(result.history["returned_loss"]), rel=1e-6)
    policy = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    linear = ((policy.predict(data.signals) - data.decisions) ** 2).sum(axis=1).mean()
    assert result.returned_loss <= 1.05 * linear
    assert len(seen) == result.n_iter + 1


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
