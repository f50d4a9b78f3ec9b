"""What every data set of the paper promises, and what the paper's tables compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
import feaslearn.paper as paper
from feaslearn import Box, L2Ball
from feaslearn.exceptions import DataError
from feaslearn.paper import baselines, datasets

Maker = Callable[..., paper.Data]
MAKERS = [
    datasets.make_switch,
    datasets.make_power5,
    datasets.make_ieee14,
    datasets.make_l1_ball,
    datasets.make_ellipsoid,
]
every_data_set = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@every_data_set
def test_decisions_are_optimal_in_the_true_problem(make: Maker) -> None:
    data = make(20, random_state=1)
    assert len(data) == 20
    truth, signals, costs = data.truth, data.signals, data.costs
    assert truth is not None
    assert truth.distance_to_optimal(data.decisions, signals, costs).max() < 1e-6
    assert truth.distance_to_feasible(data.decisions, signals).max() < 1e-6
    np.testing.assert_allclose(
        (truth.solve(signals, costs) * costs).sum(axis=1),
        (data.decisions * costs).sum(axis=1),
        atol=1e-9,
    )
    # Other decisions are not.
    assert truth.distance_to_optimal(data.decisions + 0.1, signals, costs).min() > 1e-3


@every_data_set
def test_noise_changes_nothing_but_what_it_is_added_to(make: Maker) -> None:
    plain = make(200, random_state=5)
    noisy = make(200, noise=0.3, random_state=5)
    blurred = make(200, signal_noise=0.2, random_state=5)
    np.testing.assert_array_equal(noisy.signals, plain.signals)
    np.testing.assert_array_equal(blurred.decisions, plain.decisions)
    errors = noisy.decisions - plain.decisions
    assert errors.std() == pytest.approx(0.3, rel=0.2)
    assert abs(errors.mean()) < 0.06
    assert (blurred.signals - plain.signals).std() == pytest.approx(0.2, rel=0.2)
    both = make(200, noise=0.3, signal_noise=0.2, random_state=5)
    np.testing.assert_array_equal(both.decisions, noisy.decisions)
    np.testing.assert_array_equal(both.signals, blurred.signals)


@every_data_set
def test_a_seed_is_all_the_randomness(make: Maker) -> None:
    def drawn(random_state: int | None) -> np.ndarray:
        return make(10, random_state=random_state).signals

    np.testing.assert_array_equal(drawn(3), drawn(np.int64(3)))  # type: ignore[arg-type]
    assert (drawn(3) != drawn(4)).any()
    assert (drawn(None) != drawn(None)).any()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("switch", {"noise": 0.2}),
        ("power5", {"noise": 0.2}),
        ("power5", {"line_capacity": 1.6}),
        ("l1_ball", {"n": 5, "radius": 0.5}),
        ("l1_ball", {"n": 2, "low": -1.0, "noise": 0.2}),
    ],
)
def test_the_library_draws_the_same_numbers(name: str, options: dict[str, float]) -> None:
    """What these numbers are, the library's tests of its data sets say."""
    makers = (getattr(room, f"make_{name}") for room in (datasets, fl.datasets))
    ours, library = (make(500, random_state=0, **options) for make in makers)
    np.testing.assert_array_equal(ours.signals, library.signals)
    np.testing.assert_array_equal(ours.decisions, library.decisions)
    np.testing.assert_array_equal(ours.costs, library.cost_matrix)


@every_data_set
@pytest.mark.parametrize(
    "wrong", [{"n_samples": 0}, {"noise": -1.0}, {"signal_noise": np.nan}], ids=str
)
def test_bad_arguments_are_named(make: Maker, wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=f"{next(iter(wrong))}={next(iter(wrong.values()))}"):
        make(**{"n_samples": 5, **wrong})


def test_a_tie_of_the_switch() -> None:
    """At s = 1/2 every division of the unit is optimal."""
    truth = datasets.make_switch(1, random_state=0).truth
    shares = np.column_stack([np.linspace(0, 1, 5), np.linspace(1, 0, 5)])
    tied = truth.distance_to_optimal(shares, np.full((5, 1), 0.5), np.full((5, 2), 0.5))
    assert tied.max() < 1e-9


def test_other_lines_of_power5() -> None:
    chain = [(1, 2), (2, 3), (3, 4), (4, 5)]
    data, usual = (datasets.make_power5(200, random_state=0, **o) for o in ({"lines": chain}, {}))
    assert data.truth.lines == tuple(chain)
    assert (data.decisions != usual.decisions).any()
    with pytest.raises(DataError, match="cannot be served at sample"):
        datasets.make_power5(200, random_state=0, lines=[(1, 2)])


def test_ieee14() -> None:
    data = datasets.make_ieee14(600, random_state=0)
    assert data.truth.plants == (2, 8, 13)
    assert data.cost_columns == (0, 1, 2)
    np.testing.assert_array_equal(data.costs, data.signals[:, :3])
    ranges = {0: (0.2, 0.5), 1: (1.0, 2.0), 2: (0.2, 1.0), 10: (0.54, 2.7), 16: (0.12, 0.6)}
    for column, (low, high) in ranges.items():
        drawn = data.signals[:, column]
        assert low <= drawn.min() < low + 0.02 * (high - low), column
        assert high - 0.02 * (high - low) < drawn.max() <= high, column
    np.testing.assert_allclose(data.decisions.sum(axis=1), data.signals[:, 3:].sum(axis=1))


def test_ellipsoid() -> None:
    data = datasets.make_ellipsoid(300, n=3, random_state=0)
    matrix, center = data.truth.theta[:9].reshape(3, 3), data.truth.theta[9:]
    np.testing.assert_array_equal(center, np.ones(3))
    half_axes = np.linalg.svd(matrix, compute_uv=False)
    assert half_axes.min() >= 0.5
    assert half_axes.max() <= 2.0
    z = np.linalg.solve(matrix, (data.decisions - center).T).T
    q = data.costs @ matrix
    np.testing.assert_allclose(z, -q / np.linalg.norm(q, axis=1, keepdims=True), atol=1e-9)
    again = datasets.make_ellipsoid(25, n=3, noise=0.1, random_state=0)
    np.testing.assert_array_equal(again.truth.theta, data.truth.theta)


# Baselines.

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
