"""HiGHS: warm programs, proofs of optima, and a second attempt where the first fails."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
import pytest

from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.paper import mip
from feaslearn.results import remarks_heard
from feaslearn.solvers import highs
from feaslearn.solvers.highs import (
    DUAL,
    PRIMAL,
    WARM,
    Bounds,
    CheckedProgram,
    Optimum,
    WarmProgram,
    excess_of,
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


#: Of the two cheapest of three plants, one makes at most 2 and all of them 3.
DISPATCH = CheckedProgram(
    np.array([1.0, 2.0, 9.0]),
    np.zeros(3),
    np.array([np.inf, 2.0, 2.0]),
    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    np.array([2.0, 3.0]),
    np.ones((1, 3)),
    np.array([3.0]),
)
RIGHT = Optimum(np.array([2.0, 1.0, 0.0]), 4.0, np.array([-1.0, 0.0, 2.0]))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (RIGHT._replace(point=np.array([3.0, 0.0, 0.0])), "rows violated by 1.0e+00"),
        (RIGHT._replace(point=np.array([4.0, 1.0, -2.0])), "rows violated by 2.0e+00"),
        (RIGHT._replace(point=np.array([1.0, 2.0, 0.0])), "a gap of 1.0e+00"),
        (RIGHT._replace(duals=np.array([1.0, 0.0, 2.0])), "duals that prove nothing"),
        (RIGHT._replace(point=np.full(3, np.nan)), "numbers that are not finite"),
        (RIGHT._replace(duals=np.array([np.inf, 0.0, 2.0])), "numbers that are not finite"),
        ("numerical trouble", "numerical trouble"),
    ],
)
def test_an_optimum_without_a_proof_is_asked_for_again(
    monkeypatch: Any, wrong: Optimum | str, why: str
) -> None:
    with remarks_heard() as said:
        found = DISPATCH.solve("dispatch")
    assert said == []
    np.testing.assert_allclose(found.point, RIGHT.point, atol=1e-9)
    assert not DISPATCH.flaw(RIGHT)
    answer = ("Optimal", wrong) if isinstance(wrong, Optimum) else (wrong, None)
    attempt = CheckedProgram._attempt
    second_right = lambda self, how: attempt(self, how) if how is highs.WARM else answer  # noqa: E731
    monkeypatch.setattr(CheckedProgram, "_attempt", second_right)
    with remarks_heard() as said:
        again = DISPATCH.solve("dispatch")
    assert said == [f"the dispatch program was solved without presolve, after {why}"]
    np.testing.assert_allclose(again.point, RIGHT.point, atol=1e-9)
    np.testing.assert_allclose(again.duals, RIGHT.duals, atol=1e-9)
    assert again.value == pytest.approx(4.0)
    monkeypatch.setattr(CheckedProgram, "_attempt", lambda *_: answer)
    with pytest.raises(
        SolverError, match=f"{why}; then, without presolve, {why}".replace("+", ".")
    ):
        DISPATCH.solve("dispatch")


def test_two_solvers_say_that_there_is_no_optimum() -> None:
    told = r"dispatch program was not solved \(Infeasible; then, without presolve, Infeasible\)"
    with pytest.raises(InfeasibleProblemError, match=told):
        DISPATCH._replace(e=np.array([9.0])).solve("dispatch")
    with pytest.raises(UnboundedProblemError, match="dispatch"):
        DISPATCH._replace(cost=-DISPATCH.cost, A=None, b=None, E=None, e=None).solve("dispatch")


def test_the_gap_that_a_proof_may_leave() -> None:
    """One unit of x must be made at a price of one; a second one at the same price need not."""
    program = CheckedProgram(
        np.ones(2), np.zeros(2), np.ones(2), None, None, np.array([[1.0, 0.0]]), np.array([1.0])
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
