"""What is believed of solvers, and what their multipliers mean: just within, and just beyond."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.sets import Cone
from feaslearn.solvers.conic import (
    solve_conic,
)
from feaslearn.solvers.highs import CheckedProgram, Optimum, excess_of

ONES = np.ones(2)


def test_half_the_square_is_added_to_the_cost() -> None:
    """``-3 w + w^2 / 2 + v`` over ``v >= w - 1, w <= 9`` is least at w = 2, v = 1."""
    rows = np.array([[1.0, -1.0], [0.0, -1.0]])
    found = solve_conic(
        np.array([1.0, -3.0]), rows, np.array([-1.0, -9.0]), (Cone("nonnegative", 2),), squared=1
    )
    np.testing.assert_allclose(found.point, [1.0, 2.0], atol=1e-6)
    assert found.value == pytest.approx(1.0 - 6.0 + 2.0)


def test_the_gap_that_a_proof_may_leave() -> None:
    """One unit of x must be made at a price of one; a second one at the same price need not."""
    program = CheckedProgram(
        ONES, np.zeros(2), ONES, None, None, np.array([[1.0, 0.0]]), np.array([1.0])
    )
    for more, told in ((2.5e-7, ""), (3.5e-7, "a gap of 3.5e-07")):
        point = np.array([1.0, more])
        assert program.flaw(Optimum(point, 1.0 + more, np.array([1.0]))) == told
    for share, told in ((-1.5e-7, ""), (-2.5e-7, "duals that prove nothing")):
        endless = program._replace(cost=np.array([1.0, share]), upper=np.array([1.0, np.inf]))
        found = Optimum(np.array([1.0, 0.0]), 1.0, np.array([1.0]))
        assert endless.flaw(found) == told
    nothing = CheckedProgram(np.zeros(1), np.full(1, -np.inf), np.full(1, np.inf))
    assert nothing.flaw(Optimum(np.zeros(1), 0.0, np.empty(0))) == ""


def test_how_far_a_bound_may_be_broken() -> None:
    """By a ten-millionth of one and the number itself."""
    values = np.array([[3.0, 0.0]])
    for excess, told in ((3.9e-7, 0.0), (4.5e-7, 4.5e-7)):
        more = np.array([excess, 0.0])
        for lower, upper in ((values + more, values), (values, values - more)):
            found = excess_of(values, np.minimum(lower, 9.0), np.maximum(upper, -9.0))
            assert found == pytest.approx([told], abs=1e-12)
