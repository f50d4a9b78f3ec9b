"""Conic programs over the forms of sets, triangles of matrices, and HiGHS with its proofs."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.paper import mip
from feaslearn.results import remarks_heard
from feaslearn.solvers import conic, highs
from feaslearn.solvers.conic import minimize_linear, solve_conic
from feaslearn.solvers.conic_form import Cone, ConicForm, matrices, side, split, triangles, turned
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
from registry import NAMES, SEMIDEFINITE_SETS, example, generators, size_of

MIXED = ConicForm(
    np.array([[1.0, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]]),
    np.array([0.0, 0, 1, -1, 0, 0]),
    (Cone("nonnegative", 2), Cone("zero", 1), Cone("second-order", 3)),
)


def test_violation_is_that_of_the_worst_row() -> None:
    Z = np.array([[0.5, 0.5], [1.5, -0.5], [0.5, 0.9], [3.0, 4.0]])
    # The last points break: z_1 >= 0 by 0.5 and the cone by sqrt(2.5) - 1; the equality by 0.4
    # (and the cone by sqrt(1.06) - 1); the equality by 6.
    expected = [0.0, np.sqrt(2.5) - 1.0, 0.4, 6.0]
    assert MIXED.violation(Z) == pytest.approx(expected)


@pytest.mark.parametrize("name", [*NAMES, *SEMIDEFINITE_SETS])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_multipliers_prove_the_minimum_at_any_scale(name: str, size: float) -> None:
    form = example(name).conic_form()
    q = size * np.random.default_rng(0).normal(size=form.H.shape[1])
    solution = minimize_linear(form, q)
    assert form.H.T @ solution.dual == pytest.approx(q, abs=1e-7 * size)
    assert solution.dual @ form.h == pytest.approx(solution.value, abs=1e-7 * size)
    assert q @ solution.point == pytest.approx(solution.value, abs=1e-7 * size)
    assert form.violation(solution.point[None])[0] <= 1e-7 * size_of(name)
    for cone, rows in form.blocks():
        # All cones but that of zeros are their own duals.
        if cone.kind != "zero":
            dual = ConicForm(np.eye(cone.size), np.zeros(cone.size), (cone,))
            assert dual.violation(solution.dual[None, rows])[0] <= 1e-7 * size


def test_programs_without_an_answer() -> None:
    ray = ConicForm(np.eye(1), np.zeros(1), (Cone("nonnegative", 1),))
    assert minimize_linear(ray, np.ones(1)).value == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(UnboundedProblemError):
        minimize_linear(ray, -np.ones(1))
    nothing = ConicForm(np.array([[1.0], [-1.0]]), np.ones(2), (Cone("nonnegative", 2),))
    with pytest.raises(InfeasibleProblemError):
        minimize_linear(nothing, np.ones(1))


def test_a_conic_program_is_solved_without_presolve(monkeypatch: Any, caplog: Any) -> None:
    stalled = SimpleNamespace(
        status="InsufficientProgress", obj_val=0.0, obj_val_dual=1.0, r_prim=1.0, r_dual=1.0
    )
    form = fl.Polytope([[1.0, 0], [0, 1], [-1, -1]], [0.0, 0, -2]).conic_form()
    right = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    monkeypatch.setattr(conic, "interior_point", lambda *_: stalled)
    with caplog.at_level(logging.WARNING, "feaslearn"):
        found = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    np.testing.assert_allclose(found.point, right.point, atol=1e-9)
    np.testing.assert_allclose(found.dual, right.dual, atol=1e-9)
    assert "solved by HiGHS" in caplog.text
    with pytest.raises(SolverError, match="InsufficientProgress"):
        conic.minimize_linear(fl.L2Ball(2).conic_form(), np.array([-3.0, 1.0]))


def test_half_the_square_is_added_to_the_cost() -> None:
    """``-3 w + w^2 / 2 + v`` over ``v >= w - 1, w <= 9`` is least at w = 2, v = 1."""
    rows = np.array([[1.0, -1.0], [0.0, -1.0]])
    found = solve_conic(
        np.array([1.0, -3.0]), rows, np.array([-1.0, -9.0]), (Cone("nonnegative", 2),), squared=1
    )
    np.testing.assert_allclose(found.point, [1.0, 2.0], atol=1e-6)
    assert found.value == pytest.approx(1.0 - 6.0 + 2.0)


# Triangles of symmetric matrices.


def symmetric(rng: np.random.Generator, m: int) -> np.ndarray:
    X = rng.normal(size=(m, m))
    return np.asarray(X + X.T)


def test_triangle_of_a_matrix() -> None:
    S = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    assert triangles(S) == pytest.approx(
        np.array([1, 2 * np.sqrt(2.0), 3, 4 * np.sqrt(2.0), 5 * np.sqrt(2.0), 6])
    )
    assert matrices(triangles(S)) == pytest.approx(S)
    assert [side(size) for size in (0, 1, 2, 3, 6, 10, 11)] == [0, 1, None, 2, 3, 4, None]


@given(generators(), st.integers(1, 4))
def test_products_turns_and_scaling(rng: np.random.Generator, m: int) -> None:
    X, Y = symmetric(rng, m), symmetric(rng, m)
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    x, y = triangles(X), triangles(Y)
    assert x @ y == pytest.approx(np.trace(X @ Y))
    assert turned(Q) @ x == pytest.approx(triangles(Q.T @ X @ Q))


@given(generators(), st.integers(1, 4), st.data())
def test_split_by_multipliers(rng: np.random.Generator, m: int, data: st.DataObject) -> None:
    """Slack on the null space of the multipliers is zero in all rows that are not kept."""
    nullity = data.draw(st.integers(0, m))
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    V, U = Q[:, :nullity], Q[:, nullity:]
    dual = triangles((U * rng.uniform(1.0, 2.0, m - nullity)) @ U.T)
    W = symmetric(rng, nullity)
    rows, kept, *_ = split(dual, 1e-9)
    assert kept == nullity * (nullity + 1) // 2
    slack = rows @ triangles(V @ W @ V.T)
    assert slack[kept:] == pytest.approx(np.zeros(len(slack) - kept), abs=1e-12)
    assert np.linalg.norm(slack[:kept]) == pytest.approx(np.linalg.norm(W))


# HiGHS: warm programs, proofs of optima, and a second attempt where the first fails.

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
