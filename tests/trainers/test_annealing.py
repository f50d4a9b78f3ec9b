"""Annealing: its smooth loss, what it recovers, what it keeps away from, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.linear_model import LinearRegression

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.sets.product import Product
from feaslearn.trainers import Annealing
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import Standardization, least_squares
from feaslearn.trainers.starts import linear_policy_of, start_at_decisions
from registry import example, fit_to

SETS = [
    fl.Simplex(4),
    fl.L1Ball(3),
    fl.Box(3),
    fl.L2Ball(2),
    fl.Hypersimplex(5, 2),
    example("polytope-triangle"),
    Product([fl.Simplex(2), fl.Box(2)]),
]
EACH_SET = pytest.mark.parametrize("primitive", SETS, ids=repr)


def samples(seed: int = 0, n_rows: int = 30, hidden: float = 0.1) -> Block:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 2))
    decisions = features @ random.normal(size=(3, 2)) - np.sign(costs)
    decisions[random.random(decisions.shape) < hidden] = np.nan
    weights = random.uniform(0.5, 1.5, n_rows)
    return Block(features, costs, decisions, weights / weights.sum())


def annealed(primitive: fl.sets.PrimitiveSet, ridge: float) -> AnnealedObjective:
    objective = Objective(fl.Affine(primitive), Samples.of(samples()))
    return AnnealedObjective(objective, linear_policy_of(objective), Ridge(ridge, floor=0.05))


@EACH_SET
def test_gradient_is_that_of_finite_differences(primitive: fl.sets.PrimitiveSet) -> None:
    problem = annealed(primitive, ridge=0.3)
    random = np.random.default_rng(1)
    theta, direction = random.normal(size=(2, problem.objective.size))
    _, gradient = problem.evaluate(theta, 0.5)
    ends = [problem.evaluate(theta + h * direction, 0.5)[0] for h in (1e-6, -1e-6)]
    assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


@EACH_SET
def test_cold_loss_is_that_of_returned_decisions(primitive: fl.sets.PrimitiveSet) -> None:
    problem = annealed(primitive, ridge=0.0)
    theta = np.random.default_rng(2).normal(size=problem.objective.size)
    expected = problem.objective.value(theta)
    away = [abs(problem.evaluate(theta, t)[0] - expected) for t in (1e-1, 1e-5)]
    assert away[1] < 1e-3 * expected
    assert away[1] < away[0]


@pytest.mark.parametrize(("p", "seed"), [(5, 0), (6, 1)])
def test_noiseless_columns_are_recovered_exactly(p: int, seed: int) -> None:
    data = fl.datasets.make_l1_ball(200, random_state=seed)
    model = fit_to(data[:100], fl.Affine(fl.Simplex(p)), trainer=Annealing(), random_state=seed)
    assert model.result_.objective <= 1e-16
    np.testing.assert_allclose(model.predict(data.signals), data.decisions, atol=1e-8)


def test_the_vacuous_optimum_is_not_taken() -> None:
    """With columns that may depend on costs, ties would explain all; decisions would be far off."""
    data = fl.datasets.make_power5(200, random_state=0)
    model = fit_to(data[:100], fl.Affine(fl.Simplex(5)), features="all")
    policy = LinearRegression().fit(data.signals[:100], data.decisions[:100])
    ours, theirs = (
        np.mean((each.predict(data.signals[100:]) - data.decisions[100:]) ** 2)
        for each in (model, policy)
    )
    assert model.result_.tied_share == 0.0
    assert ours < 1.1 * theirs


def test_a_part_of_many_samples_chooses_and_all_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feaslearn.trainers.out_of_fold.MOST_SAMPLES", 60)
    data = fl.datasets.make_l1_ball(150, random_state=0)
    model = fit_to(data, fl.Affine(fl.Simplex(5)), trainer=Annealing())
    assert model.result_.objective <= 1e-16


# Every set, dead columns, and an early end


@EACH_SET
def test_every_set_is_fitted(primitive: fl.sets.PrimitiveSet) -> None:
    """The linear policy is in every class; these decisions answer to costs, so that more fits."""
    objective = Objective(fl.Affine(primitive), Samples.of(samples(hidden=0.0)))
    found = Annealing(n_starts=1, ridge=0.01).train(objective, np.random.default_rng(0)).result
    policy = Objective(fl.Affine(fl.Simplex(1)), objective.samples)
    linear = Annealing(n_starts=1, ridge=0.0).train(policy, np.random.default_rng(0)).result
    assert found.objective < 0.8 * linear.objective


def test_an_exact_fit_ends_the_search(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="feaslearn")
    data = fl.datasets.make_l1_ball(100, random_state=0)
    model = fit_to(data, fl.Affine(fl.Simplex(6)), trainer=Annealing(n_starts=6, ridge=0.02))
    assert model.result_.objective <= 1e-16
    assert caplog.text.count("Annealing: start") < 6


# Limits, threads, starts that are given, and messages

NOISY, FOUR = fl.datasets.make_power5(60, noise=0.1, random_state=0), fl.Affine(fl.Simplex(4))


@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_the_limit_on_iterations(max_iter: int) -> None:
    trainer = Annealing(max_iter, tol=0.0, n_starts=1, ridge=0.1)
    assert fit_to(NOISY, FOUR, trainer=trainer).result_.status == "iteration limit"


def test_the_best_of_all_starts_is_kept() -> None:
    result, one = (
        fit_to(NOISY, FOUR, trainer=Annealing(20, n_starts=count, ridge=0.1)).result_
        for count in (4, 1)
    )
    assert result.n_iter > one.n_iter
    assert result.objective <= one.objective * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_says_where_a_search_begins(seed: int) -> None:
    problem = annealed(fl.L1Ball(3), ridge=0.0).objective
    one, same, other = (
        start_at_decisions(problem, np.random.default_rng(each)) for each in (seed, seed, 9)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)
    assert np.isfinite(one).all()


# Standardised features are the same objective in other parameters; least squares with gaps.

HYPOTHESES = [
    fl.Affine(fl.Simplex(3)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(fl.Box(2)),
    fl.Affine(fl.L2Ball(3)),
]


def objective(hypothesis: object) -> Objective:
    random = np.random.default_rng(0)
    signals = random.normal(size=(40, 3)) * [1.0, 50.0, 1e-3] + [0.0, 200.0, -5.0]
    features = np.column_stack([np.ones(40), signals])
    whole = Block(features, *random.normal(size=(2, 40, 2)), random.uniform(size=40))
    return Objective(hypothesis, Samples.of(whole, 16))


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
def test_both_parametrisations_have_the_same_objective(hypothesis: object) -> None:
    raw = objective(hypothesis)
    standardization = Standardization.of(raw)
    scaled = standardization.apply(raw)
    for seed in range(5):
        theta = np.random.default_rng(seed).normal(size=raw.size)
        there = scaled.value(theta)
        back = raw.value(standardization.revert(raw, theta))
        assert back == pytest.approx(there, rel=1e-9)
        for one, other in zip(raw.samples, scaled.samples, strict=True):
            np.testing.assert_allclose(
                hypothesis.predict(standardization.revert(raw, theta), one.features, one.costs),
                hypothesis.predict(theta, other.features, other.costs),
                atol=1e-9,
            )


def regression(seed: int, n_rows: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 3))])
    return features, random.normal(size=(n_rows, 2)), random.uniform(size=n_rows)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_with_weights_and_gaps(seed: int) -> None:
    features, targets, weights = regression(seed)
    targets[np.random.default_rng(seed).uniform(size=targets.shape) < 0.3] = np.nan
    weights[::4] = 0.0
    beta = least_squares(features, targets, weights)
    for j, target in enumerate(targets.T):
        seen = ~np.isnan(target)
        roots = np.sqrt(weights[seen])
        expected = lsq_linear(features[seen] * roots[:, None], target[seen] * roots).x
        np.testing.assert_allclose(beta[:, j], expected, atol=1e-8)


def test_repeated_features_share_the_effect() -> None:
    features, targets, weights = regression(4)
    beta = least_squares(np.column_stack([features, features[:, 3]]), targets, weights)
    np.testing.assert_allclose(beta[3], beta[4])
    single = least_squares(features, targets, weights)
    np.testing.assert_allclose(beta[3] + beta[4], single[3])
