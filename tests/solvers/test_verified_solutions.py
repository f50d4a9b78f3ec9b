"""What is believed of solvers, and what their multipliers mean: just within, and just beyond."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import SolverError
from feaslearn.sets import Cone, ConicForm, ConicSet
from feaslearn.sets.facial_reduction import optimal_face
from feaslearn.solvers import conic
from feaslearn.solvers.conic import (
    ConicSolution,
    minimize_linear,
    nearest_by_solver,
    solve_conic,
    unit,
)
from feaslearn.solvers.highs import Bounds, CheckedProgram, Optimum, WarmProgram, excess_of

ONES = np.ones(2)


@pytest.mark.parametrize("place", ["r_prim", "r_dual", "obj_val_dual"])
def test_how_small_residuals_must_be(place: str, monkeypatch: Any) -> None:
    answer = SimpleNamespace(status="AlmostSolved", obj_val=-4.0, obj_val_dual=-4.0)
    answer.r_prim = answer.r_dual = 0.0
    answer.x, answer.z = [0.6, 0.8], [1.0, 2.0, 3.0]
    ball = fl.L2Ball(2).conic_form()
    monkeypatch.setattr(conic, "_clarabel", lambda *_: answer)
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


def test_clarabel_is_asked_for_short_steps_where_long_ones_stall(monkeypatch: Any) -> None:
    import clarabel

    solver, asked = clarabel.DefaultSolver, []

    def impatient(*arguments: Any) -> Any:
        settings = arguments[-1]
        asked.append((settings.max_step_fraction, settings.max_threads, settings.verbose))
        settings.max_iter = 1
        return solver(*arguments)

    monkeypatch.setattr(clarabel, "DefaultSolver", impatient)
    with pytest.raises(SolverError, match=r"MaxIterations and residual .*, then with status"):
        solve_conic(ONES, *fl.L2Ball(2).conic_form())
    assert asked == [(0.99, 1, False), (0.9, 1, False)]


def test_half_the_square_is_added_to_the_cost() -> None:
    """``-3 w + w^2 / 2 + v`` over ``v >= w - 1, w <= 9`` is least at w = 2, v = 1."""
    rows = np.array([[1.0, -1.0], [0.0, -1.0]])
    found = solve_conic(
        np.array([1.0, -3.0]), rows, np.array([-1.0, -9.0]), (Cone("nonnegative", 2),), squared=1
    )
    np.testing.assert_allclose(found.point, [1.0, 2.0], atol=1e-6)
    assert found.value == pytest.approx(1.0 - 6.0 + 2.0)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_small_distances_are_found_twice(size: float, monkeypatch: Any) -> None:
    solve, squares = conic.solve_conic, []

    def counting(*program: Any) -> ConicSolution:
        squares.append(program[-1] > 0)
        return solve(*program)

    monkeypatch.setattr(conic, "solve_conic", counting)
    form = fl.Box(2, -size, size).conic_form()
    for away, programs in ((0.15, [True]), (0.06, [True, False])):
        squares.clear()
        target = size * np.array([1.0 + away, 0.5])
        found = nearest_by_solver(form, np.eye(2), target, "l2")
        assert squares == programs
        np.testing.assert_allclose(found.latent, size * np.array([1.0, 0.5]), rtol=1e-6)
        np.testing.assert_allclose(found.slope, [-1.0, 0.0], atol=1e-6)


def test_the_better_of_two_answers_is_taken(monkeypatch: Any) -> None:
    form, target = fl.Box(2).conic_form(), np.array([1.05, 0.5])
    points = [np.array([1.0, 0.5]), np.array([1.0, 0.45])]
    for found in (points, points[::-1]):
        left = [(point, np.empty(0)) for point in found]
        monkeypatch.setattr(conic, "_nearest", lambda *_, left=left, **__: left.pop())
        np.testing.assert_array_equal(
            nearest_by_solver(form, np.eye(2), target, "l2").latent, points[0]
        )


def test_costs_are_asked_for_in_units_of_the_largest(monkeypatch: Any) -> None:
    solve, asked = conic.solve_conic, []

    def listening(*program: Any) -> ConicSolution:
        asked.append(program[0].tolist())
        return solve(*program)

    monkeypatch.setattr(conic, "solve_conic", listening)
    found = minimize_linear(fl.Box(2).conic_form(), np.array([-4e9, 1e9]))
    assert found.value == pytest.approx(-5e9)
    minimize_linear(fl.Box(2).conic_form(), np.zeros(2))
    assert asked == [[-1.0, 0.25], [0.0, 0.0]]
    triangle = ConicSet([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]], [0, 0, -2], [("nonnegative", 3)])
    np.testing.assert_allclose(triangle.argmin([0.0, -1e-12]), [0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_distance_of_rounding_has_no_direction(size: float) -> None:
    target = np.array([0.0, size])
    for length, direction in ((1e-8, 0.0), (1.5e-8, 1.0)):
        assert unit(np.array([size * length, 0.0]), target).tolist() == [direction, 0.0]


def test_which_multipliers_are_zero() -> None:
    """Rows of norm one and a cost of size one: from a millionth on, a row is active."""
    H = np.vstack([np.eye(2), -np.eye(2)])
    form = ConicForm(H, -np.ones(4), (Cone("nonnegative", 4),))
    for multiplier, dimension in ((1e-6, 1), (1.5e-6, 0)):
        dual = np.array([1.0, multiplier, 0.0, 0.0])
        face = optimal_face(form, ConicSolution(-np.ones(2), dual, -1.0), np.array([1.0, 0.0]))
        assert face.basis.shape[1] == dimension
        np.testing.assert_array_equal(face.point, -np.ones(2))
    # In other units of the cost and of the rows.
    for multiplier, dimension in ((1e-6, 1), (1.5e-6, 0)):
        scaled = ConicForm(4.0 * H, -4.0 * np.ones(4), form.cones)
        dual = 2.0 * np.array([1.0, multiplier, 0.0, 0.0])
        cost = np.array([8.0, 0.0])
        face = optimal_face(scaled, ConicSolution(-np.ones(2), dual, -8.0), cost)
        assert face.basis.shape[1] == dimension


@pytest.mark.parametrize(
    ("dual", "kinds"),
    [
        ([1e-6, 0.0, 0.0], {"second-order": 3}),
        ([1.5e-6, 0.0, 0.0], {}),
        ([1.0, 1.0 - 1e-6, 0.0], {"nonnegative": 1}),
        ([1.0, 1.0 - 1.5e-6, 0.0], {}),
    ],
)
def test_what_multipliers_make_of_a_norm(dual: list[float], kinds: dict[str, int]) -> None:
    """None leaves the rows as they are, one inside the cone fixes them, one on its edge a ray."""
    form = ConicForm(np.eye(4), np.zeros(4), (Cone("second-order", 3), Cone("zero", 1)))
    solution = ConicSolution(np.zeros(4), np.array([*dual, 0.0]), 0.0)
    face = optimal_face(form, solution, np.array([1.0, 0.0, 0.0, 0.0]))
    assert {cone.kind: cone.size for cone in face.form.cones} == kinds
    assert face.basis.shape[1] == sum(kinds.values())
    if "nonnegative" in kinds:
        np.testing.assert_allclose(
            np.abs(face.basis[:, 0]), np.sqrt([0.5, 0.5, 0.0, 0.0]), atol=1e-6
        )


def test_what_rounding_leaves_of_a_row_in_a_face_is_nothing() -> None:
    tilt = np.array([[1.0, 0.9e-12], [1.0, 1.5e-12]])
    form = ConicForm(
        np.vstack([[[1.0, 0.0]], tilt]), np.zeros(3), (Cone("zero", 1), Cone("nonnegative", 2))
    )
    face = optimal_face(form, ConicSolution(np.zeros(2), np.zeros(3), 0.0), np.array([1.0, 0.0]))
    left = np.abs(face.form.H[:, 0])
    assert left[0] == 0.0
    assert left[1] == pytest.approx(1.5e-12)


def test_equalities_that_are_almost_the_same_are_one() -> None:
    for angle, dimension in ((0.9e-5, 1), (3e-5, 0)):
        rows = np.array([[1.0, angle / 2.0], [1.0, -angle / 2.0]])
        form = ConicForm(rows, np.zeros(2), (Cone("zero", 2),))
        face = optimal_face(form, ConicSolution(np.zeros(2), np.ones(2), 0.0), ONES)
        assert face.basis.shape[1] == dimension


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


def test_costs_that_differ_by_more_than_a_billionth_do_not_tie_for_highs() -> None:
    """From the basis of the sample before, HiGHS moves where it gains more than its tolerance."""
    bounds = Bounds(*(np.full((2, w), v) for w, v in ((1, 1.0), (1, 1.0), (2, 0.0), (2, np.inf))))
    for gain, moves in ((0.9e-9, False), (1.5e-9, True)):
        costs = np.array([[0.0, 1.0], [0.0, -gain]])
        points = WarmProgram(np.ones((1, 2))).solve(costs, bounds).points
        np.testing.assert_array_equal(points, [[1.0, 0.0], [0.0, 1.0] if moves else [1.0, 0.0]])
