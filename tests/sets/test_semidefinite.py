"""Semidefinite cones: their triangles, known faces, and a disc that is a ball as well."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets import ConicSet, L2Ball
from feaslearn.solvers.triangle import jordan, matrices, side, split, triangles, turned
from registry import example, generators


def symmetric(rng: np.random.Generator, m: int) -> np.ndarray:
    X = rng.normal(size=(m, m))
    return np.asarray(X + X.T)


def test_triangle_of_a_matrix() -> None:
    root = np.sqrt(2.0)
    S = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    assert triangles(S) == pytest.approx(np.array([1, 2 * root, 3, 4 * root, 5 * root, 6]))
    assert matrices(triangles(S)) == pytest.approx(S)
    assert [side(size) for size in (0, 1, 2, 3, 6, 10, 11)] == [0, 1, None, 2, 3, 4, None]


@given(generators(), st.integers(1, 4))
def test_products_turns_and_scaling(rng: np.random.Generator, m: int) -> None:
    X, Y = symmetric(rng, m), symmetric(rng, m)
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    x, y = triangles(X), triangles(Y)
    assert x @ y == pytest.approx(np.trace(X @ Y))
    assert turned(Q) @ x == pytest.approx(triangles(Q.T @ X @ Q))
    assert jordan(x) @ y == pytest.approx(triangles((X @ Y + Y @ X) / 2))


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


def test_violation_is_the_least_eigenvalue() -> None:
    cap, points = example("conic-parabola-cap"), [[0.5, 0.25], [0.0, -0.5], [0.0, 3.0]]
    assert cap.conic_form().violation(np.array(points)) == pytest.approx([0.0, 0.5, 2.0])
    assert not cap.conic_form().polyhedral


def test_unit_disc_is_the_ball() -> None:
    """``[[1 + z_0, z_1], [z_1, 1 - z_0]]`` has no negative eigenvalue exactly where |z| <= 1."""
    root = np.sqrt(2.0)
    disc = ConicSet([[1, 0], [0, root], [-1, 0]], [-1, 0, -1], [("semidefinite", 3)])
    ball, rng = L2Ball(2), np.random.default_rng(0)
    for q, direction in rng.normal(size=(10, 2, 2)):
        assert disc.argmin(q) == pytest.approx(ball.argmin(q), abs=1e-6)
        assert disc.turn(q, direction) == pytest.approx(ball.turn(q, direction), abs=1e-5)
        assert disc.project(3.0 * q) == pytest.approx(ball.project(3.0 * q), abs=1e-6)


@pytest.mark.parametrize("q", [[-1.0, -1, -1], [2.0, 1, 2], [1.0, 1, 0]])
def test_corners_of_the_elliptope(q: list[float]) -> None:
    """In the second case neither slack nor multipliers are positive in one direction."""
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    face = example("conic-elliptope").face(q)
    assert face.is_point
    assert face.center() == pytest.approx(corners[np.argmin(corners @ q)], abs=1e-6)


def test_edge_and_round_side_of_the_elliptope() -> None:
    lower, upper = example("conic-elliptope").face([1.0, 0, 0]).bounding_box()
    assert lower == pytest.approx([-1.0, -1, -1], abs=1e-6)
    assert upper == pytest.approx([-1.0, 1, 1], abs=1e-6)
    face = example("conic-elliptope").face([1.0, 1, 1])
    assert face.is_point
    assert face.center() == pytest.approx([-0.5, -0.5, -0.5], abs=1e-6)
