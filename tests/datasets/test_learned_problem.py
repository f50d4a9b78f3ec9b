"""A learned region answers like the true problem it equals."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.datasets import AffineRows, LearnedProblem, LinearProgram
from feaslearn.exceptions import DataError
from feaslearn.hypotheses import Affine, Scaled
from feaslearn.sets import L1Ball, L2Ball, Simplex

NORMS = ("l1", "l2", "linf")


def with_constant(signals: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(signals)), signals])


def triangle() -> tuple[LearnedProblem, LinearProgram]:
    """x >= 0, x_1 + x_2 <= 1 + s, as the image of a simplex and as rows."""
    columns = np.zeros((2, 2, 3))
    columns[:, 0, 1] = columns[:, 1, 2] = 1.0
    learned = LearnedProblem(Affine(Simplex(3)), columns.ravel(), with_constant)
    low, high = AffineRows([-np.inf], [[0.0]]), AffineRows([1.0], [[1.0]])
    true = LinearProgram([[1.0, 1.0]], low, high, [0.0, 0.0], [np.inf, np.inf], 2)
    return learned, true


# Ties on an edge, on the whole triangle, and vertices.
COSTS = np.array([[-1.0, -1.0], [0.0, 0.0], [1.0, 0.0], [-1.0, -2.0], [1.0, 1.0], [0.0, -1.0]])


@pytest.mark.parametrize("norm", NORMS)
def test_learned_and_true_agree(norm: str) -> None:
    learned, true = triangle()
    rng = np.random.default_rng(0)
    costs = np.tile(COSTS, (5, 1))
    signals = rng.uniform(0.0, 1.0, size=(len(costs), 1))
    decisions = rng.normal(0.5, 1.0, size=costs.shape)
    decisions[0, 1] = np.nan
    np.testing.assert_allclose(
        learned.optimal_value(signals, costs), true.optimal_value(signals, costs), atol=1e-9
    )
    np.testing.assert_allclose(
        learned.distance_to_feasible(decisions, signals, norm),
        true.distance_to_feasible(decisions, signals, norm),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        learned.distance_to_optimal(decisions, signals, costs, norm),
        true.distance_to_optimal(decisions, signals, costs, norm),
        atol=1e-6,
    )


def test_ball_in_closed_form() -> None:
    ball = LearnedProblem(Scaled(L2Ball(2)), [2.0, 1.0, -1.0], lambda s: np.ones((len(s), 1)))
    costs = np.random.default_rng(1).normal(size=(20, 2))
    length = np.linalg.norm(costs, axis=1)
    best = [1.0, -1.0] - 2.0 * costs / length[:, None]
    np.testing.assert_allclose(ball.solve(costs, costs), best, atol=1e-12)
    np.testing.assert_allclose(
        ball.optimal_value(costs, costs), costs @ [1.0, -1.0] - 2.0 * length, atol=1e-12
    )
    far = [1.0, -1.0] + 5.0 * costs / length[:, None]
    np.testing.assert_allclose(ball.distance_to_feasible(far, costs), 3.0, atol=1e-7)
    np.testing.assert_allclose(ball.distance_to_optimal(far, costs, costs), 7.0, atol=1e-7)


def test_bad_input_is_named() -> None:
    learned, _ = triangle()
    with pytest.raises(DataError, match=r"costs has shape \(1, 3\), expected \(samples, 2\)"):
        learned.solve([[0.0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(DataError, match="number of rows differs"):
        learned.solve([[0.0]], [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(DataError, match="norm='l7'"):
        learned.distance_to_feasible([[0.0, 0.0]], [[0.0]], norm="l7")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"signals: .* NaN or infinite: row 0, column 0"):
        learned.solve([[np.nan]], [[1.0, 2.0]])


def test_theta_that_fits_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="theta has shape"):
        LearnedProblem(Scaled(L1Ball(2)), [[1.0]], with_constant)
    problem = LearnedProblem(Scaled(L1Ball(2)), [1.0, 2.0], with_constant)
    with pytest.raises(DataError, match="theta has 2 entries"):
        problem.solve([[0.0]], [[1.0, 2.0]])
