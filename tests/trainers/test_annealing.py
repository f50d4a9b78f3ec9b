"""Annealing: its smooth loss, what it recovers, what it keeps away from, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Loss, Objective
from feaslearn.sets.product import Product
from feaslearn.trainers import Annealing
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge
from feaslearn.trainers.annealing import reinitialize, unused_columns
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.starts import linear_policy_of
from registry import example

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


def annealed(primitive: fl.PrimitiveSet, loss: Loss, ridge: float) -> AnnealedObjective:
    objective = Objective(loss, fl.Affine(primitive), Samples.of(samples()))
    return AnnealedObjective(objective, linear_policy_of(objective), Ridge(ridge, floor=0.05))


@EACH_SET
@pytest.mark.parametrize("loss", [fl.Predictability(), fl.Predictability("l2", squared=False)])
def test_gradient_is_that_of_finite_differences(primitive: fl.PrimitiveSet, loss: Loss) -> None:
    problem = annealed(primitive, loss, ridge=0.3)
    random = np.random.default_rng(1)
    theta, direction = random.normal(size=(2, problem.objective.size))
    _, gradient = problem.evaluate(theta, 0.5)
    ends = [problem.evaluate(theta + h * direction, 0.5)[0] for h in (1e-6, -1e-6)]
    assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


@EACH_SET
def test_cold_loss_is_that_of_returned_decisions(primitive: fl.PrimitiveSet) -> None:
    problem = annealed(primitive, fl.Predictability(), ridge=0.0)
    theta = np.random.default_rng(2).normal(size=problem.objective.size)
    expected = returned_loss(problem.objective, theta)
    away = [abs(problem.evaluate(theta, t)[0] - expected) for t in (1e-1, 1e-5)]
    assert away[1] < 1e-3 * expected
    assert away[1] < away[0]


@pytest.mark.parametrize(("p", "seed"), [(5, 0), (6, 1)])
def test_noiseless_columns_are_recovered_exactly(p: int, seed: int) -> None:
    data = fl.datasets.make_l1_ball(200, random_state=seed)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(p)), cost=data.cost, trainer=Annealing(), random_state=seed
    ).fit(data.signals[:100], data.decisions[:100])
    assert model.result_.objective <= 1e-16
    np.testing.assert_allclose(model.predict(data.signals), data.decisions, atol=1e-8)


def test_the_vacuous_optimum_is_not_taken() -> None:
    """With columns that may depend on costs, ties would explain all; decisions would be far off."""
    data = fl.datasets.make_power5(200, random_state=0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(5)), cost=data.cost, features="all", random_state=0
    ).fit(data.signals[:100], data.decisions[:100])
    policy = fl.baselines.LinearPolicy().fit(data.signals[:100], data.decisions[:100])
    ours, theirs = (
        np.mean((each.predict(data.signals[100:]) - data.decisions[100:]) ** 2)
        for each in (model, policy)
    )
    assert model.result_.tied_share == 0.0
    assert ours < 1.1 * theirs


def test_a_part_of_many_samples_chooses_and_all_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feaslearn.trainers.out_of_fold.MOST_SAMPLES", 60)
    data = fl.datasets.make_l1_ball(150, random_state=0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(5)), cost=data.cost, trainer=Annealing(), random_state=0
    ).fit(data.signals, data.decisions)
    assert model.result_.objective <= 1e-16


# The number of columns


def test_an_open_number_of_columns_is_chosen() -> None:
    data = fl.datasets.make_switch(60, random_state=0)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex("auto")), cost=data.cost, random_state=0)
    model.fit(data.signals, data.decisions)
    assert model.hypothesis_.primitive.p == 2
    assert model.hypothesis.primitive.p == "auto"
    assert model.result_.objective < 1e-9


# Every set, dead columns, and an early end


@pytest.mark.parametrize(
    ("primitive", "loss"),
    [*((each, fl.Predictability()) for each in SETS), (fl.Box(3), fl.Suboptimality())],
    ids=repr,
)
def test_every_set_is_fitted_with_both_losses(primitive: fl.PrimitiveSet, loss: Loss) -> None:
    """The linear policy is in every class; these decisions answer to costs, so that more fits."""
    objective = Objective(loss, fl.Affine(primitive), Samples.of(samples(hidden=0.0)))
    found = Annealing(n_starts=1, ridge=0.01).train(objective, np.random.default_rng(0)).result
    policy = Objective(loss, fl.Affine(fl.Simplex(1)), objective.samples)
    linear = Annealing(n_starts=1, ridge=0.0).train(policy, np.random.default_rng(0)).result
    assert found.objective < 0.8 * linear.objective


def test_a_dead_column_is_found_and_goes_through_the_worst_sample() -> None:
    problem = annealed(fl.Simplex(3), fl.Predictability(), ridge=0.0)
    rows = problem.objective.samples.head()
    A = np.zeros((3, 2, 3))
    A[0] = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])  # the third lies between the others
    dead = unused_columns(problem, A.ravel())
    np.testing.assert_array_equal(dead, [False, False, True])
    revived = reinitialize(problem, A.ravel(), dead).reshape(3, 2, 3)
    np.testing.assert_array_equal(revived[:, :, :2], A[:, :, :2])
    predicted = problem.objective.hypothesis.predict(A.ravel(), rows.features, rows.costs)
    losses = rows.weights * np.nansum((predicted - rows.decisions) ** 2, axis=1)
    worst = int(np.argmax(losses))
    seen = ~np.isnan(rows.decisions[worst])
    column = rows.features[worst] @ revived[:, :, 2]
    np.testing.assert_allclose(column[seen], rows.decisions[worst][seen], atol=1e-12)


def test_an_exact_fit_ends_the_search() -> None:
    data = fl.datasets.make_l1_ball(100, random_state=0)
    begun: list[int] = []
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(6)),
        cost=data.cost,
        trainer=Annealing(n_starts=6, ridge=0.02, callback=lambda i, _: begun.append(i)),
        random_state=0,
    ).fit(data.signals, data.decisions)
    assert model.result_.objective <= 1e-16
    assert begun.count(0) < 6


@pytest.mark.parametrize("norm", [("l1", True), ("linf", True), ("l2", False)])
def test_other_norms_end_exactly_where_samples_are_exact(norm: tuple[str, bool]) -> None:
    random = np.random.default_rng(0)
    signals = np.column_stack([random.normal(size=(60, 2)), random.random(60)])
    decisions = signals[:, 2:] * [0.5, 1.0] - np.sign(signals[:, :2])
    trainer = Annealing(n_starts=2, ridge=0.1, ridge_floor=1.0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Box(2)),
        cost=[0, 1],
        loss=fl.Predictability(*norm),  # type: ignore[arg-type]
        trainer=trainer,
        random_state=0,
    )
    assert model.fit(signals, decisions).result_.returned_loss < 1e-12
