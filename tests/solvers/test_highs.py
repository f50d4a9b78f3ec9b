"""Programs solved again and again: what HiGHS is asked, and what is done where it fails."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

from feaslearn.exceptions import InfeasibleProblemError, UnboundedProblemError
from feaslearn.solvers import mip
from feaslearn.solvers.highs import (
    DUAL,
    PRIMAL,
    WARM,
    Bounds,
    WarmProgram,
)

INF = np.inf


def test_every_option_is_one_that_highs_takes() -> None:
    solver = highspy.Highs()
    for name, value in (*WARM.items(), *mip.OPTIONS.items(), ("simplex_strategy", PRIMAL)):
        assert solver.setOptionValue(name, value) == highspy.HighsStatus.kOk, name
    names = highspy.simplex_constants.SimplexStrategy
    assert (int(names.kSimplexStrategyDual), int(names.kSimplexStrategyPrimal)) == (DUAL, PRIMAL)


def simplex(count: int) -> Bounds:
    """Return x0 + x1 = 1, 0 <= x, for some samples."""
    return Bounds(*(np.full((count, w), v) for w, v in ((1, 1.0), (1, 1.0), (2, 0.0), (2, INF))))


def test_samples_follow_each_other_with_their_own_costs_and_bounds() -> None:
    program = WarmProgram(np.ones((1, 2)))
    bounds = simplex(5)
    bounds.row_lower[2:] = bounds.row_upper[2:] = 3.0
    bounds.upper[3:, 0] = 0.5
    bounds.lower[4:, 1] = 2.75
    bounds.upper[4, 0] = INF
    costs = np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    answers = program.solve(costs, bounds)
    expected = [[1.0, 0.0], [0.0, 1.0], [0.0, 3.0], [0.5, 2.5], [0.25, 2.75]]
    np.testing.assert_allclose(answers.points, expected, atol=1e-9)
    np.testing.assert_allclose(answers.row_duals[:, 0], [1.0, 1.0, 1.0, 2.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(answers.column_duals[3], [-1.0, 0.0], atol=1e-9)


def test_samples_without_an_answer_are_named() -> None:
    program, bounds = WarmProgram(np.ones((1, 2))), simplex(3)
    bounds.upper[1] = 0.25
    with pytest.raises(InfeasibleProblemError, match="no feasible point at sample 1"):
        program.solve(np.ones((3, 2)), bounds)
    answers = program.solve(np.ones((3, 2)), bounds, infeasible=True)
    assert np.isnan(answers.points[:, 0]).tolist() == [False, True, False]
    bounds = simplex(3)
    bounds.row_upper[2] = INF
    with pytest.raises(UnboundedProblemError, match="no minimum at sample 2"):
        program.solve(-np.ones((3, 2)), bounds)
