"""Which polytopes kernels serve by a list of vertices, and small parts of sets and forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag

import feaslearn as fl
from feaslearn.exceptions import UnsupportedError
from feaslearn.solvers.conic import nearest_listed


def cube(p: int, repeated: int = 0) -> fl.Polytope:
    """Return the unit cube, with rows that say nothing new."""
    rows = [np.eye(p), -np.eye(p), *([np.eye(p)[:1]] * repeated)]
    right = [np.zeros(p), -np.ones(p), -np.ones(repeated)]
    return fl.Polytope(np.vstack(rows), np.concatenate(right))


def test_few_vertices_are_listed() -> None:
    code = cube(3).code()
    assert code is not None
    assert len(np.unique(code.points, axis=0)) == 8
    assert cube(2, 60 - 4).code() is not None
    assert cube(2, 61 - 4).code() is None
    assert cube(8).code() is not None
    assert cube(9).code() is None


def test_many_vertices_are_not() -> None:
    for sides, listed in (((10, 10, 5, 4), True), ((29, 23, 3), False)):
        angles = [np.arange(count) * 2.0 * np.pi / count for count in sides]
        rows = block_diag(*(np.column_stack([np.cos(a), np.sin(a)]) for a in angles))
        code = fl.Polytope(-rows, -np.ones(len(rows))).code()
        assert (code is not None) == listed
        assert code is None or len(code.points) == 2000


def test_the_nearest_of_listed_points() -> None:
    points, target = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 2.0]]), np.array([1.6, 1.6])
    for norm, best in (("l1", 2), ("l2", 2), ("linf", 2)):
        np.testing.assert_array_equal(
            nearest_listed(points, np.eye(2), target, norm).latent, points[best]
        )
    near = nearest_listed(points, np.eye(2), np.array([1.7, 1.0]), "l1")
    np.testing.assert_array_equal(near.latent, points[2])
    away = np.array([3.5, -2.0])
    for norm, slope in (("l1", [-1.0, 1.0]), ("linf", [0.0, 1.0])):
        np.testing.assert_array_equal(nearest_listed(points, np.eye(2), away, norm).slope, slope)
    np.testing.assert_allclose(
        nearest_listed(points, np.eye(2), away, "l2").slope, np.array([-0.5, 2.0]) / 4.25**0.5
    )
    with pytest.raises(UnsupportedError, match="norm='l3' is not known"):
        nearest_listed(points, np.eye(2), target, "l3")
