"""The losses: kernels against programs, gradients against differences, ties, units of money."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.paper import algorithm_2
from feaslearn.paper.algorithm_2 import Smoothed, SmoothedObjective
from feaslearn.paper.kernels import smoothed_rows
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.losses.loss import Loss
from feaslearn.paper.losses.programs import LossProgram, losses_by_program
from feaslearn.paper.printed_smoothing import InnerProgram
from feaslearn.paper.problem import Problem, Samples
from feaslearn.paper.regions import Affine, Maps, Scaled
from feaslearn.sets import Box, L1Ball, L2Ball, PrimitiveSet, Simplex
from paper.cases import CONIC, LOSSES, NORMS, ODD, SERVED, Array, make_loss, sample, with_weights
from registry import example

EACH_LOSS = pytest.mark.parametrize("loss", LOSSES)
EACH_NORM = pytest.mark.parametrize("norm", NORMS)
STEP = 1e-3
#: One-sided differences that disagree by more than this have a kink between them.
KINK = 5e-6


def assert_equal_to_program(problem: Problem, theta: Array) -> None:
    fast, slow = problem.rows(theta).values, losses_by_program(problem, theta)
    difference = np.abs(fast - slow) / np.maximum(1.0, np.abs(slow))
    worst = int(np.argmax(difference))
    assert difference[worst] <= 1e-6, f"row {worst}: {fast[worst]} and {slow[worst]}"


# Against the programs.


@pytest.mark.parametrize("name", [*SERVED, *ODD])
@EACH_LOSS
@EACH_NORM
@pytest.mark.parametrize("tied", [False, True])
def test_kernels_agree_with_programs(name: str, loss: str, norm: str, tied: bool) -> None:
    assert_equal_to_program(*sample(name, make_loss(loss, norm), rows=4, tied=tied))


@pytest.mark.parametrize("name", CONIC)
@EACH_LOSS
def test_conic_sets_agree_with_programs(name: str, loss: str) -> None:
    # Each of the rows in another norm, another one for each set and loss.
    first = CONIC.index(name) + list(LOSSES).index(loss)
    for tied in (False, True):
        norm = list(NORMS)[(first + tied) % len(NORMS)]
        assert_equal_to_program(*sample(name, make_loss(loss, norm), rows=3, tied=tied, n=2))


@pytest.mark.parametrize(
    ("norm", "near", "cheap"),
    [
        (("l2", True), 13.0, 17.0),
        (("l2", False), 13.0**0.5, 17.0**0.5),
        (("l1", False), 5.0, 7.0),
        (("linf", False), 3.0, 3.0),
    ],
)
def test_known_answers_of_programs(norm: tuple[str, bool], near: float, cheap: float) -> None:
    """A unit square and the cost (1, 0): its left side is optimal."""
    point = np.eye(2), np.zeros(2), np.array([1.0, 0.0]), np.array([3.0, -2.0])
    square = Box(2, 0.0, 1.0)
    for loss, expected in ((Predictability(*norm), near), (Suboptimality(*norm), cheap)):  # type: ignore[arg-type]
        found = LossProgram(square, 2, loss).solve(*point)
        assert found == pytest.approx(expected, abs=1e-7)


def test_a_binary_set_has_no_program() -> None:
    with pytest.raises(UnsupportedError, match="binary"):
        LossProgram(Simplex(2, binary=True), 2, Predictability())


def test_an_unknown_norm() -> None:
    with pytest.raises(DataError, match="l3"):
        Predictability("l3")  # type: ignore[arg-type]


# Gradients against finite differences, away from ties and kinks.


def assert_gradient(problem: Problem, theta: Array, smooth: float = 0.6) -> None:
    """Compare row by row along one direction; at least a share ``smooth`` can be compared."""
    count = problem.n_samples
    gradients = np.array(
        [with_weights(problem, one).value_and_gradient(theta)[1] for one in np.eye(count)]
    )
    direction = np.random.default_rng(0).normal(size=theta.size)
    direction /= np.linalg.norm(direction)
    # Steps are large, because some values carry a solver's rounding, and of high order for that.
    at = {k: problem.rows(theta + k * STEP * direction).values for k in (-2, -1, 0, 1, 2)}
    near, far = (at[1] - at[-1]) / (2 * STEP), (at[2] - at[-2]) / (4 * STEP)
    slope = (4 * near - far) / 3
    forward = (-3 * at[0] + 4 * at[1] - at[2]) / (2 * STEP)
    backward = (3 * at[0] - 4 * at[-1] + at[-2]) / (2 * STEP)
    size = np.maximum(1.0, np.abs(slope))
    compared = np.abs(forward - backward) <= KINK * size
    error = np.where(compared, np.abs(gradients @ direction - slope) / size, 0.0)
    assert error.max() <= 1e-5, f"row {error.argmax()}"
    assert compared.mean() >= smooth


@pytest.mark.parametrize(
    ("name", "norm"),
    [
        *((name, norm) for name in SERVED for norm in NORMS),
        *((name, norm) for name in CONIC[:2] for norm in ("l2", "l1")),
    ],
)
@EACH_LOSS
def test_gradients_of_every_set_loss_and_norm(name: str, loss: str, norm: str) -> None:
    rows, seed, smooth = (8, 10, 0.6) if name in SERVED else (5, 11, 0.4)
    assert_gradient(*sample(name, make_loss(loss, norm), rows=rows, seed=seed), smooth=smooth)


@EACH_LOSS
@EACH_NORM
@pytest.mark.parametrize("Z", [L1Ball(3), L2Ball(3)], ids=repr)
def test_gradients_of_scaled_sets(Z: PrimitiveSet, loss: str, norm: str) -> None:
    rng = np.random.default_rng(1)
    problem, _ = sample("l1-ball-4", make_loss(loss, norm), rows=8, seed=13)
    scaled = Problem(Scaled(Z), problem.loss, problem.samples)
    assert_gradient(scaled, np.append(1.3, rng.normal(size=6)))


# Ties.


@pytest.mark.parametrize("name", [*SERVED, "conic-half-disc"])
@pytest.mark.parametrize("norm", ["squared-l2", "l1"])
def test_the_loss_never_exceeds_that_of_the_returned_decision(name: str, norm: str) -> None:
    """The loss takes the best of several minimisers, a returned decision is one of them."""
    loss = make_loss("predictability", norm)
    problem, theta = sample(name, loss, rows=24, seed=34, tied=True)
    optimistic, tied, _ = problem.rows(theta)
    losses = loss.lengths(problem.decisions(theta) - problem.samples.decisions)
    assert (optimistic <= losses * (1.0 + 1e-6) + 1e-6).all()
    assert optimistic[~tied] == pytest.approx(losses[~tied], rel=1e-6, abs=1e-6)
    assert (optimistic < losses - 1e-3).any()
    assert tied[~problem.samples.costs.any(axis=1)].all()


@pytest.mark.parametrize("name", [*SERVED, "conic-half-disc"])
@pytest.mark.parametrize("norm", ["squared-l2", "l1"])
def test_a_cost_at_right_angles_to_the_region(name: str, norm: str) -> None:
    """Equal prices in a region whose sum is constant: all of it is optimal, up to rounding."""
    problem, theta = sample(name, make_loss("predictability", norm), rows=5, seed=35)
    A = problem.region.layout(3, 2).unpack(theta)["A"]
    A -= A.mean(axis=1, keepdims=True)
    samples = problem.samples
    samples.costs[:] = 0.3
    Z, rng = example(name), np.random.default_rng(0)
    for i, phi in enumerate(samples.features):
        ends = Z.argmin(rng.normal(size=(4, Z.dimension)))
        samples.decisions[i] = problem.region.image(theta, phi, 3).at(
            rng.dirichlet(np.ones(4)) @ ends
        )
    found = problem.rows(theta)
    assert found.tied.all()
    assert found.values == pytest.approx(np.zeros(5), abs=1e-6)
    assert losses_by_program(problem, theta) == pytest.approx(np.zeros(5), abs=1e-6)


def test_nearly_tied_faces_are_whole_where_a_solver_measures_them() -> None:
    middle, maps = np.array([[0.5, 0.5]]), Maps(np.eye(2)[None], np.zeros((1, 2)))
    for apart, expected in ((0.0, 0.0), (1e-11, 0.0), (1e-6, 0.5)):
        one = Samples(np.ones((1, 1)), np.array([[1.0, 1.0 + apart]]), middle, np.ones(1))
        found = Predictability("linf").rows(Simplex(2), maps, one)
        assert found.values[0] == pytest.approx(expected, abs=1e-7)


def test_prices_that_only_rounding_makes_tie_beside_a_column_of_zeros() -> None:
    """Columns at right angles to the cost up to rounding: all of the half disc is optimal."""
    # 0.1 * 3 is not 0.3 in binary: the latent cost is about 1e-17, and not zero.
    A, cost = np.array([[3.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]), np.array([[0.1, 0.2, 0.3]])
    assert (A.T @ cost[0])[0] != 0.0
    one = Samples(np.ones((1, 1)), cost, (A @ [0.25, 0.5])[None], np.ones(1))
    found = Predictability().rows(example("conic-half-disc"), Maps(A[None], np.zeros((1, 3))), one)
    assert found.tied.all()
    assert found.values == pytest.approx([0.0], abs=1e-9)


# Money.


@pytest.mark.parametrize("name", [*SERVED, "conic-half-disc"])
@pytest.mark.parametrize("unit", [1e-2, 1e6])
@pytest.mark.parametrize("tied", [False, True])
def test_the_unit_of_money(name: str, unit: float, tied: bool) -> None:
    def in_unit(problem: Problem) -> Problem:
        samples = problem.samples
        return problem.with_samples(samples._replace(costs=unit * samples.costs))

    for loss in (Predictability(), Suboptimality()):
        problem, theta = sample(name, loss, seed=33, tied=tied)
        here, there = (each.rows(theta).values for each in (problem, in_unit(problem)))
        assert there == pytest.approx(here, rel=1e-6, abs=1e-6)
    raw, theta = sample(name, Suboptimality(normalize_cost=False), seed=33)
    changed = in_unit(raw).rows(theta).values - raw.rows(theta).values
    assert np.abs(changed).max() > 0.01


@EACH_NORM
def test_a_decision_cheaper_than_the_region_has_no_excess(norm: str) -> None:
    """The region is the square around 0; (-3, 0) is off it by 2 and costs less than all of it."""
    loss: Loss = make_loss("suboptimality", norm)
    costs, decisions = np.array([[1.0, 0.0]]), np.array([[-3.0, 0.25]])
    problem = Problem(Affine(Box(2)), loss, Samples(np.ones((1, 1)), costs, decisions, np.ones(1)))
    value, gradient = problem.value_and_gradient(np.append(np.eye(2).ravel(), np.zeros(2)))
    assert value == pytest.approx(4.0 if norm == "squared-l2" else 2.0, abs=1e-6)
    # The region moved by (t, u) is off by 2 + t: what it costs does not count.
    moved = problem.region.layout(2, 1).unpack(gradient)["b"][0]
    assert moved == pytest.approx([4.0 if norm == "squared-l2" else 1.0, 0.0], abs=1e-5)


# The inner problem of Algorithm 2.

EACH_SMOOTHED = pytest.mark.parametrize(
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


@EACH_SMOOTHED
@pytest.mark.parametrize("name", [*SERVED, *ODD])
def test_kernels_agree_with_the_program(name: str, loss: Loss) -> None:
    problem, theta = case(name, loss)
    program, kernels = (SmoothedObjective(problem, compiled=compiled) for compiled in (False, True))
    for epsilon in (1.0, 256.0):
        assert_same(kernels.evaluate(theta, epsilon), program.evaluate(theta, epsilon))


@EACH_SMOOTHED
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


@EACH_SMOOTHED
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


@EACH_SMOOTHED
@pytest.mark.parametrize("name", ["simplex-5", "l2-ball-3", "hypersimplex-middle"])
def test_more_smoothing_is_a_smaller_loss_and_none_is_the_exact_one(name: str, loss: Loss) -> None:
    problem, theta = case(name, loss, rows=12, seed=7)
    values = [SmoothedObjective(problem).evaluate(theta, 4.0**k).value for k in (0, 2, 5, 9, 13)]
    exact = problem.value(theta)
    assert (np.diff(values) >= -1e-12).all()
    assert max(values) <= exact * (1 + 1e-9)
    # A curved set comes near only like a root of epsilon.
    assert values[-1] == pytest.approx(exact, rel=5e-3 if name == "l2-ball-3" else 1e-3)


@EACH_SMOOTHED
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


@EACH_SMOOTHED
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
