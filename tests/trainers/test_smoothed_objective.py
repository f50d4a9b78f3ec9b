"""The smoothed objective: kernels against programs, gradients against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.formulations import SmoothedPredictability, SmoothedSuboptimality
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Loss, Objective
from feaslearn.trainers.adaptive_smoothing import Smoothed, SmoothedObjective
from losses.loss_registry import sample

Array = NDArray[np.float64]

SERVED = (
    *("simplex-5", "box-vector-limits", "l1-ball-4", "l2-ball-3", "hypersimplex-middle"),
    *("polytope-flow", "product-polyhedral"),
)
#: Sets with few points, and those of which several entries say the same.
ODD = ("simplex-1", "box-degenerate", "l2-ball-1", "hypersimplex-all", "polytope-point")
UNSERVED = ("conic-half-disc", "polytope-big")
LOSSES = [fl.Predictability(), fl.Suboptimality(normalize_cost=False)]
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES, ids=["predictability", "suboptimality"])


def problem(
    name: str, loss: Loss, rows: int = 12, hidden: float = 0.0, seed: int = 0
) -> tuple[Objective, Array]:
    """Return samples of uneven weights, some costs zero, with random parameters."""
    hypothesis, theta, block = sample(name, rows=rows, seed=seed, hidden=hidden)
    block.costs[1] = 0.0
    weights = np.random.default_rng(seed).uniform(0.2, 1.0, rows)
    block = block._replace(weights=weights / weights.sum())
    return Objective(loss, hypothesis, Samples.of(block)), theta


def by_program(objective: Objective, theta: Array, epsilon: float) -> Smoothed:
    """Evaluate through the program, with nothing in common but the formulation."""
    (block,) = objective.samples
    primitive, n = objective.maps().latent(objective.n_decisions), objective.n_decisions
    maps = objective.maps().maps(theta, n, objective.n_features)
    known = (*maps.at(block.features), block.costs, block.decisions, block.weights)
    if isinstance(objective.loss, fl.Predictability):
        program = SmoothedPredictability(primitive, n, len(block.weights))
        solution = program.solve(*known, epsilon, epsilon)
    else:
        solution = SmoothedSuboptimality(primitive, n, len(block.weights)).solve(*known, epsilon)
    gradient = Maps(*solution.gradient(block.features, block.costs, block.weights))
    squares = [block.weights @ (s**2).sum(axis=1) for s in (solution[3], solution[4])]
    return Smoothed(solution.value, objective.maps().pull_back(gradient), *squares)


@EACH_LOSS
@pytest.mark.parametrize(
    ("name", "hidden"),
    # Samples with unobserved decisions are left to the program.
    [*((name, 0.0) for name in (*SERVED, *ODD)), ("simplex-5", 0.3), ("l2-ball-3", 0.3)],
)
def test_kernels_agree_with_the_program(name: str, hidden: float, loss: Loss) -> None:
    objective, theta = problem(name, loss, rows=6, hidden=hidden)
    smoothed = SmoothedObjective(objective)
    assert smoothed.compiled
    for epsilon in (1.0, 256.0):
        expected = by_program(objective, theta, epsilon)
        found = smoothed.evaluate(theta, epsilon)
        assert found.value == pytest.approx(expected.value, rel=1e-6, abs=1e-8)
        assert found.slack_primal == pytest.approx(expected.slack_primal, rel=1e-4, abs=1e-7)
        assert found.slack_dual == pytest.approx(expected.slack_dual, rel=1e-4, abs=1e-7)
        size = np.abs(expected.gradient).max()
        np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-4 * size)


@EACH_LOSS
@pytest.mark.parametrize("name", UNSERVED)
def test_other_sets_go_through_the_program(name: str, loss: Loss) -> None:
    objective, theta = problem(name, loss, rows=5)
    smoothed = SmoothedObjective(objective)
    assert not smoothed.compiled
    expected, found = by_program(objective, theta, 4.0), smoothed.evaluate(theta, 4.0)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-6, atol=1e-8)


@EACH_LOSS
@pytest.mark.parametrize("name", ["simplex-5", "l2-ball-3", "hypersimplex-middle"])
def test_more_smoothing_is_a_smaller_loss_and_none_is_the_exact_one(name: str, loss: Loss) -> None:
    objective, theta = problem(name, loss, seed=7)
    values = [SmoothedObjective(objective).evaluate(theta, 4.0**k).value for k in (0, 2, 5, 9, 13)]
    exact = objective.value(theta)
    assert (np.diff(values) >= -1e-12).all()
    assert max(values) <= exact * (1 + 1e-9)
    # A curved set comes near only like a root of epsilon.
    assert values[-1] == pytest.approx(exact, rel=5e-3 if name == "l2-ball-3" else 1e-3)


def test_a_loss_of_zero_is_zero_at_every_smoothing() -> None:
    data = fl.datasets.make_l1_ball(30, random_state=0)
    corners = np.ones((5, 5)) - np.eye(5)
    costs, decisions = data.cost_matrix.copy(), data.decisions.copy()
    block = Block(np.ones((30, 1)), costs, decisions, np.full(30, 1 / 30))
    for loss in LOSSES:
        smoothed = SmoothedObjective(Objective(loss, fl.Affine(fl.Simplex(5)), Samples.of(block)))
        for epsilon in (1.0, 1e6):
            found = smoothed.evaluate(corners.ravel(), epsilon)
            assert found.value == pytest.approx(0.0, abs=1e-20)
            np.testing.assert_allclose(found.gradient, 0.0, atol=1e-9)


@EACH_LOSS
def test_threads_and_blocks_do_not_matter(loss: Loss) -> None:
    objective, theta = problem("box-3", loss, rows=50)
    parts = Samples.of(objective.samples.head(), 7)
    whole = SmoothedObjective(objective).evaluate(theta, 2.0)
    some = SmoothedObjective(replace(objective, samples=parts)).evaluate(theta, 2.0)
    threads = SmoothedObjective(replace(objective, samples=parts, n_jobs=3)).evaluate(theta, 2.0)
    assert whole.value == pytest.approx(some.value, rel=1e-12)
    assert some.value == threads.value
    np.testing.assert_array_equal(some.gradient, threads.gradient)
