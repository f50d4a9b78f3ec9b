"""Conic programs over the forms of sets, and triangles of symmetric matrices."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.solvers import conic
from feaslearn.solvers.conic import minimize_linear, solve_conic
from feaslearn.solvers.conic_form import Cone, ConicForm, matrices, side, split, triangles, turned
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
