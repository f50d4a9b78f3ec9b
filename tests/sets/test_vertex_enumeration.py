"""Vertices from rows: hulls of known points, badly scaled rows, flats, degenerate corners."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

import feaslearn as fl
from feaslearn.exceptions import EmptySetError
from feaslearn.sets import Polytope
from feaslearn.sets.half_spaces import half_spaces_of_points
from feaslearn.sets.vertex_enumeration import vertices_of_form
from feaslearn.solvers.conic_form import Cone, ConicForm
from registry import generators


def sorted_rows(points: np.ndarray) -> np.ndarray:
    return points[np.lexsort(points.round(7).T)]


@given(rng=generators(), n=st.integers(1, 4), flat=st.booleans())
def test_rows_of_a_hull_give_its_points_back(rng: np.random.Generator, n: int, flat: bool) -> None:
    """Points in convex position (on a sphere), perhaps in a flat of one dimension more."""
    points = rng.normal(size=(n + 3, n))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if n == 1:
        points = np.array([[-1.0], [1.0]])
    if flat:
        points = points @ rng.normal(size=(n, n + 1)) + rng.normal(size=n + 1)
    rows = half_spaces_of_points(points)
    polytope = Polytope(-rows.A, -rows.b, rows.E, rows.e)
    assert sorted_rows(polytope.vertices()) == pytest.approx(sorted_rows(points), abs=1e-6)


@given(rng=generators())
def test_rows_of_any_size_and_number_describe_the_same_polytope(rng: np.random.Generator) -> None:
    """Rows times positive numbers, repeated, and rows that touch or miss the set change nothing."""
    H = np.vstack([np.eye(3), -np.eye(3), -np.ones(3)])
    h = np.array([0.0, 0, 0, -1, -1, -1, -2])
    expected = Polytope(H, h).vertices()
    extra = rng.uniform(size=(4, 3))
    # Touching: the row holds with equality at the vertex that is farthest out.
    touching = (expected @ -extra.T).min(axis=0) - rng.choice([0.0, 0.7], size=4)
    H, h = np.vstack([H, H[:2], -extra]), np.concatenate([h, h[:2], touching])
    sizes = 10.0 ** rng.uniform(-4, 4, size=len(h))
    order = rng.permutation(len(h))
    found = Polytope((H * sizes[:, None])[order], (h * sizes)[order]).vertices()
    assert sorted_rows(found) == pytest.approx(sorted_rows(expected), abs=1e-7)


def test_order_is_fixed_and_numbers_are_clean() -> None:
    triangle = Polytope([[1, 0], [0, 1], [-1, -2]], [0, 0, -2])
    assert triangle.vertices().tolist() == [[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    thirds = Polytope([[3.0, 0.0], [0.0, 3.0], [-3.0, -3.0]], [1.0, 1.0, -3.0])
    assert thirds.vertices() == pytest.approx(
        np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3], [1 / 3, 1 / 3]]), abs=1e-15
    )


@pytest.mark.parametrize("size", [1e-3, 1e3, 1e6])
@pytest.mark.parametrize("place", [0.0, 1e4])
def test_small_large_and_far_away(size: float, place: float) -> None:
    square = np.array(list(product([place, place + size], repeat=2)))
    H = np.vstack([np.eye(2), -np.eye(2)])
    polytope = Polytope(H, [place, place, -place - size, -place - size])
    assert sorted_rows(polytope.vertices()) == pytest.approx(sorted_rows(square), rel=1e-9)
    assert polytope.contains(polytope.vertices(), 1e-9 * (size + place)).all()


def test_a_point_a_segment_and_a_triangle_in_space() -> None:
    H, h = np.eye(3), np.zeros(3)
    triangle = Polytope(H, h, [[1.0, 1.0, 1.0]], [1.0])
    assert len(triangle.vertices()) == 3
    segment = Polytope(H, h, [[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]], [1.0, 0.0])
    assert segment.vertices().tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    point = Polytope(H, h, [[1.0, 1.0, 1.0]], [0.0])
    assert point.vertices() == pytest.approx(np.zeros((1, 3)), abs=1e-9)
    fixed = Polytope(np.zeros((0, 2)), [], np.eye(2), [3.0, 4.0])
    assert fixed.vertices() == pytest.approx(np.array([[3.0, 4.0]]))


def test_rows_of_zeros_are_needless_or_impossible() -> None:
    H = np.vstack([np.eye(2), -np.eye(2), np.zeros(2)])
    assert len(Polytope(H, [0.0, 0, -1, -1, -5]).vertices()) == 4
    impossible = ConicForm(H, np.array([0.0, 0, -1, -1, 5]), (Cone("nonnegative", 5),))
    with pytest.raises(EmptySetError, match="my set is empty"):
        vertices_of_form(impossible, 10, "my set")


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
