"""Hulls of points in flats of every dimension, half-spaces, and binary points."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.sets.half_spaces import (
    HalfSpaces,
    extreme_points,
    flat_dimension,
    half_spaces_of_points,
)
from feaslearn.sets.vertex_enumeration import middle_point, nearest_points


@pytest.mark.parametrize("d", [0, 1, 2, 3])
def test_points_in_a_flat_of_space(d: int) -> None:
    rng = np.random.default_rng(d)
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :d]
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * d)).reshape(d, -1).T if d else np.zeros((1, 0))
    inner = np.full((1, d), 0.4)
    center = np.array([5.0, -3.0, 2.0])
    points = np.vstack([corners, inner, corners[:1]]) @ basis.T + center
    assert flat_dimension(points) == d
    kept = extreme_points(points)
    np.testing.assert_allclose(kept, corners @ basis.T + center, atol=1e-12)
    hull = half_spaces_of_points(points)
    assert hull.A.shape == (2 * d, 3)
    assert hull.E.shape == (3 - d, 3)
    for rows in (hull.A, hull.E):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert hull.contains(points).all()
    beside = center + np.linalg.qr(rng.normal(size=(3, 3)))[0] * 3.0
    assert not hull.contains(beside).any()
    back = hull.vertices()
    np.testing.assert_allclose(back[np.lexsort(back.T)], kept[np.lexsort(kept.T)], atol=1e-7)


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
