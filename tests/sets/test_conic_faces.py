"""Conic forms, optimal faces of curved sets and how minimisers move; semidefinite triangles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets import (
    Box,
    Cone,
    ConicForm,
    ConicSet,
    L1Ball,
    L2Ball,
    Polytope,
    Simplex,
)
from feaslearn.sets.conic_faces import turn
from feaslearn.sets.product import Product
from feaslearn.solvers.conic import minimize_linear
from feaslearn.solvers.conic_form import stack
from feaslearn.solvers.triangle import jordan, matrices, side, split, triangles, turned
from registry import (
    FOR_EACH_SET,
    POLYHEDRAL,
    example,
    generators,
    size_of,
    vectors,
)

TOLERANCE = 1e-6


@pytest.mark.parametrize("name", POLYHEDRAL)
@FOR_EACH_SET
@given(data=st.data())
def test_face_holds_every_vertex_of_least_cost(name: str, data: st.DataObject) -> None:
    primitive = example(name)
    q = data.draw(vectors(primitive.dimension))
    values = primitive.vertices() @ q
    excess = (values - values.min()) / max(np.abs(q).max(), 1e-300)

    face = primitive.face(q)

    tied = primitive.vertices()[excess <= 1e-10]
    assert face.contains(tied[:4], TOLERANCE * size_of(name)).all()
    others = primitive.vertices()[excess > 1e-4 * size_of(name)]
    assert not face.contains(others[:4], TOLERANCE * size_of(name)).any()
    assert face.is_point == (len(tied) == 1) or excess[excess > 1e-10].min(initial=1.0) < 1e-5
    assert primitive.tied(q)[0] != face.is_point


def test_flat_side_of_a_half_disc() -> None:
    face = example("conic-half-disc").face([0.0, 2.0])
    lower, upper = face.bounding_box()
    assert lower == pytest.approx([-1.0, 0.0], abs=1e-7)
    assert upper == pytest.approx([1.0, 0.0], abs=1e-7)


@pytest.mark.parametrize("angle", [0.3, np.pi / 2, 2.9])
def test_round_side_of_a_half_disc_is_one_point(angle: float) -> None:
    direction = np.array([np.cos(angle), np.sin(angle)])
    face = example("conic-half-disc").face(-direction)
    assert face.is_point
    assert face.center() == pytest.approx(direction, abs=1e-6)


def test_edge_of_a_cone_from_its_apex_to_its_rim() -> None:
    face = example("conic-ice-cream").face([1.0, 1.0, 0.0])
    lower, upper = face.bounding_box()
    assert lower == pytest.approx([0.0, -1.0, 0.0], abs=1e-6)
    assert upper == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert face.contains([[0.5, -0.5, 0.0]], 1e-6).all()
    assert not face.contains([[0.5, 0.0, 0.0]], 1e-3).any()


def test_tolerance_decides_what_ties() -> None:
    for primitive, q in (
        (Simplex(2), [1.0, 1.001]),
        (L1Ball(2), [1.0, -1.001]),
        (Box(2), [1.0, 0.001]),
        (L2Ball(2), [1e-4, 1e-4]),
        (Polytope([[1, 0], [0, 1], [-1, -1]], [0, 0, -1]), [-1.0, -1.001]),
        (example("conic-half-disc"), [1e-4, 1e-4]),
    ):
        assert primitive.face(q).is_point, primitive
        assert not primitive.face(q, tolerance=0.01).is_point, primitive


def test_a_block_that_costs_next_to_nothing_ties_in_a_product() -> None:
    q = [1.0, 1e-12, -1e-12]
    for second in (L2Ball(2), example("conic-half-disc")):
        pair = Product([Box(1), second])
        face = pair.face(q)
        assert face.contains([[-1.0, 0.1, 0.2], [-1.0, -0.9, 0.1]], 1e-7).all()
        assert pair.tied(q)[0]


def test_a_single_point_never_ties() -> None:
    nothing = np.zeros(2)
    point = [[1.0, 0], [0, 1], [1, 0], [0, 1]]
    cones = [("nonnegative", 2), ("zero", 2)]
    for primitive in (
        Box(2, 1.0, 1.0),
        Polytope(np.eye(2), [0.0, 0.0], [[1.0, 1.0]], [0.0]),
        ConicSet(point, [0.0, 0, 1, 2], cones),
    ):
        assert not primitive.tied(nothing)[0], primitive


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


@pytest.mark.parametrize("name", POLYHEDRAL)
def test_corners_do_not_turn(name: str) -> None:
    primitive = example(name)
    q, direction = np.random.default_rng(0).normal(size=(2, primitive.dimension))
    np.testing.assert_array_equal(primitive.turn(q, direction), np.zeros(primitive.dimension))


def test_turn_on_a_ball_in_closed_form() -> None:
    q, direction = np.array([3.0, 0.0, 4.0]), np.array([1.0, 2.0, -1.0])
    expected = -(direction - q * (q @ direction) / 25.0) / 5.0
    assert example("l2-ball-3").turn(q, direction) == pytest.approx(expected, abs=1e-6)


def test_turn_stops_at_the_rim_of_a_lid() -> None:
    """On the rim of the ice-cream cone the minimiser moves around it and nowhere else."""
    q = np.array([-3.0, 1.0, 0.0])
    turned = example("conic-ice-cream").turn(q, np.array([1.0, 0.0, 1.0]))
    assert turned == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)


def test_turn_where_the_limit_of_a_norm_depends_on_the_point() -> None:
    """An ellipse by its focus, ``|z| <= 1 - z_0 / 2``, against the minimiser in closed form."""
    ellipse = ConicSet([[-0.5, 0.0], [1.0, 0.0], [0.0, 1.0]], [-1.0, 0, 0], [("second-order", 3)])
    axes, middle = np.array([4.0 / 3.0, np.sqrt(4.0 / 3.0)]), np.array([-2.0 / 3.0, 0.0])
    q, direction = np.array([0.7, -1.1]), np.array([0.4, 0.9])
    far = np.linalg.norm(axes * q)
    assert ellipse.argmin(q) == pytest.approx(middle - axes**2 * q / far, abs=1e-7)
    expected = -(axes**2) * (direction / far - q * (axes**2 * q @ direction) / far**3)
    assert ellipse.turn(q, direction) == pytest.approx(expected, abs=1e-5)


def test_an_apex_stays_while_another_part_turns() -> None:
    """A cone beside a ball: only the ball turns."""
    cone = ConicForm(np.eye(2), np.zeros(2), (Cone("second-order", 2),))
    form = stack([cone, example("l2-ball-3").conic_form()])
    q = np.array([1.0, 0.2, 3.0, 0.0, 4.0])
    direction = np.array([1.0, -1.0, 1.0, 2.0, -1.0])
    turned = turn(form, minimize_linear(form, q), q, direction)
    alone = example("l2-ball-3").turn(q[2:], direction[2:])
    np.testing.assert_allclose(turned, [0.0, 0.0, *alone], atol=1e-6)


def test_cones_without_a_multiplier_do_not_hide_those_after_them() -> None:
    wide = ConicForm(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([-9.0, 0, 0]), ())
    unit = wide._replace(h=np.array([-1.0, 0, 0]))
    cones = (Cone("second-order", 3), Cone("second-order", 3))
    form = ConicForm(np.vstack([wide.H, unit.H]), np.append(wide.h, unit.h), cones)
    q, direction = np.array([0.6, 0.8]), np.array([0.3, -0.2])
    turned = turn(form, minimize_linear(form, q), q, direction)
    np.testing.assert_allclose(turned, -(direction - q * (q @ direction)), atol=1e-6)
