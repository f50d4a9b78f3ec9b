"""Solving: against a second solver, errors that name the sample, and scale."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.datasets import AffineRows, LinearProgram
from feaslearn.exceptions import (
    DataError,
    InfeasibleProblemError,
)


def test_evaluate_is_constant_plus_slope_times_signal() -> None:
    rows = AffineRows([1.0, -np.inf, 0.0], [[2.0, 0.0], [0.0, 0.0], [1.0, -1.0]])
    bounds = rows.evaluate([[1.0, 2.0], [0.0, 0.5]])
    np.testing.assert_allclose(bounds, [[3.0, -np.inf, -1.0], [1.0, -np.inf, -0.5]])


@pytest.mark.parametrize(
    ("constant", "slope", "message"),
    [
        ([[1.0]], [[1.0]], r"constant has shape \(1, 1\)"),
        ([1.0, 2.0], [[1.0]], r"slope has shape \(1, 1\), expected \(2, signals\)"),
        ([np.nan], [[1.0]], r"constant is NaN in rows \[0\]"),
        ([0.0, 1.0], [[1.0], [np.inf]], r"slope is NaN or infinite in rows \[1\]"),
        ([np.inf], [[1.0]], r"rows \[0\] have an infinite constant"),
    ],
)
def test_bad_rows_are_refused(constant: list[float], slope: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        AffineRows(constant, slope)


def box(n_rows: int = 1) -> LinearProgram:
    """0 <= x, x_1 + x_2 >= s (in each of the rows)."""
    low = AffineRows(np.zeros(n_rows), np.ones((n_rows, 1)))
    high = AffineRows(np.full(n_rows, np.inf), np.zeros((n_rows, 1)))
    return LinearProgram(np.ones((n_rows, 2)), low, high, [0.0, 0.0], [2.0, np.inf], 2)


def test_infeasible_samples_are_named() -> None:
    rows = AffineRows([0.0], [[1.0]])
    program = LinearProgram([[1.0]], rows, rows, [0.0], [1.0], 1)
    signals = np.array([[0.5], [2.0], [0.25], [-1.0]])
    with pytest.raises(InfeasibleProblemError, match=r"no feasible point at samples 1, 3: check"):
        program.solve(signals, np.ones((4, 1)))
    with pytest.raises(InfeasibleProblemError, match="samples 1, 3"):
        program.distance_to_feasible(np.zeros((4, 1)), signals)
    with pytest.raises(InfeasibleProblemError, match=r"samples 0, 1, 2, 3, 4 and 7 more"):
        program.solve(np.full((12, 1), 9.0), np.ones((12, 1)))


def test_distances_in_the_l1_norm() -> None:
    """``x_1 + x_2 >= s`` in the positive quadrant, x_1 at most 2; what was not observed is free."""
    points = np.array([[0.0, 0.0], [3.0, -1.0], [1.0, np.nan], [1.0, 1.0]])
    found = box().distance_to_feasible(points, np.full((4, 1), 2.0))
    np.testing.assert_allclose(found, [2.0, 2.0, 0.0, 0.0], atol=1e-9)


def test_every_problem_of_a_definition_is_named() -> None:
    rows = AffineRows([0.0, 0.0], np.zeros((2, 1)))
    with pytest.raises(DataError) as caught:
        LinearProgram(
            [[1.0, np.nan]], rows, AffineRows([0.0], np.zeros((1, 3))), [1.0, 0.0], [0.0, np.nan], 7
        )
    for part in (
        "matrix has values that are NaN",
        "row_lower has 2 rows, matrix has 1",
        "row_lower reads 1 signals, row_upper 3",
        "upper is NaN at [1]",
        "lower is above upper for variables [0]",
        "n_decisions is 7, expected 1 to 2",
    ):
        assert part in str(caught.value)


def test_bad_input_is_named_together() -> None:
    with pytest.raises(DataError) as caught:
        box().distance_to_feasible([[0.0, np.inf]], [[np.nan]])
    for part in ("signals", "row 0", "decisions"):
        assert part in str(caught.value)
    with pytest.raises(DataError, match="number of rows differs: signals 1, costs 2"):
        box().solve([[1.0]], [[1.0, 1.0], [1.0, 1.0]])
