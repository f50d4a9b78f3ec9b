"""Regions: maps and their parameters, decisions, conic sets, faces, nearest points."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    InfeasibleProblemError,
    SetError,
    SolverError,
    TooManyVerticesError,
    UnboundedProblemError,
    UnboundedSetError,
)
from feaslearn.paper.regions import (
    Affine,
    Cone,
    ConicForm,
    ConicSet,
    Image,
    Maps,
    Scaled,
    Ternary,
    programs,
)
from feaslearn.paper.regions.cones import matrices, side, split, triangles, turned
from feaslearn.paper.regions.image import form_of, turn_of
from feaslearn.paper.regions.programs import minimize_linear, nearest_by_solver, solve_conic
from feaslearn.sets import Box, L2Ball, Polytope, Simplex
from paper.cases import CONIC, ODD, ROOT, SERVED, SETS, example

N_FEATURES = 3


def seeds() -> st.SearchStrategy[np.random.Generator]:
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


# Maps.


def test_affine_by_hand() -> None:
    """Two features: the second column moves with the signal."""
    A = np.array([[[0.0, 1.0]], [[0.0, 2.0]]])  # x = z_2 (1 + 2 s)
    features = np.array([[1.0, 0.0], [1.0, 3.0]])
    for sign, expected in ((1.0, [[0.0], [0.0]]), (-1.0, [[1.0], [7.0]])):
        found = Affine(Simplex(2)).decisions(A.ravel(), features, np.full((2, 1), sign))
        assert found.tolist() == expected


def test_scaled_by_hand() -> None:
    theta = np.array([0.5, 1.0, 2.0, 10.0, 20.0])  # alpha, b_0, b_1
    features = np.array([[1.0, 0.0], [1.0, 1.0]])
    costs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = Scaled(Box(2)).decisions(theta, features, costs)
    assert found.tolist() == [[0.5, 2.5], [11.5, 21.5]]
    with pytest.raises(DataError, match="Affine takes any number"):
        Scaled(Box(2)).check(3)
    assert Scaled(Box(2)).theta_of(Maps(-np.eye(2)[None], np.zeros((1, 2))))[0] == 0.0


def test_ternary_maps_are_rounded() -> None:
    region = Ternary(Box(2))
    maps = Maps(np.array([[[0.6, -3.0], [0.2, -0.4]]]), np.array([[1.0, 2.0]]))
    theta = region.theta_of(maps)
    assert theta.tolist() == [1.0, -1.0, 0.0, 0.0, 1.0, 2.0]
    assert region.maps(theta, 2, 1).b.tolist() == [[1.0, 2.0]]


def test_a_layout_refuses_other_sizes() -> None:
    with pytest.raises(DataError, match=r"expected \(6,\)"):
        Affine(Simplex(3)).maps(np.zeros(5), 2, 1)


@pytest.mark.parametrize("make", [Affine, Scaled, Ternary])
@pytest.mark.parametrize("name", SETS)
def test_pull_back_is_the_transpose_of_maps(name: str, make: Any) -> None:
    region, rng, n = make(example(name)), np.random.default_rng(0), example(name).dimension
    theta = rng.normal(size=region.layout(n, N_FEATURES).size)
    gradient = Maps(rng.normal(size=(N_FEATURES, n, n)), rng.normal(size=(N_FEATURES, n)))
    maps = region.maps(theta, n, N_FEATURES)
    paired = np.sum(maps.A * gradient.A) + np.sum(maps.b * gradient.b)
    assert theta @ region.pull_back(gradient) == pytest.approx(paired)


@pytest.mark.parametrize("name", SETS)
def test_theta_of_maps_gives_the_same_region(name: str) -> None:
    """Also where a redundant offset has to go into the columns."""
    Z, rng, phi = example(name), np.random.default_rng(0), np.array([1.0, 0.3, -0.4])
    maps = Maps(rng.normal(size=(3, 2, Z.dimension)), rng.normal(size=(3, 2)))
    (A,), (b,) = maps.at(phi[None, :])
    image, cost = Affine(Z).image(Affine(Z).theta_of(maps), phi, 2), np.array([1.0, 2.0])
    assert image.at(Z.center()) == pytest.approx(A @ Z.center() + b)
    least = Z.minimum(A.T @ cost)[0] + b @ cost
    assert cost @ image.minimize(cost) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("name", SETS)
@given(rng=seeds(), whole=st.booleans())
def test_decisions_are_minimisers_of_the_image(
    name: str, rng: np.random.Generator, whole: bool
) -> None:
    Z = example(name)
    for region, n in ((Affine(Z), 2), (Scaled(Z), Z.dimension)):
        size = region.layout(n, N_FEATURES).size
        theta, costs = rng.normal(size=size), rng.normal(size=(1, n))
        if whole:
            theta = rng.integers(-2, 3, size).astype(float)
            costs = rng.integers(-1, 2, (1, n)).astype(float)
        features = np.append(1.0, rng.normal(size=N_FEATURES - 1))[None]
        image = region.image(theta, features[0], n)
        allowed = 1e-5 * max(1.0, np.abs(theta).max()) * max(1.0, np.abs(features).max())
        least = -minimum_of(image, costs[0])
        for ties in ("first", "center"):
            x = region.decisions(theta, features, costs, ties)[0]  # type: ignore[arg-type]
            assert image.distance(x) <= allowed
            assert costs[0] @ x == pytest.approx(-least, abs=10 * allowed)


def minimum_of(image: Image, cost: np.ndarray) -> float:
    """Return the least cost of an image, by the conic solver."""
    found = minimize_linear(form_of(image.Z), image.matrix.T @ cost)
    return float(found.value + cost @ image.offset)


# Conic programs.


MIXED = ConicForm(
    np.array([[1.0, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]]),
    np.array([0.0, 0, 1, -1, 0, 0]),
    (Cone("nonnegative", 2), Cone("zero", 1), Cone("second-order", 3)),
)


def test_violation_is_that_of_the_worst_row() -> None:
    Z = np.array([[0.5, 0.5], [1.5, -0.5], [0.5, 0.9], [3.0, 4.0]])
    # The last points break: z_1 >= 0 by 0.5 and the cone by sqrt(2.5) - 1; the equality by 0.4
    # (and the cone by sqrt(1.06) - 1); the equality by 6.
    assert MIXED.violation(Z) == pytest.approx([0.0, np.sqrt(2.5) - 1.0, 0.4, 6.0])
    cap = form_of(example("parabola-cap"))
    points = np.array([[0.5, 0.25], [0.0, -0.5], [0.0, 3.0]])
    assert cap.violation(points) == pytest.approx([0.0, 0.5, 2.0])
    assert not cap.polyhedral


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_multipliers_prove_the_minimum_at_any_scale(name: str, size: float) -> None:
    form = form_of(example(name))
    q = size * np.random.default_rng(0).normal(size=form.H.shape[1])
    solution = minimize_linear(form, q)
    assert form.H.T @ solution.dual == pytest.approx(q, abs=1e-7 * size)
    assert solution.dual @ form.h == pytest.approx(solution.value, abs=1e-7 * size)
    assert q @ solution.point == pytest.approx(solution.value, abs=1e-7 * size)
    assert form.violation(solution.point[None])[0] <= 1e-6
    for cone, rows in form.blocks():
        # All cones but that of zeros are their own duals.
        if cone.kind != "zero":
            dual = ConicForm(np.eye(cone.size), np.zeros(cone.size), (cone,))
            assert dual.violation(solution.dual[None, rows])[0] <= 1e-7 * size


@pytest.mark.parametrize("name", [*SERVED, *ODD])
def test_the_conic_solver_agrees_with_closed_forms(name: str) -> None:
    Z, rng = example(name), np.random.default_rng(1)
    for q in rng.normal(size=(4, Z.dimension)):
        assert minimize_linear(form_of(Z), q).value == pytest.approx(Z.minimum(q)[0], abs=1e-7)
    M, target = rng.normal(size=(2, Z.dimension)), 3.0 * rng.normal(size=2)
    slow = M @ nearest_by_solver(form_of(Z), M, target, "l2").latent
    fast = M @ Image(Z, M).nearest(target).latent
    assert fast == pytest.approx(slow, abs=1e-5)


def test_programs_without_an_answer() -> None:
    ray = ConicForm(np.eye(1), np.zeros(1), (Cone("nonnegative", 1),))
    assert minimize_linear(ray, np.ones(1)).value == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(UnboundedProblemError):
        minimize_linear(ray, -np.ones(1))
    nothing = ConicForm(np.array([[1.0], [-1.0]]), np.ones(2), (Cone("nonnegative", 2),))
    with pytest.raises(InfeasibleProblemError):
        minimize_linear(nothing, np.ones(1))


def test_where_the_interior_point_method_stalls(monkeypatch: Any, caplog: Any) -> None:
    stalled = SimpleNamespace(
        status="InsufficientProgress", obj_val=0.0, obj_val_dual=1.0, r_prim=1.0, r_dual=1.0
    )
    form, q = form_of(example("triangle")), np.array([-3.0, 1.0])
    right = minimize_linear(form, q)
    monkeypatch.setattr(programs, "interior_point", lambda *_: stalled)
    with caplog.at_level(logging.INFO, "feaslearn"):
        found = minimize_linear(form, q)
    np.testing.assert_allclose(found.point, right.point, atol=1e-9)
    np.testing.assert_allclose(found.dual, right.dual, atol=1e-9)
    assert "solved by HiGHS" in caplog.text
    with pytest.raises(SolverError, match="InsufficientProgress"):
        minimize_linear(form_of(L2Ball(2)), q)


def test_half_the_square_is_added_to_the_cost() -> None:
    """``-3 w + w^2 / 2 + v`` over ``v >= w - 1, w <= 9`` is least at w = 2, v = 1."""
    rows, offset = np.array([[1.0, -1.0], [0.0, -1.0]]), np.array([-1.0, -9.0])
    found = solve_conic(np.array([1.0, -3.0]), rows, offset, (Cone("nonnegative", 2),), squared=1)
    np.testing.assert_allclose(found.point, [1.0, 2.0], atol=1e-6)
    assert found.value == pytest.approx(1.0 - 6.0 + 2.0)


# Conic sets.


@pytest.mark.parametrize(
    ("H", "h", "cones", "message"),
    [
        (np.zeros(2), [0.0, 0], [("zero", 2)], "shapes"),
        (np.eye(2), [0.0], [("zero", 2)], "shapes"),
        (np.eye(2), [0.0, np.inf], [("zero", 2)], "finite"),
        (np.eye(2), [0.0, 0], [("cubic", 2)], "is no cone"),
        (np.eye(2), [0.0, 0], [("semidefinite", 2)], "is no cone"),
        (np.eye(2), [0.0, 0], [("nonnegative", 1)], "another number of rows"),
    ],
)
def test_wrong_conic_sets(H: Any, h: Any, cones: Any, message: str) -> None:
    with pytest.raises(SetError, match=message):
        ConicSet(H, h, cones)


def test_empty_and_unbounded_sets() -> None:
    empty = ConicSet([[1.0], [-1.0]], [1.0, 0.0], [("nonnegative", 2)])
    with pytest.raises(EmptySetError):
        empty.check()
    with pytest.raises(UnboundedSetError, match=r"z\[1\] has no limit from above"):
        ConicSet(np.vstack([np.eye(2), [-1, 0]]), [0.0, 0, -1], [("nonnegative", 3)]).check()
    for name in CONIC:
        example(name).check()


def test_a_conic_triangle_is_the_polytope() -> None:
    form = form_of(example("triangle"))
    conic, plain = example("triangle"), Polytope(form.H, form.h)
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(6, 2))
    assert conic.argmin(Q) == pytest.approx(plain.argmin(Q), abs=1e-9)
    assert conic.minimum(Q) == pytest.approx(plain.minimum(Q), abs=1e-9)
    assert conic.tied([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]).tolist() == [True, False, True]
    assert sorted(map(tuple, conic.vertices())) == sorted(map(tuple, plain.vertices()))
    with pytest.raises(TooManyVerticesError, match="curved"):
        example("half-disc").vertices()


def test_unit_disc_is_the_ball() -> None:
    """``[[1 + z_0, z_1], [z_1, 1 - z_0]]`` has no negative eigenvalue exactly where |z| <= 1."""
    disc = ConicSet([[1, 0], [0, ROOT], [-1, 0]], [-1, 0, -1], [("semidefinite", 3)])
    ball, rng = L2Ball(2), np.random.default_rng(0)
    for q, direction in rng.normal(size=(10, 2, 2)):
        assert disc.argmin(q) == pytest.approx(ball.argmin(q), abs=1e-6)
        assert turn_of(disc, q, direction) == pytest.approx(turn_of(ball, q, direction), abs=1e-5)
        near = nearest_by_solver(form_of(disc), np.eye(2), 3.0 * q, "l2").latent
        assert near == pytest.approx(3.0 * q / max(1.0, np.linalg.norm(3.0 * q)), abs=1e-6)


# Faces.


def test_faces_of_a_half_disc() -> None:
    lower, upper = example("half-disc").face([0.0, 2.0]).bounding_box()
    assert lower == pytest.approx([-1.0, 0.0], abs=1e-7)
    assert upper == pytest.approx([1.0, 0.0], abs=1e-7)
    for angle in (0.3, np.pi / 2, 2.9):
        direction = np.array([np.cos(angle), np.sin(angle)])
        face = example("half-disc").face(-direction)
        assert face.is_point
        assert face.offset + face.matrix[:, 0] == pytest.approx(direction, abs=1e-6)  # type: ignore[attr-defined]


def test_tolerance_decides_what_ties() -> None:
    disc = example("half-disc")
    assert disc.face([1e-4, 1e-4]).is_point
    assert not disc.face([1e-4, 1e-4], tolerance=0.01).is_point


def test_edge_of_a_cone_from_its_apex_to_its_rim() -> None:
    face = example("ice-cream").face([1.0, 1.0, 0.0])
    lower, upper = face.bounding_box()
    assert lower == pytest.approx([0.0, -1.0, 0.0], abs=1e-6)
    assert upper == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert face.contains([[0.5, -0.5, 0.0]], 1e-6).all()
    assert not face.contains([[0.5, 0.0, 0.0]], 1e-3).any()


def test_a_single_point_never_ties() -> None:
    rows = [[1.0, 0], [0, 1], [1, 0], [0, 1]]
    point = ConicSet(rows, [0.0, 0, 1, 2], [("nonnegative", 2), ("zero", 2)])
    assert not point.tied(np.zeros(2))[0]


@pytest.mark.parametrize("q", [[-1.0, -1, -1], [2.0, 1, 2], [1.0, 1, 0]])
def test_corners_of_the_elliptope(q: list[float]) -> None:
    """In the second case neither slack nor multipliers are positive in one direction."""
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    face = example("elliptope").face(q)
    assert face.is_point
    assert face.bounding_box()[0] == pytest.approx(corners[np.argmin(corners @ q)], abs=1e-6)


def test_edge_and_round_side_of_the_elliptope() -> None:
    lower, upper = example("elliptope").face([1.0, 0, 0]).bounding_box()
    assert lower == pytest.approx([-1.0, -1, -1], abs=1e-6)
    assert upper == pytest.approx([-1.0, 1, 1], abs=1e-6)
    face = example("elliptope").face([1.0, 1, 1])
    assert face.is_point
    assert face.bounding_box()[0] == pytest.approx([-0.5, -0.5, -0.5], abs=1e-6)


def test_how_minimisers_move_on_a_ball() -> None:
    q, direction = np.array([3.0, 0.0, 4.0]), np.array([1.0, 2.0, -1.0])
    expected = -(direction - q * (q @ direction) / 25.0) / 5.0
    assert turn_of(L2Ball(3), q, direction) == pytest.approx(expected, abs=1e-6)
    assert turn_of(Box(3), q, direction).tolist() == [0.0, 0.0, 0.0]


def test_turn_stops_at_the_rim_of_a_lid() -> None:
    """On the rim of the ice-cream cone the minimiser moves around it and nowhere else."""
    q, direction = np.array([-3.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])
    found = turn_of(example("ice-cream"), q, direction)
    assert found == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)


def test_turn_where_the_limit_of_a_norm_depends_on_the_point() -> None:
    """An ellipse by its focus, ``|z| <= 1 - z_0 / 2``, against the minimiser in closed form."""
    ellipse = ConicSet([[-0.5, 0.0], [1.0, 0.0], [0.0, 1.0]], [-1.0, 0, 0], [("second-order", 3)])
    axes, middle = np.array([4.0 / 3.0, np.sqrt(4.0 / 3.0)]), np.array([-2.0 / 3.0, 0.0])
    q, direction = np.array([0.7, -1.1]), np.array([0.4, 0.9])
    far = np.linalg.norm(axes * q)
    assert ellipse.argmin(q) == pytest.approx(middle - axes**2 * q / far, abs=1e-7)
    expected = -(axes**2) * (direction / far - q * (axes**2 * q @ direction) / far**3)
    assert turn_of(ellipse, q, direction) == pytest.approx(expected, abs=1e-5)


def test_an_apex_stays_and_slack_cones_do_not_hide_others() -> None:
    """A cone at its apex, beside a ball of which only the smaller of two limits binds."""
    H = np.zeros((8, 4))
    H[:2, :2], H[3:5, 2:], H[6:, 2:] = np.eye(2), np.eye(2), np.eye(2)
    h = np.array([0.0, 0, -9, 0, 0, -1, 0, 0])
    both = ConicSet(H, h, [("second-order", 2), ("second-order", 3), ("second-order", 3)])
    q, direction = np.array([1.0, 0.2, 0.6, 0.8]), np.array([1.0, -1.0, 0.3, -0.2])
    ball = -(direction[2:] - q[2:] * (q[2:] @ direction[2:]))
    np.testing.assert_allclose(turn_of(both, q, direction), [0.0, 0.0, *ball], atol=1e-6)


# Triangles of symmetric matrices.


def symmetric(rng: np.random.Generator, m: int) -> np.ndarray:
    X = rng.normal(size=(m, m))
    return np.asarray(X + X.T)


def test_triangle_of_a_matrix() -> None:
    S = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    assert triangles(S) == pytest.approx(np.array([1, 2 * ROOT, 3, 4 * ROOT, 5 * ROOT, 6]))
    assert matrices(triangles(S)) == pytest.approx(S)
    assert [side(size) for size in (0, 1, 2, 3, 6, 10, 11)] == [0, 1, None, 2, 3, 4, None]


@given(seeds(), st.integers(1, 4))
def test_products_turns_and_scaling(rng: np.random.Generator, m: int) -> None:
    X, Y = symmetric(rng, m), symmetric(rng, m)
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    x, y = triangles(X), triangles(Y)
    assert x @ y == pytest.approx(np.trace(X @ Y))
    assert turned(Q) @ x == pytest.approx(triangles(Q.T @ X @ Q))


@given(seeds(), st.integers(1, 4), st.data())
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


# Images.


def test_distances_to_an_image() -> None:
    square = Image(Box(2), 2.0 * np.eye(2), [1.0, 0.0])
    for norm, expected in (("l2", 5.0), ("l1", 7.0), ("linf", 4.0)):
        assert square.distance([6.0, 6.0], norm) == pytest.approx(expected, abs=1e-7)
    assert square.distance([np.nan, 6.0]) == pytest.approx(4.0)
    assert square.contains([[3.0, 2.0], [3.1, 2.0]]).tolist() == [True, False]
    assert square.bounding_box()[0].tolist() == [-1.0, -2.0]
    assert len(square.vertices()) == 4
    edge = square.optimal_face([1.0, 0.0])
    assert edge.distance([-1.0, 5.0]) == pytest.approx(3.0)
    assert Image(Box(1), np.ones((1, 1))).vertices().ravel().tolist() == [-1.0, 1.0]


def test_images_that_are_folded_or_discrete() -> None:
    folded = Image(Simplex(3), [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    assert sorted(folded.vertices().tolist()) == [[0.0, 0.0], [2.0, 2.0]]
    binary = Image(Simplex(3, binary=True), [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    assert len(binary.vertices()) == 3
    for norm, expected in (("l2", 0.4 * ROOT), ("l1", 0.8), ("linf", 0.4)):
        assert binary.distance([1.4, 1.4], norm) == pytest.approx(expected)


def test_an_image_refuses_other_shapes() -> None:
    for matrix, offset in ((np.eye(2), [0.0]), (np.eye(3), None), ([[np.nan, 0.0]], None)):
        with pytest.raises(DataError, match="Image: matrix"):
            Image(Box(2), matrix, offset)
