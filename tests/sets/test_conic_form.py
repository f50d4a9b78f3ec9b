"""Conic forms, and the programs that are solved over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from feaslearn.exceptions import (
    InfeasibleProblemError,
    SolverError,
    TooManyVerticesError,
    UnboundedProblemError,
    UnsupportedError,
)
from feaslearn.sets import Cone, ConicForm, L1Ball, L2Ball, Simplex
from feaslearn.sets.primitive_set import minimize_polyhedral
from feaslearn.solvers import conic as module
from feaslearn.solvers.conic import ConicSolution, minimize_linear, nearest_by_solver
from feaslearn.solvers.conic_form import stack
from registry import CURVED, NAMES, POLYHEDRAL, example

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


def test_rows_of_each_kind() -> None:
    assert not MIXED.polyhedral
    assert MIXED.equality_rows.tolist() == [False, False, True, False, False, False]
    assert [(cone.kind, rows.start, rows.stop) for cone, rows in MIXED.blocks()] == [
        ("nonnegative", 0, 2),
        ("zero", 2, 3),
        ("second-order", 3, 6),
    ]
    nothing = ConicForm(np.zeros((0, 2)), np.zeros(0), ())
    assert nothing.equality_rows.shape == (0,)
    assert nothing.violation(np.ones((3, 2))).tolist() == [0.0, 0.0, 0.0]


def test_forms_of_a_product_stand_block_by_block() -> None:
    form = stack([Simplex(2).conic_form(), L2Ball(1).conic_form()])
    assert form.H.tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert form.h.tolist() == [0, 0, 1, -1, 0]
    assert [cone.size for cone in form.cones] == [2, 1, 2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_multipliers_prove_the_minimum_at_any_scale(name: str, size: float) -> None:
    form = example(name).conic_form()
    q = size * np.random.default_rng(0).normal(size=form.H.shape[1])
    solution = minimize_linear(form, q)
    assert form.H.T @ solution.dual == pytest.approx(q, abs=1e-7 * size)
    assert solution.dual @ form.h == pytest.approx(solution.value, abs=1e-7 * size)
    assert q @ solution.point == pytest.approx(solution.value, abs=1e-7 * size)


@pytest.mark.parametrize("name", POLYHEDRAL)
def test_linear_programs_end_at_vertices(name: str) -> None:
    primitive = example(name)
    Q = np.random.default_rng(0).normal(size=(5, primitive.dimension)) * 1e-6
    for z in minimize_polyhedral(primitive.conic_form(), Q):
        assert np.abs(primitive.vertices() - z).max(axis=1).min() <= 1e-8


def test_programs_without_an_answer() -> None:
    ray = ConicForm(np.eye(1), np.zeros(1), (Cone("nonnegative", 1),))
    assert minimize_linear(ray, np.ones(1)).value == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(UnboundedProblemError):
        minimize_linear(ray, -np.ones(1))
    nothing = ConicForm(np.array([[1.0], [-1.0]]), np.ones(2), (Cone("nonnegative", 2),))
    with pytest.raises(InfeasibleProblemError):
        minimize_linear(nothing, np.ones(1))


def test_a_solver_that_stops_early_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    import clarabel

    solver = clarabel.DefaultSolver

    def impatient(*arguments: Any) -> Any:
        arguments[-1].max_iter = 1
        return solver(*arguments)

    monkeypatch.setattr(clarabel, "DefaultSolver", impatient)
    with pytest.raises(SolverError, match="Clarabel stopped with status MaxIterations"):
        minimize_linear(example("conic-ice-cream").conic_form(), np.array([0.3, 1.0, -2.0]))


@pytest.mark.parametrize("name", CURVED)
def test_one_of_two_programs_for_a_distance_is_enough(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The square of a distance, or the distance: whichever the solver does not stall at."""
    form = example(name).conic_form()
    rng = np.random.default_rng(0)
    M, solve = rng.normal(size=(2, form.H.shape[1])), module.solve_conic
    target = M @ example(name).center() + 1e-3 * rng.normal(size=2)
    right = np.linalg.norm(M @ nearest_by_solver(form, M, target, "l2").latent - target)
    for stalls in (True, False):

        def half_blind(*program: Any, stalls: bool = stalls) -> ConicSolution:
            is_squared = program[-1] > 0
            if is_squared == stalls:
                raise SolverError("stalled")
            return solve(*program)

        monkeypatch.setattr(module, "solve_conic", half_blind)
        z = nearest_by_solver(form, M, target, "l2").latent
        assert np.linalg.norm(M @ z - target) == pytest.approx(right, abs=1e-3)


def test_unknown_norm() -> None:
    with pytest.raises(UnsupportedError, match="norm='l0' is not known; use 'l2', 'l1' or 'linf'"):
        nearest_by_solver(MIXED, np.eye(2), np.zeros(2), "l0")


def test_the_largest_ball_of_the_sum_of_absolute_values_that_has_a_form() -> None:
    assert len(L1Ball(12).conic_form().h) == 2**12
    with pytest.raises(TooManyVerticesError, match=r"2\^13 facets"):
        L1Ball(13).conic_form()
