"""Distances to the feasible set and to the optimal face, against independent computations."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from feaslearn.datasets import AffineRows, LinearProgram

NORMS = ("l1", "l2", "linf")
CVXPY_NORM = {"l1": 1, "l2": 2, "linf": "inf"}


def brute_force(
    program: LinearProgram,
    x: np.ndarray,
    signal: np.ndarray,
    norm: str,
    cost: np.ndarray | None = None,
) -> float:
    """The same distance as a CVXPY program, the optimal face as ``c'x <= v* + 1e-9``."""
    y = cp.Variable(program.matrix.shape[1])
    rows = program.matrix.toarray() @ y
    low, high = program.row_lower.evaluate([signal])[0], program.row_upper.evaluate([signal])[0]
    rules = []
    for bound, sign, value in ((high, 1, rows), (low, -1, rows)):
        seen = np.isfinite(bound)
        if seen.any():
            rules.append(sign * value[seen] <= sign * bound[seen])
    for bound, sign in ((program.upper, 1), (program.lower, -1)):
        seen = np.isfinite(bound)
        rules.append(sign * y[seen] <= sign * bound[seen])
    n = program.n_decisions
    if cost is not None:
        least = cp.Problem(cp.Minimize(cost @ y[:n]), rules).solve(solver=cp.HIGHS)
        rules.append(cost @ y[:n] <= least + 1e-9)
    objective = cp.Minimize(cp.norm(y[:n] - x, CVXPY_NORM[norm]))
    return float(cp.Problem(objective, rules).solve(solver=cp.CLARABEL))


def network(lines: list[tuple[int, int]], plants: list[int], line: float) -> LinearProgram:
    """Plants of capacity 2 on three nodes; the demands are the signals."""
    balance = np.zeros((3, len(plants) + len(lines)))
    for k, node in enumerate(plants):
        balance[node, k] = 1.0
    for k, (i, j) in enumerate(lines):
        balance[i, len(plants) + k], balance[j, len(plants) + k] = -1.0, 1.0
    served = AffineRows(np.zeros(3), np.eye(3))
    lower = np.r_[np.zeros(len(plants)), np.full(len(lines), -line)]
    upper = np.r_[np.full(len(plants), 2.0), np.full(len(lines), line)]
    return LinearProgram(balance, served, served, lower, upper, len(plants))


TRIANGLE = [(0, 1), (1, 2), (2, 0)]
# Demands that make vertices degenerate: whole numbers, capacities met exactly, nothing wanted.
DEMANDS = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 1.5, 1.0]])
# All equal, a pair of equal ones, all different, zero, both signs.
COSTS = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.3, 0.5, 0.2], [0.0, 0.0, 0.0], [-1.0, 1, 1]])


@pytest.mark.parametrize(("norm", "line"), [("l1", 0.5), ("l2", 1.0), ("linf", 5.0)])
def test_optimal_face_with_ties_and_degenerate_vertices(norm: str, line: float) -> None:
    program = network(TRIANGLE, [0, 1, 2], line)
    rng = np.random.default_rng(1)
    pairs = list(product(DEMANDS, COSTS))
    signals, costs = (np.array(part) for part in zip(*pairs, strict=True))
    decisions = rng.normal(0.7, 1.0, size=costs.shape)
    distances = program.distance_to_optimal(decisions, signals, costs, norm)
    expected = [
        brute_force(program, x, s, norm, c)
        for x, s, c in zip(decisions, signals, costs, strict=True)
    ]
    np.testing.assert_allclose(distances, expected, atol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_distance_is_zero_exactly_on_optimal_decisions(norm: str) -> None:
    program = network(TRIANGLE, [0, 1, 2], 0.6)
    rng = np.random.default_rng(3)
    signals = rng.uniform(0.2, 1.2, size=(100, 3))
    costs = rng.uniform(0.2, 1.2, size=(100, 3))
    best = program.solve(signals, costs)
    assert program.distance_to_optimal(best, signals, costs, norm).max() < 1e-8
    assert program.distance_to_feasible(best, signals, norm).max() < 1e-8
    worst = program.solve(signals, -costs)
    dearer = ((worst - best) * costs).sum(axis=1) > 1e-3
    assert dearer.sum() > 50
    assert program.distance_to_optimal(worst, signals, costs, norm)[dearer].min() > 1e-4


def test_l2_projection_is_exact_for_tiny_distances() -> None:
    """A least-squares solver would stop at the square root of its tolerance."""
    program = network(TRIANGLE, [0, 1, 2], 5.0)
    signals = np.tile([1.0, 1.0, 1.0], (5, 1))
    steps = np.array([0.0, 1e-9, 1e-7, 1e-5, 1e-3])
    # Off the plane sum x = 3, at right angles to it.
    decisions = np.array([1.0, 1.5, 0.5]) + steps[:, None] * np.ones(3) / np.sqrt(3.0)
    np.testing.assert_allclose(program.distance_to_feasible(decisions, signals), steps, atol=2e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_unobserved_entries_do_not_count(norm: str) -> None:
    total = AffineRows([2.0], [[0.0]])
    program = LinearProgram(np.ones((1, 3)), total, total, np.zeros(3), np.ones(3), 3)
    decisions = [[np.nan, 1.5, 0.5], [np.nan] * 3, [np.nan, 0.0, 0.0]]
    lengths = {"l1": [0.5, 0.0, 1.0], "l2": [0.5, 0.0, np.sqrt(0.5)], "linf": [0.5, 0.0, 0.5]}
    distances = program.distance_to_feasible(decisions, np.zeros((3, 1)), norm)
    np.testing.assert_allclose(distances, lengths[norm], atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_the_unit_of_a_row_does_not_matter(norm: str) -> None:
    """A cap that decides must be found whatever the size of its numbers."""
    for unit in (1e-6, 1.0, 1e8):
        low = AffineRows([1.0, -np.inf], np.zeros((2, 1)))
        high = AffineRows([1.0, 0.25 * unit], np.zeros((2, 1)))
        program = LinearProgram([[1.0, 1.0], [unit, 0.0]], low, high, [0.0, 0.0], [2.0, 2.0], 2)
        distance = program.distance_to_optimal([[0.0, 1.0]], [[0.0]], [[1.0, 2.0]], norm)
        length = {"l1": 0.5, "l2": 0.25 * np.sqrt(2.0), "linf": 0.25}[norm]
        np.testing.assert_allclose(distance, [length], atol=1e-8)
