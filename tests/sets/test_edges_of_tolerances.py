"""Tolerances of sets hold as far as they say and no farther: just within, and just beyond."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import EmptySetError
from feaslearn.hypotheses.term_minimizers import smallest_entries
from feaslearn.region.within import intersect
from feaslearn.sets import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces, distinct

INTERVAL = AffineImage(fl.Box(1), np.eye(1), np.zeros(1))


def between(low: float, high: float) -> HalfSpaces:
    """Return the rows low <= x <= high."""
    return HalfSpaces(np.array([[1.0], [-1.0]]), np.array([high, -low]), np.empty((0, 1)), [])


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_points_are_one_within_a_billionth(size: float) -> None:
    for gap, count in ((0.9e-9, 1), (1.5e-9, 2)):
        points = size * np.array([[1.0, 0.3], [1.0 - gap, 0.3]])
        assert len(distinct(points)) == count


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e12])
def test_polytopes_in_any_unit_have_vertices(size: float) -> None:
    triangle = fl.Polytope([[1.0, 0], [0, 1], [-1, -2]], size * np.array([0.0, 0.0, -2.0]))
    expected = size * np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(triangle.vertices(), expected, rtol=1e-9)


def test_rows_that_have_no_point_in_common_by_rounding_have_one() -> None:
    H = np.vstack([np.eye(1), -np.eye(1)])
    # The room is half the gap, in units of a half.
    found = fl.Polytope(H, [0.5, -0.5 + 0.8e-8]).vertices()
    np.testing.assert_allclose(found, [[0.5]], atol=1e-8)
    with pytest.raises(EmptySetError):
        fl.Polytope(H, [0.5, -0.5 + 1.5e-8]).vertices()


@pytest.mark.parametrize("width", [1e-8, 1e-9, 1e-11])
def test_thin_polytopes_have_vertices(width: float) -> None:
    """Opposite rows that are almost an equality do not contradict each other."""
    H = np.vstack([np.eye(2), -np.eye(2)])
    found = fl.Polytope(H, [0.5, 0.5, -1.0, -0.5 - width]).vertices()
    np.testing.assert_allclose(found, [[1.0, 0.5], [0.5, 0.5]], atol=width)


def test_an_interval_of_almost_no_width_is_widened_and_an_empty_one_refused() -> None:
    for width, low, high in ((3e-7, 0.0, 3e-7), (1e-7, -1e-7, 2e-7), (-1e-7, -1.5e-7, 0.5e-7)):
        found = intersect(INTERVAL, between(0.0, width)).bounding_box()
        np.testing.assert_allclose(np.ravel(found), [low, high], atol=1e-9)
    with pytest.raises(EmptySetError, match=r"they lack 1\.5e-07 of room"):
        intersect(INTERVAL, between(0.0, -3e-7))


def test_room_is_measured_in_the_size_of_each_row() -> None:
    large = AffineImage(fl.Box(1, -1e9, 1e9), np.eye(1), np.zeros(1))
    for low, high, expected in (
        (0.0, 1.0, [0.0, 1.0]),
        (100.0, 100.0 + 3e-5, [100.0, 100.0 + 3e-5]),
        (100.0, 100.0 + 1e-5, [100.0 - 1e-5, 100.0 + 2e-5]),
        (100.0, 100.0 - 1e-5, [100.0 - 1.5e-5, 100.0 + 0.5e-5]),
    ):
        within = intersect(large, between(low, high)).primitive
        assert isinstance(within, fl.Polytope)
        np.testing.assert_allclose([within.h[3], -within.h[2]], expected, rtol=0, atol=1e-7)
    with pytest.raises(EmptySetError, match=r"they lack 1\.5e-07 of room"):
        intersect(large, between(100.0, 100.0 - 3e-5))


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_rows_that_say_nothing_about_a_map(size: float) -> None:
    flat = AffineImage(fl.Box(1), [[size], [0.0]], [0.0, size])
    for limit, empty in ((1.0 - 0.9e-7, False), (1.0 - 1.5e-7, True)):
        for A, b, E, e in (
            ([[0.0, 1.0]], [size * limit], np.empty((0, 2)), []),
            (np.empty((0, 2)), [], [[0.0, 1.0]], [size * limit]),
        ):
            rows = HalfSpaces(*(np.asarray(each) for each in (A, b, E, e)))
            if empty:
                with pytest.raises(EmptySetError, match="one is violated by"):
                    intersect(flat, rows)
            else:
                assert intersect(flat, rows).support([1.0, 0.0]) == pytest.approx(size)
    # A row that moves by a share of 1e-10 of the map says nothing, one that moves more does.
    for share, reach in ((1e-10, 1.0), (1.5e-10, 0.5)):
        rows = HalfSpaces(
            np.array([[share, 0.0]]), np.array([0.5 * share * size]), np.empty((0, 2)), np.empty(0)
        )
        assert intersect(flat, rows).support([1.0, 0.0]) == pytest.approx(reach * size)


def test_ties_are_relative_to_the_largest_cost() -> None:
    for gap, ties in ((4.5e-9, True), (5.5e-9, False)):
        q = np.array([0.3, 0.3 + gap, 5.0])
        assert fl.Simplex(3).tied(q).tolist() == [ties]
        assert smallest_entries(q[None], [1])[1].tolist() == [[ties]]
        assert smallest_entries(q[None] - 5.0, [1])[1].tolist() == [[gap <= 4.7e-9]]
        for primitive in (fl.Simplex(3), fl.Hypersimplex(3, 1)):
            assert primitive.face(q).is_point != ties
        assert fl.L1Ball(2).face([5.0, 5.0 - gap]).is_point != ties
        assert fl.Hypersimplex(3, 2).face(-q).is_point != ties


@pytest.mark.parametrize(
    "primitive",
    [
        fl.Simplex(3),
        fl.Hypersimplex(3, 1),
        fl.Hypersimplex(4, 2),
        fl.L1Ball(3),
        fl.Box(3),
        fl.Polytope(np.vstack([np.eye(3), -np.ones(3)]), [0.0, 0.0, 0.0, -1.0]),
    ],
)
def test_costs_that_are_equal_tie_without_a_tolerance(primitive: fl.sets.PrimitiveSet) -> None:
    q = np.array([-1.0, -1.0, 0.0, 5.0])[: primitive.dimension]
    face = primitive.face(q, tolerance=0.0)
    V = primitive.vertices()
    tied = V[V @ q <= (V @ q).min() + 1e-12]
    assert face.contains(tied, 1e-9).all()
    assert face.is_point == (len(tied) == 1)
    assert len(face.vertices()) == len(tied)
