"""What the paper's tables compare with."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import feaslearn.paper as paper
from feaslearn import Box, L2Ball
from feaslearn.exceptions import DataError
from feaslearn.paper import baselines, datasets

SQUARE = Box(2, 0.0, 2.0)


def data_of(signals: np.ndarray, decisions: np.ndarray) -> paper.Data:
    """Data whose costs nobody looks at."""
    return paper.Data(signals, decisions, np.zeros(np.shape(decisions)))


# The linear policy.


def normal_equations(signals: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(signals)), signals])
    return np.linalg.solve(design.T @ design, design.T @ decisions)


def test_the_linear_policy_solves_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    signals = rng.normal(size=(60, 4))
    decisions = 1.0 + signals @ rng.normal(size=(4, 3)) + 0.3 * rng.normal(size=(60, 3))
    policy = baselines.linear_policy(data_of(signals, decisions))
    expected = normal_equations(signals, decisions)
    np.testing.assert_allclose(policy.a, expected[0])
    np.testing.assert_allclose(policy.B.T, expected[1:])
    np.testing.assert_allclose(
        policy.predict(data_of(signals, decisions)),
        np.column_stack([np.ones(60), signals]) @ expected,
    )


def test_a_linear_policy_of_one_sample_and_of_constant_signals() -> None:
    one = data_of(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    np.testing.assert_allclose(baselines.linear_policy(one).predict(one), [[3.0, 4.0]])
    constant = data_of(np.ones((4, 2)), np.array([[1.0], [2.0], [3.0], [6.0]]))
    np.testing.assert_allclose(baselines.linear_policy(constant).predict(constant[:1]), [[3.0]])


# Clusters of decisions as vertices.


def test_enough_vertices_predict_exactly() -> None:
    data = datasets.make_l1_ball(200, random_state=0)
    found = baselines.nearest_vertices(data[:100], 5, seed=0)
    assert found.problem.region.Z.dimension == 5
    report = paper.evaluate(found, data[100:])
    assert report.returned < 1e-20
    assert report.predictability < 1e-20
    assert report.suboptimality < 1e-20
    assert report.true_predictability < 1e-15


def test_the_region_is_the_hull_of_the_vertices() -> None:
    data = datasets.make_l1_ball(200, noise=0.2, random_state=0)
    found = baselines.nearest_vertices(data, 4, seed=0)
    # Without ties the hull's minimiser is the vertex that is returned.
    missed = ((found.predict(data) - data.decisions) ** 2).sum(axis=1)
    assert found.problem.value(found.theta) == pytest.approx(missed.mean())
    assert found.objective == pytest.approx(missed.mean())
    assert 0.3 < missed.mean() < 0.8


def test_fewer_distinct_decisions_give_fewer_vertices() -> None:
    data = datasets.make_switch(50, random_state=0)
    found = baselines.nearest_vertices(data, 4, seed=0)
    assert found.problem.region.Z.dimension == 2
    np.testing.assert_allclose(found.predict(data), data.decisions)
    with pytest.raises(DataError, match="needs a vertex"):
        baselines.nearest_vertices(data, 0)


# A quadratic cost over a known set.


def rule(Q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the minimisers over the square by another solver."""
    x, q = cp.Variable(2), cp.Parameter(2)
    problem = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, Q) + q @ x), [x >= 0, x <= 2])
    found = []
    for q.value in slopes:
        problem.solve(solver="CLARABEL")
        found.append(x.value)
    return np.array(found)


def test_a_quadratic_decision_maker_is_recovered() -> None:
    random = np.random.default_rng(0)
    Q, B = np.array([[2.0, 0.5], [0.5, 1.5]]), np.array([[1.0, -1.0], [0.5, 2.0]])
    signals = random.uniform(-2.0, 2.0, size=(60, 2))
    data = data_of(signals, rule(Q, signals @ B.T - 1.0))
    policy = baselines.quadratic_cost(data[:40], SQUARE, ridge=1e-9)
    np.testing.assert_allclose(policy.predict(data), data.decisions, atol=1e-3)
    # Without curvature above one nothing else fixes the unit of cost.
    assert np.linalg.eigvalsh(policy.Q).min() >= 1.0 - 1e-6


@pytest.mark.parametrize(("region", "ridge"), [(L2Ball(2), 1.0), (Box(3), 1.0), (SQUARE, 0.0)])
def test_what_quadratic_cost_needs_is_said(region: object, ridge: float) -> None:
    data = data_of(np.ones((2, 1)), np.ones((2, 2)))
    with pytest.raises(DataError, match="must be a polyhedral set of points of 2 entries"):
        baselines.quadratic_cost(data, region, ridge)  # type: ignore[arg-type]
