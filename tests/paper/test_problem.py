"""Data, problems, true problems, and what is measured of a learned region."""

from __future__ import annotations

from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import feaslearn.paper as paper
from feaslearn.exceptions import DataError, InfeasibleProblemError
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.problem import Data, Found, Problem, Samples
from feaslearn.paper.regions import Affine, Maps, Scaled
from feaslearn.paper.truth import AffineRows, KnownRegion, LinearProgram
from feaslearn.sets import Box, L1Ball, Simplex

S = np.linspace(0.05, 0.95, 10)[:, None]
SWITCH = Data(S, np.hstack([S < 0.5, S >= 0.5]), np.hstack([S, 1.0 - S]), [0])


# Data and problems.


def test_every_name_of_the_table_of_contents() -> None:
    for name in paper.__all__:
        value = getattr(paper, name)
        assert getattr(value, "__module__", value.__name__).startswith("feaslearn.paper.")
        assert name in dir(paper)
    with pytest.raises(AttributeError, match="algorithm3"):
        _ = paper.algorithm3


def test_slices_of_data() -> None:
    for rows in (slice(3), np.array([2, 1, 0]), SWITCH.signals[:, 0] < 0.3):
        part = SWITCH[rows]
        assert len(part) == 3
        assert part.cost_columns == (0,)
    assert SWITCH[:3].costs.tolist() == SWITCH.costs[:3].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signals": S[:3]}, "one row for each sample"),
        ({"signals": S * np.nan}, "signals is not a table"),
        ({"signals": S[:, 0]}, "signals is not a table"),
        ({"costs": SWITCH.costs[:, :1]}, "each decision needs a cost"),
        ({"costs": SWITCH.costs * np.inf}, "costs is not a table"),
        ({"decisions": np.full((10, 2), np.inf)}, "not infinite"),
    ],
)
def test_wrong_data(change: dict[str, Any], message: str) -> None:
    whole = {"signals": S, "decisions": SWITCH.decisions, "costs": SWITCH.costs}
    with pytest.raises(DataError, match=message):
        Data(**{**whole, **change})


def test_features_and_weights() -> None:
    signals = np.hstack([S, 2.0 * S, 3.0 * S])
    data = Data(signals, SWITCH.decisions, SWITCH.costs, [1])
    few = Problem.of(Affine(Simplex(2)), data, weights=np.arange(1.0, 11.0))
    assert few.samples.features[0].tolist() == [1.0, *signals[0, [0, 2]]]
    assert few.samples.weights == pytest.approx(np.arange(1.0, 11.0) / 55.0)
    every = Problem.of(Affine(Simplex(2)), data, features="all")
    assert (every.n_features, every.n_decisions, every.n_samples) == (4, 2, 10)
    assert every.size == 16
    for wrong in ({"features": "some"}, {"weights": np.zeros(10)}, {"weights": np.ones(9)}):
        with pytest.raises(DataError):
            Problem.of(Affine(Simplex(2)), data, **wrong)
    with pytest.raises(DataError, match="as many entries"):
        Problem.of(Scaled(Box(3)), data)


def test_weights_are_copies_of_samples() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(6), rng.normal(size=6)])
    whole = Samples(features, *rng.normal(size=(2, 6, 2)), np.array([3.0, 1, 1, 1, 1, 1]) / 8.0)
    copies = whole.rows(np.array([0, 0, 0, 1, 2, 3, 4, 5]))._replace(weights=np.full(8, 1 / 8))
    for loss in (Predictability(), Suboptimality()):
        problem = Problem(Affine(Box(3)), loss, whole)
        theta = rng.normal(size=problem.size)
        value, gradient = problem.value_and_gradient(theta)
        other = problem.with_samples(copies).value_and_gradient(theta)
        assert (value, gradient.tolist()) == (
            pytest.approx(other[0]),
            pytest.approx(other[1].tolist()),
        )
        assert value == problem.value(theta)


def test_what_was_found() -> None:
    problem = Problem.of(Affine(Simplex(2)), SWITCH)
    found = Found(problem, np.eye(2).ravel(), 0.0, "optimal")
    assert found.predict(SWITCH).tolist() == SWITCH.decisions.tolist()
    assert found.maps().A.shape == (1, 2, 2)
    bare = Problem(problem.region, problem.loss, problem.samples)
    with pytest.raises(DataError, match="stated without data"):
        Found(bare, found.theta, 0.0, "optimal").predict(SWITCH)


def test_the_share_of_ties() -> None:
    problem = Problem.of(Affine(Simplex(3)), SWITCH)
    apart = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])  # two columns are one decision
    assert problem.tied_share(apart.ravel()) == 0.0
    equal = Problem(problem.region, problem.loss, problem.samples._replace(costs=np.ones((10, 2))))
    assert equal.tied_share(apart.ravel()) == pytest.approx(1.0)


# True problems.


def random_program(seed: int) -> tuple[LinearProgram, np.ndarray, np.ndarray]:
    """A bounded program that is feasible at every signal drawn, with integer data (ties)."""
    rng = np.random.default_rng(seed)
    m, v, n, k, n_samples = 4, 6, 3, 2, 12
    matrix = rng.integers(-1, 2, size=(m, v)).astype(float)
    signals = rng.integers(0, 3, size=(n_samples, k)).astype(float)
    slope = rng.integers(-1, 2, size=(m, k)).astype(float)
    slope[3] = 0.0
    center = rng.integers(0, 2, size=v)
    # Rows: one equation that follows the signal through a free variable, one-sided, two-sided.
    matrix[0, -1] = 1.0
    lower, upper = np.zeros(v), np.full(v, 3.0)
    lower[-1], upper[-1] = -np.inf, np.inf
    matrix[1:, -1] = 0.0
    reach, base = np.abs(slope).sum(axis=1) * 2.0, matrix @ center
    low = np.array([0.0, base[1] - reach[1], -np.inf, base[3] - 1.0])
    high = np.array([0.0, np.inf, base[2] + reach[2], base[3] + 1.0])
    rows = [
        AffineRows(side, np.where(np.isfinite(side)[:, None], slope, 0.0)) for side in (low, high)
    ]
    program = LinearProgram(matrix, rows[0], rows[1], lower, upper, n)
    return program, signals, rng.integers(-1, 3, size=(n_samples, n)).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_optima_agree_with_a_cold_interior_point_solve(seed: int) -> None:
    program, signals, costs = random_program(seed)
    decisions, matrix = program.solve(signals, costs), program.matrix.toarray()
    for x, s, c in zip(decisions, signals, costs, strict=True):
        low, high = program.row_lower.at(s[None])[0], program.row_upper.at(s[None])[0]
        up, down = np.isfinite(high), np.isfinite(low)
        answer = linprog(
            np.pad(c, (0, 3)),
            A_ub=np.vstack([matrix[up], -matrix[down]]),
            b_ub=np.concatenate([high[up], -low[down]]),
            bounds=np.column_stack([program.lower, program.upper]),
            method="highs-ipm",
        )
        assert c @ x == pytest.approx(answer.fun, abs=1e-7)
    assert program.distance_to_feasible(decisions, signals).max() < 1e-8


def brute_force(
    program: LinearProgram, x: np.ndarray, signal: np.ndarray, cost: np.ndarray
) -> float:
    """The distance to the optimal face as a CVXPY program, the face as ``c'x <= v* + 1e-9``."""
    y = cp.Variable(program.matrix.shape[1])
    rows, n = program.matrix.toarray() @ y, program.n_decisions
    rules = [
        rows == program.row_lower.at(signal[None])[0],
        y <= program.upper,
        y >= program.lower,
    ]
    least = cp.Problem(cp.Minimize(cost @ y[:n]), rules).solve(solver=cp.HIGHS)
    rules.append(cost @ y[:n] <= least + 1e-9)
    return float(cp.Problem(cp.Minimize(cp.norm(y[:n] - x)), rules).solve(solver=cp.CLARABEL))


def network(line: float) -> LinearProgram:
    """Plants of capacity 2 on three nodes of a triangle; the demands are the signals."""
    lines = [(0, 1), (1, 2), (2, 0)]
    balance = np.hstack([np.eye(3), np.zeros((3, 3))])
    for k, (i, j) in enumerate(lines):
        balance[i, 3 + k], balance[j, 3 + k] = -1.0, 1.0
    served = AffineRows(np.zeros(3), np.eye(3))
    lower, upper = np.r_[np.zeros(3), np.full(3, -line)], np.r_[np.full(3, 2.0), np.full(3, line)]
    return LinearProgram(balance, served, served, lower, upper, 3)


# Demands that make vertices degenerate: whole numbers, capacities met exactly, nothing wanted.
DEMANDS = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 1.5, 1.0]])
# All equal, a pair of equal ones, all different, zero, both signs.
COSTS = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.3, 0.5, 0.2], [0.0, 0.0, 0.0], [-1.0, 1, 1]])


@pytest.mark.parametrize("line", [0.5, 1.0, 5.0])
def test_optimal_face_with_ties_and_degenerate_vertices(line: float) -> None:
    program, rng = network(line), np.random.default_rng(1)
    signals, costs = (np.array(part) for part in zip(*product(DEMANDS, COSTS), strict=True))
    decisions = rng.normal(0.7, 1.0, size=costs.shape)
    distances = program.distance_to_optimal(decisions, signals, costs)
    rows = zip(decisions, signals, costs, strict=True)
    np.testing.assert_allclose(distances, [brute_force(program, *row) for row in rows], atol=1e-5)


def test_distance_is_zero_exactly_on_optimal_decisions() -> None:
    program, rng = network(0.6), np.random.default_rng(3)
    signals, costs = rng.uniform(0.2, 1.2, size=(2, 60, 3))
    best, worst = program.solve(signals, costs), program.solve(signals, -costs)
    assert program.distance_to_optimal(best, signals, costs).max() < 1e-8
    assert program.distance_to_feasible(best, signals).max() < 1e-8
    dearer = ((worst - best) * costs).sum(axis=1) > 1e-3
    assert dearer.sum() > 30
    assert program.distance_to_optimal(worst, signals, costs)[dearer].min() > 1e-4


def test_projection_is_exact_for_tiny_distances() -> None:
    """A least-squares solver would stop at the square root of its tolerance."""
    signals, steps = np.ones((5, 3)), np.array([0.0, 1e-9, 1e-7, 1e-5, 1e-3])
    # Off the plane sum x = 3, at right angles to it.
    decisions = np.array([1.0, 1.5, 0.5]) + steps[:, None] * np.ones(3) / np.sqrt(3.0)
    found = network(5.0).distance_to_feasible(decisions, signals)
    np.testing.assert_allclose(found, steps, atol=2e-9)


def test_the_unit_of_a_row_does_not_matter() -> None:
    """A cap that decides must be found whatever the size of its numbers."""
    for unit in (1e-6, 1.0, 1e8):
        low = AffineRows([1.0, -np.inf], np.zeros((2, 1)))
        high = AffineRows([1.0, 0.25 * unit], np.zeros((2, 1)))
        program = LinearProgram([[1.0, 1.0], [unit, 0.0]], low, high, [0.0, 0.0], [2.0, 2.0], 2)
        point = np.array([[0.0, 1.0]]), np.zeros((1, 1)), np.array([[1.0, 2.0]])
        assert program.distance_to_optimal(*point) == pytest.approx([0.25 * 2**0.5], abs=1e-8)


def test_infeasible_samples_are_named() -> None:
    rows = AffineRows([0.0], [[1.0]])
    program = LinearProgram([[1.0]], rows, rows, [0.0], [1.0], 1)
    signals, costs = np.array([[0.5], [2.0], [0.25], [-1.0]]), np.ones((4, 1))
    with pytest.raises(InfeasibleProblemError, match=r"no feasible point at samples 1, 3: check"):
        program.solve(signals, costs)
    with pytest.raises(InfeasibleProblemError, match="samples 1, 3"):
        program.distance_to_feasible(np.zeros((4, 1)), signals)
    found = program.solve(signals, costs, infeasible=True)
    assert np.isnan(found[:, 0]).tolist() == [False, True, False, True]
    with pytest.raises(DataError, match="one number for each variable"):
        LinearProgram([[1.0]], rows, rows, [0.0, 0.0], [1.0], 1)


# What tables show.


def ball(radius: float) -> KnownRegion:
    """The l1 ball around (1, 1)."""
    theta = np.array([radius, 1.0, 1.0])
    return KnownRegion(Scaled(L1Ball(2)), theta, lambda s: np.ones((len(s), 1)))


def test_losses_of_a_ball_that_is_too_large() -> None:
    """Learned radius 1.5, true radius 1: every loss by hand."""
    rng = np.random.default_rng(0)
    costs = rng.uniform(-1.0, 1.0, size=(40, 2))
    truth, signals = ball(1.0), costs
    data = Data(signals, truth.solve(signals, costs), costs, [0, 1], truth)
    large = ball(1.5)
    problem = Problem.of(large.region, data)
    measured = paper.evaluate(Found(problem, large.theta, 0.0, "optimal"), data)
    dear = 0.5 * np.abs(costs).max(axis=1)
    assert measured.returned == pytest.approx(0.25)
    assert measured.predictability == pytest.approx(0.25)
    assert measured.suboptimality == pytest.approx((dear**2).mean())
    assert measured.true_predictability == pytest.approx(0.25)
    # Too cheap is no excess: the returned decision is off the true ball by 0.5 in one entry.
    off = [
        ball(1.0).distance_to_feasible(x[None], s[None])[0]
        for x, s in zip(large.solve(signals, costs), signals, strict=True)
    ]
    assert measured.true_suboptimality == pytest.approx(np.square(off).mean())
    unit = paper.evaluate(
        Found(problem, large.theta, 0.0, "optimal"), data, normalize_cost=True
    ).suboptimality
    assert unit == pytest.approx((dear**2 / (costs**2).sum(axis=1)).mean())


def test_decisions_without_a_region() -> None:
    measured = paper.evaluate(SWITCH.decisions[:, ::-1], SWITCH)
    assert (measured.returned, measured.predictability, measured.true_suboptimality) == (
        2.0,
        None,
        None,
    )
    with pytest.raises(DataError, match="predictions have shape"):
        paper.evaluate(SWITCH.decisions[:3], SWITCH)


def test_the_true_region_has_no_loss() -> None:
    truth = network(0.6)
    rng = np.random.default_rng(3)
    signals, costs = rng.uniform(0.2, 1.2, size=(2, 20, 3))
    data = Data(np.hstack([costs, signals]), truth.solve(signals, costs), costs, [0, 1, 2])
    assert data.truth is None
    whole = Data(signals, data.decisions, costs, (), truth)
    measured = paper.evaluate(whole.decisions, whole)
    assert measured.returned == 0.0
    assert measured.true_predictability == pytest.approx(0.0, abs=1e-12)
    assert measured.true_suboptimality == pytest.approx(0.0, abs=1e-12)


def test_maps_move_with_the_signal() -> None:
    maps = Maps(np.arange(8.0).reshape(2, 2, 2), np.ones((2, 2)))
    A, b = maps.at(np.array([[1.0, 0.5]]))
    assert A[0].tolist() == (maps.A[0] + 0.5 * maps.A[1]).tolist()
    assert b.tolist() == [[1.5, 1.5]]
