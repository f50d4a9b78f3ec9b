"""The scaled set and the linear policy, against independent solutions."""

from __future__ import annotations

import time

import cvxpy as cp
import numpy as np
import pytest

from feaslearn import Box, L1Ball, Simplex
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.problem import Found, Problem, Samples
from feaslearn.paper.regions import Affine, Scaled
from feaslearn.paper.scaled import convex
from paper.cases import CONIC, length, make_loss
from registry import SCALED_SETS, example, scaled_least_squares

LOSSES = {
    "l1": Predictability("l1"),
    "linf": Predictability("linf"),
    "l2": Predictability(squared=False),
    "suboptimality": Suboptimality(),
    "suboptimality-raw": Suboptimality(normalize_cost=False),
    "suboptimality-l1": Suboptimality("l1"),
    "suboptimality-linf": Suboptimality("linf"),
}


def noisy(seed: int, sign: float = 1.0, n_rows: int = 40) -> Samples:
    """Return noisy decisions of a set with scale ``sign``: a negative one asks for alpha < 0."""
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 3))
    offset = features @ random.normal(size=(3, 3))
    decisions = offset - sign * np.sign(costs) + 0.3 * random.normal(size=(n_rows, 3))
    weights = random.uniform(size=n_rows)
    return Samples(features, costs, decisions, weights / weights.sum())


@pytest.mark.parametrize("name", SCALED_SETS)
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["open", "clipped"])
def test_equals_bounded_least_squares(name: str, sign: float) -> None:
    for seed in range(2):
        samples = noisy(seed, sign)
        found = convex(Problem(Scaled(SCALED_SETS[name]), Predictability(), samples))
        expected = scaled_least_squares(samples, SCALED_SETS[name])
        np.testing.assert_allclose(found.theta, expected.x, atol=1e-6)
        assert found.objective == pytest.approx(2.0 * expected.cost, rel=1e-7)
        assert (found.theta[0] == 0.0) == (sign < 0)
        assert found.status == "optimal"
        assert found.lower_bound == found.objective


def reference(samples: Samples, Z: object, loss: object) -> float:
    """Return the optimum by a program over the vertices of Z, written for each sample."""
    vertices = Z.vertices()
    costs = samples.costs
    if isinstance(loss, Suboptimality):
        costs = loss.unit_costs(costs)
    alpha, b = cp.Variable(nonneg=True), cp.Variable((3, 3))
    total, rows = 0.0, []
    for phi, c, x, w in zip(
        samples.features, costs, samples.decisions, samples.weights, strict=True
    ):
        prices = vertices @ c
        if isinstance(loss, Suboptimality):
            mix, J = cp.Variable(len(vertices), nonneg=True), cp.Variable(nonneg=True)
            rows += [cp.sum(mix) == alpha, c @ (x - phi @ b) - alpha * prices.min() <= J]
            part = cp.hstack([vertices.T @ mix + phi @ b - x, J])
        else:
            part = alpha * vertices[prices.argmin()] + phi @ b - x
        total = total + w * length(loss, part)
    return float(cp.Problem(cp.Minimize(total), rows).solve(solver="CLARABEL"))


@pytest.mark.parametrize("name", LOSSES)
def test_other_losses_equal_a_program_over_vertices(name: str) -> None:
    problem = Problem(Scaled(SCALED_SETS["l1-ball"]), LOSSES[name], noisy(3))
    found = convex(problem)
    right = reference(problem.samples, SCALED_SETS["l1-ball"], LOSSES[name])
    assert found.status == "optimal"
    assert found.objective == pytest.approx(right, rel=1e-6)
    assert found.lower_bound == pytest.approx(right, rel=1e-6)
    assert found.objective == problem.value(found.theta)


def assert_no_step_goes_down(found: Found, size: float, count: int) -> None:
    """No step from a minimum of a convex function goes down."""
    for step in size * np.random.default_rng(0).normal(size=(count, len(found.theta))):
        assert found.problem.value(found.theta + step) >= found.objective * (1.0 - 1e-7)


@pytest.mark.parametrize("loss", ["predictability", "suboptimality"])
@pytest.mark.parametrize("name", CONIC)
def test_conic_sets(name: str, loss: str) -> None:
    """The program's value is the loss, which the losses measure by themselves."""
    Z, random = example(name), np.random.default_rng(0)
    n = Z.dimension
    costs = random.normal(size=(8, n))
    costs[::5] = 0.0  # the whole set is optimal
    decisions = 2.0 * Z.argmin(costs) + 1.0 + 0.3 * random.normal(size=(8, n))
    samples = Samples(np.ones((8, 1)), costs, decisions, np.full(8, 1 / 8))
    problem = Problem(Scaled(Z), make_loss(loss), samples)
    found = convex(problem)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(found.lower_bound, rel=1e-7)
    assert_no_step_goes_down(found, 1e-2, 10)


@pytest.mark.parametrize("seed", range(2))
def test_ties_are_solved_by_the_program_with_faces(seed: int) -> None:
    random = np.random.default_rng(seed)
    costs = np.where(random.uniform(size=(40, 2)) < 0.3, 0.0, random.normal(size=(40, 2)))
    decisions = 0.5 - 1.5 * np.sign(costs) + 0.4 * random.normal(size=costs.shape)
    samples = Samples(np.ones((40, 1)), costs, decisions, np.full(40, 1 / 40))
    alpha, b, zeta = cp.Variable(nonneg=True), cp.Variable((1, 2)), cp.Variable((40, 2))
    fixed = costs != 0.0
    rows = [zeta <= alpha, zeta >= -alpha, zeta[fixed] == -alpha * np.sign(costs[fixed])]
    errors = decisions - zeta - np.ones((40, 1)) @ b
    program = cp.Problem(cp.Minimize(cp.sum_squares(errors) / 40), rows)
    program.solve(solver=cp.CLARABEL)
    problem = Problem(Scaled(Box(2)), Predictability(), samples)
    found = convex(problem)
    assert found.lower_bound == pytest.approx(program.value, rel=1e-6)
    # The program's answer is kept unless the other fit returns far better decisions.
    assert problem.returned_loss(found.theta) >= found.objective >= found.lower_bound
    assert found.objective == pytest.approx(problem.value(found.theta))
    assert found.details["tied"] == (~fixed).any(axis=1).sum()


@pytest.mark.parametrize("loss", [Predictability(), *LOSSES.values()], ids=repr)
def test_a_point_is_the_linear_policy(loss: object) -> None:
    samples = noisy(1)
    problem = Problem(Affine(Simplex(1)), loss, samples)
    found = convex(problem)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(found.lower_bound, rel=1e-7)
    assert_no_step_goes_down(found, 1e-3, 20)
    if loss.is_squared_l2 and isinstance(loss, Predictability):
        roots = np.sqrt(samples.weights)[:, None]
        beta = np.linalg.lstsq(roots * samples.features, roots * samples.decisions)[0]
        np.testing.assert_allclose(found.theta, beta.ravel(), atol=1e-9)


@pytest.mark.parametrize("loss", [Predictability(), Suboptimality()], ids=repr)
def test_units_and_row_order_do_not_matter(loss: object) -> None:
    samples = noisy(2)
    plain = convex(Problem(Scaled(L1Ball(3)), loss, samples))
    order = np.random.default_rng(0).permutation(len(samples.weights))
    turned = convex(Problem(Scaled(L1Ball(3)), loss, samples.rows(order)))
    np.testing.assert_allclose(turned.theta, plain.theta, atol=1e-6)
    scaled = samples._replace(
        features=samples.features * [1.0, 1e-3, 1e2], decisions=1e4 * samples.decisions
    )
    large = convex(Problem(Scaled(L1Ball(3)), loss, scaled))
    assert large.objective == pytest.approx(1e8 * plain.objective, rel=1e-6)
    assert large.theta[0] == pytest.approx(1e4 * plain.theta[0], rel=1e-5)


def test_a_deadline_leaves_least_squares() -> None:
    samples = noisy(0)
    squared = convex(Problem(Scaled(L1Ball(3)), Predictability(), samples))
    began = time.monotonic()
    late = convex(Problem(Scaled(L1Ball(3)), Suboptimality(), samples), max_seconds=1e-6)
    assert time.monotonic() - began < 5.0
    assert late.status == "time limit"
    assert late.lower_bound is None
    np.testing.assert_array_equal(late.theta, squared.theta)
