"""What is believed of solvers, and what their multipliers mean: just within, and just beyond."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import SolverError
from feaslearn.sets import Cone
from feaslearn.solvers import conic
from feaslearn.solvers.conic import (
    solve_conic,
)
from feaslearn.solvers.highs import CheckedProgram, Optimum, excess_of

ONES = np.ones(2)


@pytest.mark.parametrize("place", ["r_prim", "r_dual", "obj_val_dual"])
def test_how_small_residuals_must_be(place: str, monkeypatch: Any) -> None:
    answer = SimpleNamespace(status="AlmostSolved", obj_val=-4.0, obj_val_dual=-4.0)
    answer.r_prim = answer.r_dual = 0.0
    answer.x, answer.z = [0.6, 0.8], [1.0, 2.0, 3.0]
    ball = fl.L2Ball(2).conic_form()
    monkeypatch.setattr(conic, "interior_point", lambda *_: answer)
    size = 4.0 if place == "obj_val_dual" else 1.0
    base = getattr(answer, place)
    for residual in (1e-6 if base == 0.0 else 0.9e-6, 1.5e-6):
        setattr(answer, place, base + size * residual)
        if residual <= 1e-6:
            found = solve_conic(ONES, *ball)
            assert (found.point.tolist(), found.value) == ([0.6, 0.8], -4.0)
        else:
            with pytest.raises(SolverError, match=r"AlmostSolved and residual 1\.5e-06"):
                solve_conic(ONES, *ball)


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
