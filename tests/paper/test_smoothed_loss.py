"""Algorithm 2's inner problem: kernels against programs, gradients against differences."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from feaslearn.paper import algorithm_2
from feaslearn.paper.algorithm_2 import Smoothed, SmoothedObjective
from feaslearn.paper.kernels import smoothed_rows
from feaslearn.paper.losses import Loss, Predictability, Suboptimality
from feaslearn.paper.printed_smoothing import InnerProgram
from feaslearn.paper.problem import Problem, Samples
from feaslearn.paper.regions import Affine
from feaslearn.sets import Simplex
from paper.cases import ODD, SERVED, Array, sample

EACH_LOSS = pytest.mark.parametrize(
    "loss",
    [Predictability(), Suboptimality(normalize_cost=False)],
    ids=["predictability", "suboptimality"],
)


def case(name: str, loss: Loss, rows: int = 6, seed: int = 0) -> tuple[Problem, Array]:
    """Return samples of uneven weights, some costs zero, with random parameters."""
    problem, theta = sample(name, loss, rows=rows, seed=seed)
    problem.samples.costs[1] = 0.0
    return problem, theta


def assert_same(found: Smoothed, expected: Smoothed) -> None:
    assert found.value == pytest.approx(expected.value, rel=1e-6, abs=1e-8)
    assert found.slack_primal == pytest.approx(expected.slack_primal, rel=1e-4, abs=1e-7)
    assert found.slack_dual == pytest.approx(expected.slack_dual, rel=1e-4, abs=1e-7)
    size = np.abs(expected.gradient).max()
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-4 * size)


@EACH_LOSS
@pytest.mark.parametrize("name", [*SERVED, *ODD])
def test_kernels_agree_with_the_program(name: str, loss: Loss) -> None:
    problem, theta = case(name, loss)
    program, kernels = (SmoothedObjective(problem, compiled=compiled) for compiled in (False, True))
    for epsilon in (1.0, 256.0):
        assert_same(kernels.evaluate(theta, epsilon), program.evaluate(theta, epsilon))


@EACH_LOSS
def test_samples_that_kernels_do_not_solve_are_left_to_the_program(
    loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, theta = case("simplex-5", loss)
    expected = SmoothedObjective(problem).evaluate(theta, 4.0)

    def first_rows(code: Any, A: Array, b: Array, *tables: Any) -> None:
        *rows, smoothing, multipliers, values, slacks, dA, db = tables
        written = (each[:2] for each in (multipliers, values, slacks))
        smoothed_rows(code, A, b, *(each[:2] for each in rows), smoothing, *written, dA, db)

    monkeypatch.setattr(algorithm_2, "smoothed_rows", first_rows)
    assert_same(SmoothedObjective(problem).evaluate(theta, 4.0), expected)


@EACH_LOSS
@pytest.mark.parametrize("name", [*SERVED, "conic-half-disc"])
def test_the_gradient_is_that_of_the_value(name: str, loss: Loss) -> None:
    problem, theta = case(name, loss, rows=5, seed=3)
    objective, rng = SmoothedObjective(problem), np.random.default_rng(0)
    step, direction = 1e-4, rng.normal(size=theta.size)
    low, high = (
        objective.evaluate(theta + sign * step * direction, 4.0).value for sign in (-1.0, 1.0)
    )
    slope = objective.evaluate(theta, 4.0).gradient @ direction
    assert slope == pytest.approx((high - low) / (2.0 * step), rel=1e-4, abs=1e-6)


@EACH_LOSS
@pytest.mark.parametrize("name", ["simplex-5", "l2-ball-3", "hypersimplex-middle"])
def test_more_smoothing_is_a_smaller_loss_and_none_is_the_exact_one(name: str, loss: Loss) -> None:
    problem, theta = case(name, loss, rows=12, seed=7)
    values = [SmoothedObjective(problem).evaluate(theta, 4.0**k).value for k in (0, 2, 5, 9, 13)]
    exact = problem.value(theta)
    assert (np.diff(values) >= -1e-12).all()
    assert max(values) <= exact * (1 + 1e-9)
    # A curved set comes near only like a root of epsilon.
    assert values[-1] == pytest.approx(exact, rel=5e-3 if name == "l2-ball-3" else 1e-3)


@EACH_LOSS
def test_a_loss_of_zero_is_zero_at_every_smoothing(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    costs, corners = rng.uniform(size=(30, 5)), np.ones((5, 5)) - np.eye(5)
    decisions = np.ascontiguousarray(corners[costs.argmax(axis=1)])
    samples = Samples(np.ones((30, 1)), costs, decisions, np.full(30, 1 / 30))
    objective = SmoothedObjective(Problem(Affine(Simplex(5)), loss, samples))
    for epsilon in (1.0, 1e6):
        found = objective.evaluate(corners.ravel(), epsilon)
        assert found.value == pytest.approx(0.0, abs=1e-20)
        np.testing.assert_allclose(found.gradient, 0.0, atol=1e-9)


# As printed: two weights of slacks, and an offset that is solved for.


def printed_by_cvxpy(problem: Problem, A: Array, epsilon: Array, slack_weight: float) -> float:
    """Return the optimum of the printed program, with its multipliers and corrections."""
    features, costs, decisions, _ = problem.samples
    (count, n), (k, _, p) = decisions.shape, A.shape
    b, total = cp.Variable((k, n)), 0.0
    rows = []
    for phi, c, x in zip(features, costs, decisions, strict=True):
        image, z, level = np.einsum("k,knp->np", phi, A), cp.Variable(p, nonneg=True), cp.Variable()
        gamma, slack, dual = cp.Variable(n), cp.Variable(n), cp.Variable(p)
        rows += [cp.sum(z) == 1, image.T @ c + dual >= level]
        if isinstance(problem.loss, Predictability):
            rows += [x + gamma == image @ z + phi @ b + slack]
            rows += [c @ (x + gamma - phi @ b) <= level]
            total += epsilon[0] * slack_weight * cp.sum_squares(slack)
        else:
            excess = cp.Variable(nonneg=True)
            rows += [x + gamma == image @ z + phi @ b, c @ (x - phi @ b) - level <= excess]
            total += cp.square(excess) / count
        total += cp.sum_squares(gamma) / count + epsilon[1] * slack_weight * cp.sum_squares(dual)
    return float(cp.Problem(cp.Minimize(total), rows).solve(solver=cp.CLARABEL))


@EACH_LOSS
@pytest.mark.parametrize("weighted", [False, True])
def test_the_printed_program_and_its_gradient(loss: Loss, weighted: bool) -> None:
    problem, theta = case("simplex-5", loss, rows=7, seed=5)
    A, epsilon = problem.maps(theta).A, np.array([2.0, 4.0])
    program = InnerProgram(problem, problem.samples.costs, weighted)
    found = program.solve(A, epsilon)
    expected = printed_by_cvxpy(problem, A, epsilon, 1.0 / 7.0 if weighted else 1.0)
    assert found.value == pytest.approx(expected, rel=1e-6)
    step, direction = 1e-5, np.random.default_rng(0).normal(size=A.shape)
    low, high = (program.solve(A + s * step * direction, epsilon).value for s in (-1.0, 1.0))
    slope = float((found.gradient * direction).sum())
    # Where the interior-point method ends, slacks are as exact as the root of its gap.
    assert slope == pytest.approx((high - low) / (2.0 * step), rel=1e-3)
