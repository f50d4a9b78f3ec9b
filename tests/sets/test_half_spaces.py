"""Hulls of points that may lie in a flat, half-spaces of images, and binary points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.exceptions import TooManyVerticesError
from feaslearn.sets import AffineImage, Box, Hypersimplex, L1Ball, L2Ball, Simplex
from feaslearn.sets import half_spaces as module
from feaslearn.sets.half_spaces import (
    HalfSpaces,
    extreme_points,
    half_spaces_of_points,
)
from feaslearn.sets.vertex_enumeration import middle_point, nearest_points
from registry import generators


@given(rng=generators(), n=st.integers(1, 4), rank=st.integers(0, 4), count=st.integers(1, 12))
def test_extreme_points_and_half_spaces_describe_the_hull(
    rng: np.random.Generator, n: int, rank: int, count: int
) -> None:
    rank = min(rank, n)
    points = rng.normal(size=(count, rank)) @ rng.normal(size=(rank, n)) + rng.normal(size=n)
    corners, rows = extreme_points(points), half_spaces_of_points(points)

    inside = rng.dirichlet(np.ones(len(points)), size=5) @ points
    assert rows.contains(np.vstack([points, inside]), 1e-7).all()
    hull = AffineImage(Simplex(len(corners)), corners.T, np.zeros(n))
    assert hull.contains(points, 1e-7).all()
    for i, corner in enumerate(corners):
        others = np.delete(corners, i, axis=0)
        if len(others):
            rest = AffineImage(Simplex(len(others)), others.T, np.zeros(n))
            assert not rest.contains(corner[None, :], 1e-12).any()
    far = points.mean(axis=0) + 100.0 * rng.normal(size=(5, n))
    assert not rows.contains(far, 1e-7).any()


def test_many_points_in_many_dimensions_without_a_hull(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(20, 4)), 0.1 * rng.normal(size=(20, 4))])
    expected = extreme_points(points)
    monkeypatch.setattr(module, "MOST_FACETS", 0)
    np.testing.assert_array_equal(extreme_points(points), expected)
    with pytest.raises(TooManyVerticesError, match="40 points in 4 dimensions"):
        half_spaces_of_points(points)


@pytest.mark.parametrize(
    ("image", "count"),
    [
        # The cube seen along its diagonal is a hexagon; two corners fall into its middle.
        (AffineImage(Box(3), [[1, -1, 0], [1, 1, -2]], [0, 0]), 6),
        (AffineImage(L1Ball(3), [[1, 0, 0.1], [0, 1, 0.1]], [0, 0]), 4),
        (AffineImage(Hypersimplex(4, 2), [[1, 1, 0, 0], [0, 0, 1, 1]], [0, 0]), 2),
        (AffineImage(Simplex(5), np.zeros((2, 5)), [1, 2]), 1),
        (AffineImage(Box(2), [[1.0, 1.0]], [0.0]), 2),
        (AffineImage(L2Ball(3), [[1.0, 2.0, 2.0]], [1.0]), 2),
        (AffineImage(L2Ball(3), [[0.0, 0.0, 0.0]], [1.0]), 1),
    ],
)
def test_images_fold_vertices_away(image: AffineImage, count: int) -> None:
    vertices = image.vertices()
    assert len(vertices) == count
    assert image.contains(vertices).all()
    assert image.halfspaces().contains(vertices).all()


def test_curved_images_have_no_half_spaces() -> None:
    with pytest.raises(TooManyVerticesError, match="curved"):
        AffineImage(L2Ball(2), np.eye(2), np.zeros(2)).halfspaces()


def test_half_spaces_of_a_form_and_of_two() -> None:
    triangle = HalfSpaces.from_conic(
        fl.Polytope(
            [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.0, 0.0]], [0, 0, -1, -1]
        ).conic_form(),
        np.array([[2.0, 0.0], [0.0, 1.0]]),
        np.array([1.0, 0.0]),
    )
    assert triangle.A.shape == (3, 2)
    np.testing.assert_allclose(np.linalg.norm(triangle.A, axis=1), 1.0)
    inside = [[1.0, 0.0], [3.0, 0.0], [1.0, 1.0], [2.0, 0.5], [2.0, 0.6], [0.9, 0.1], [1.5, -0.1]]
    assert triangle.contains(inside).tolist() == [True] * 4 + [False] * 3
    flat = HalfSpaces.from_conic(fl.Simplex(2).conic_form(), np.eye(2), np.zeros(2))
    assert flat.contains([[0.5, 0.5], [0.5, 0.4], [1.5, -0.5]]).tolist() == [True, False, False]
    both = triangle.meeting(flat)
    np.testing.assert_allclose(both.vertices(), [[1.0, 0.0]], atol=1e-6)
    assert both.form().H.shape == (len(both.A) + len(both.E), 2)


def test_the_nearest_binary_point_and_the_first_of_equals() -> None:
    points = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    asked = [[0.9, 0.2], [0.5, 0.5], [0.5, 0.0], [-3.0, 9.0], [1e6, 0.4]]
    expected = [[1, 0], [1, 1], [1, 0], [0, 1], [1, 0]]
    np.testing.assert_array_equal(nearest_points(points, np.array(asked)), expected)
    np.testing.assert_array_equal(middle_point(points), [1.0, 1.0])
    np.testing.assert_array_equal(middle_point(points[1:]), [0.0, 0.0])


def test_binary_points_of_rows() -> None:
    some = fl.Polytope([[-1.0, -2.0, 1.0]], [-1.0], [[1.0, 1.0, 1.0]], [2.0], binary=True)
    np.testing.assert_array_equal(some.vertices(), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
