"""Hulls of points that may lie in a flat, half-spaces and nearest points of images."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

import feaslearn as fl
from feaslearn.exceptions import EmptySetError, TooManyVerticesError
from feaslearn.sets import AffineImage, Box, Hypersimplex, L1Ball, L2Ball, Polytope, Simplex
from feaslearn.sets import half_spaces as module
from feaslearn.sets.half_spaces import HalfSpaces, extreme_points, half_spaces_of_points
from feaslearn.sets.vertex_enumeration import middle_point, nearest_points, vertices_of_form
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import L2_BALL
from registry import FOR_EACH_SET, NAMES, cube, example, generators, mixtures, random_map, size_of


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


# Nearest points.

#: Sets whose corners are mixed.
SERVED = [
    name
    for name in NAMES
    if (code := example(name).code()) is not None and L2_BALL not in code.kinds
]


@pytest.mark.parametrize("name", NAMES)
@FOR_EACH_SET
@given(rng=generators(), n=st.integers(1, 6))
def test_distance_is_zero_inside(name: str, rng: np.random.Generator, n: int) -> None:
    primitive = example(name)
    p = primitive.dimension
    M = random_map(rng, n, p)
    image = AffineImage(primitive, M, rng.normal(size=n))
    inside = mixtures(primitive, rng, 1)[0]
    # Not only small: the square of a distance is found to 1e-7 with ease, which is 3e-4 in the
    # distance, and membership of learned regions would flicker.
    assert image.distance(image.at(inside)) <= 1e-8 * size_of(name) * max(1.0, np.abs(M).max())
    assert image.contains(image.at(inside)).all()


@pytest.mark.parametrize("name", SERVED)
def test_images_and_targets_of_whole_numbers(name: str) -> None:
    """Degenerate on purpose: weights that vanish exactly, targets on faces of every dimension."""
    primitive = example(name)
    rng = np.random.default_rng(1)
    for _ in range(40):
        n = int(rng.integers(1, 6))
        M = rng.integers(-2, 3, size=(n, primitive.dimension)).astype(float)
        image = AffineImage(primitive, M, np.zeros(n))
        x = rng.integers(-2, 3, size=n).astype(float)
        away = x - image.project(x)
        excess = image.support(away) - away @ image.project(x)
        assert excess <= 1e-9 * size_of(name)


def test_thin_images_are_served_to_the_last_digit() -> None:
    """Columns that almost coincide: distances of 1e-8 matter beside lengths of one."""
    rng = np.random.default_rng(0)
    for thickness in (1e-1, 1e-3, 1e-5, 1e-7):
        M = rng.normal(size=(6, 1)) + thickness * rng.normal(size=(6, 12))
        image = AffineImage(Box(12), M, np.zeros(6))
        inside = image.at(rng.uniform(-1.0, 1.0, size=12))
        assert image.distance(inside) <= 1e-7


def test_ellipse_with_its_middle_far_away() -> None:
    image = AffineImage(L2Ball(2), [[3.0, 0.0], [0.0, 1e-3]], [1e3, -1e3])
    assert image.distance([1e3 + 5.0, -1e3]) == pytest.approx(2.0)
    assert image.distance([1e3, -1e3 + 2e-3]) == pytest.approx(1e-3, rel=1e-6)
    assert image.contains([[1e3 + 2.999, -1e3]]).all()
    assert not image.contains([[1e3 + 3.001, -1e3]]).any()


# Vertices from rows: hulls of known points, badly scaled rows, flats.


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


def test_rows_of_zeros_are_needless_or_impossible() -> None:
    H = np.vstack([np.eye(2), -np.eye(2), np.zeros(2)])
    assert len(Polytope(H, [0.0, 0, -1, -1, -5]).vertices()) == 4
    impossible = ConicForm(H, np.array([0.0, 0, -1, -1, 5]), (Cone("nonnegative", 5),))
    with pytest.raises(EmptySetError, match="my set is empty"):
        vertices_of_form(impossible, 10, "my set")


def test_few_vertices_are_listed_and_many_are_not() -> None:
    for p, repeated, count in ((3, 0, 8), (2, 56, 4), (2, 57, None), (8, 0, 256), (9, 0, None)):
        H, h = cube(p)
        rows = np.vstack([H, np.tile(H[:1], (repeated, 1))])
        code = Polytope(rows, np.append(h, -np.ones(repeated))).code()
        assert (code and len(np.unique(code.points, axis=0))) == count
    for sides, count in (((10, 10, 5, 4), 2000), ((29, 23, 3), None)):
        angles = [np.arange(side) * 2.0 * np.pi / side for side in sides]
        rows = block_diag(*(np.column_stack([np.cos(a), np.sin(a)]) for a in angles))
        code = Polytope(-rows, -np.ones(len(rows))).code()
        assert (code and len(code.points)) == count
