"""Regions: maps and their parameters, decisions, conic sets, faces, nearest points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.exceptions import DataError
from feaslearn.paper.regions import Affine, ConicSet, Image, Maps, Scaled, Ternary
from feaslearn.paper.regions.image import turn_of
from feaslearn.sets import Box, L2Ball, Simplex
from feaslearn.solvers.conic import minimize_linear, nearest_by_solver
from paper.cases import ODD, SERVED, SETS
from registry import example, generators

N_FEATURES = 3


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
@given(rng=generators(), whole=st.booleans())
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
    found = minimize_linear(image.primitive.conic_form(), image.matrix.T @ cost)
    return float(found.value + cost @ image.offset)


@pytest.mark.parametrize("name", [*SERVED, *ODD])
def test_nearest_points_are_those_of_a_solver(name: str) -> None:
    Z, rng = example(name), np.random.default_rng(1)
    M, target = rng.normal(size=(2, Z.dimension)), 3.0 * rng.normal(size=2)
    slow = M @ nearest_by_solver(Z.conic_form(), M, target)
    fast = M @ Image(Z, M).nearest(target, "l2").latent
    assert fast == pytest.approx(slow, abs=1e-5)


def test_unit_disc_is_the_ball() -> None:
    """``[[1 + z_0, z_1], [z_1, 1 - z_0]]`` has no negative eigenvalue exactly where |z| <= 1."""
    disc = ConicSet([[1, 0], [0, np.sqrt(2.0)], [-1, 0]], [-1, 0, -1], [("semidefinite", 3)])
    ball, rng = L2Ball(2), np.random.default_rng(0)
    for q, direction in rng.normal(size=(10, 2, 2)):
        assert disc.argmin(q) == pytest.approx(ball.argmin(q), abs=1e-6)
        assert turn_of(disc, q, direction) == pytest.approx(turn_of(ball, q, direction), abs=1e-5)
        near = nearest_by_solver(disc.conic_form(), np.eye(2), 3.0 * q)
        assert near == pytest.approx(3.0 * q / max(1.0, np.linalg.norm(3.0 * q)), abs=1e-6)


def test_how_minimisers_move_on_a_ball() -> None:
    q, direction = np.array([3.0, 0.0, 4.0]), np.array([1.0, 2.0, -1.0])
    expected = -(direction - q * (q @ direction) / 25.0) / 5.0
    assert turn_of(L2Ball(3), q, direction) == pytest.approx(expected, abs=1e-6)
    assert turn_of(Box(3), q, direction).tolist() == [0.0, 0.0, 0.0]


def test_turn_stops_at_the_rim_of_a_lid() -> None:
    """On the rim of the ice-cream cone the minimiser moves around it and nowhere else."""
    q, direction = np.array([-3.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])
    found = turn_of(example("conic-ice-cream"), q, direction)
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


def test_distances_to_an_image() -> None:
    square = Image(Box(2), 2.0 * np.eye(2), [1.0, 0.0])
    for norm, expected in (("l2", 5.0), ("l1", 7.0), ("linf", 4.0)):
        assert square.distance([6.0, 6.0], norm) == pytest.approx(expected, abs=1e-7)
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
    for norm, expected in (("l2", 0.4 * np.sqrt(2.0)), ("l1", 0.8), ("linf", 0.4)):
        assert binary.distance([1.4, 1.4], norm) == pytest.approx(expected)


def test_an_image_refuses_other_shapes() -> None:
    for matrix, offset in ((np.eye(2), [0.0]), (np.eye(3), None), ([[np.nan, 0.0]], None)):
        with pytest.raises(DataError, match="Image: matrix"):
            Image(Box(2), matrix, offset)
