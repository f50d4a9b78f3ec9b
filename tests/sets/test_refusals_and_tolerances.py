"""What sets refuse by our own errors, and tolerances: just within, and just beyond."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    SetError,
    TooManyVerticesError,
    UnboundedSetError,
    UnsupportedError,
)
from feaslearn.hypotheses.term_minimizers import smallest_entries
from feaslearn.region.within import intersect
from feaslearn.sets import (
    AffineImage,
    Box,
    Hypersimplex,
    L1Ball,
    L2Ball,
    Polytope,
    PrimitiveSet,
    Simplex,
)
from feaslearn.sets.conic_set import ConicSet
from feaslearn.sets.half_spaces import HalfSpaces, distinct
from feaslearn.sets.product import Product
from registry import ONE_OF_EACH, conic_set, example

BY_COUNT: dict[str, Callable[..., PrimitiveSet]] = {
    "Simplex": Simplex,
    "Box": Box,
    "L1Ball": L1Ball,
    "L2Ball": L2Ball,
    "Hypersimplex": partial(Hypersimplex, m=1),
}


@pytest.mark.parametrize("kind", BY_COUNT)
@pytest.mark.parametrize("p", [0, 2.5, True, "nine", None, np.nan])
def test_invalid_number_of_entries(kind: str, p: object) -> None:
    primitive = BY_COUNT[kind](p)  # constructors only store
    for use in (primitive.check, primitive.conic_form, lambda: primitive.argmin([1.0])):
        with pytest.raises(SetError, match=rf"{kind}: p=.* is not an integer >= 1"):
            use()


FAR = conic_set(
    np.vstack([np.zeros(2), np.eye(2), [[1.0, 0.0]]]),
    [-1.0, 0, 0, 2],
    ("second-order", 3),
    ("nonnegative", 1),
)


@pytest.mark.parametrize(
    ("primitive", "error", "message"),
    [
        (Hypersimplex(3, 1.5), SetError, r"m=.* is not an integer"),
        (Hypersimplex(3, 4), EmptySetError, "m > p"),
        (Box(3, [1.0, 2.0, 0.0], 1.0), EmptySetError, r"z\[1\] has lower limit 2.0 above upper"),
        (Box(3, 0.0, [1.0, 1.0, np.inf]), UnboundedSetError, r"z\[2\] in \[0.0, inf\]"),
        (Box(2, [0.0, np.nan]), SetError, r"z\[1\] has limits nan and 1.0"),
        (Box(2, [0.0, 0.0, 0.0]), SetError, "lower and upper must be one number or 2 each"),
        (Polytope([[1.0], [-1.0]], [1.0, 0.0]), EmptySetError, "is empty"),
        (Polytope([[1.0, 0]], [0.0]), UnboundedSetError, r"z\[0\] has no limit from above"),
        (conic_set(np.eye(3), np.zeros(3), ("second-order", 3)), UnboundedSetError, r"z\[0\]"),
        (FAR, EmptySetError, "is empty"),
        (Product([Simplex(2), Hypersimplex(2, 3)]), EmptySetError, "Hypersimplex"),
    ],
)
def test_invalid_sets(primitive: PrimitiveSet, error: type[SetError], message: str) -> None:
    with pytest.raises(error, match=message):
        primitive.check()


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Polytope, (np.zeros((2, 0)), [0.0, 0.0]), r"H has shape \(2, 0\)"),
        (Polytope, (np.eye(2), [0.0]), r"H and h have shapes \(2, 2\) and \(1,\)"),
        (Polytope, (np.eye(2), [0.0, 0.0], np.eye(3), [0.0] * 3), "E and e have shapes"),
        (Polytope, (np.eye(2), [0.0, 0.0], [[1.0, 1.0]], None), "E and e must be given together"),
        (Polytope, ([[1.0, np.nan], [0.0, 1.0]], [0.0, 0.0]), "H and h must be finite"),
        (Polytope, ([["a", "b"]], [0.0]), "H is not an array of numbers"),
        (ConicSet, (np.zeros(2), [0.0, 0], [("zero", 2)]), "shapes"),
        (ConicSet, (np.eye(2), [0.0], [("zero", 2)]), "shapes"),
        (ConicSet, (np.eye(2), [0.0, np.inf], [("zero", 2)]), "finite"),
        (ConicSet, (np.eye(2), [0.0, 0], [("cubic", 2)]), "is no cone"),
        (ConicSet, (np.eye(2), [0.0, 0], [("semidefinite", 2)]), "is no cone"),
        (ConicSet, (np.eye(2), [0.0, 0], [("nonnegative", 1)]), "another number of rows"),
    ],
)
def test_rows_of_the_wrong_shape(
    kind: Callable[..., PrimitiveSet], arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(SetError, match=message):
        kind(*arguments).check()


@pytest.mark.parametrize(
    ("primitive", "limit"),
    [
        (Simplex(11), 10),
        (Box(4), 15),
        (L1Ball(6), 11),
        (Hypersimplex(6, 3), 19),
        (Polytope(np.vstack([np.eye(3), -np.eye(3)]), [0.0, 0, 0, -1, -1, -1]), 7),
        (Product([Simplex(4), Simplex(4)]), 15),
        (Product([Box(2), L2Ball(2)]), 100),
        (L2Ball(3), 10_000),
        (example("conic-half-disc"), 10_000),
    ],
)
def test_vertices_beyond_the_limit(primitive: PrimitiveSet, limit: int) -> None:
    with pytest.raises(TooManyVerticesError, match="vertices"):
        primitive.vertices(limit)
    if primitive.conic_form().polyhedral:
        assert len(primitive.vertices(limit + 1)) == limit + 1


def test_huge_sets_refuse_at_once() -> None:
    for primitive in (Box(200), Hypersimplex(100, 50), Product([Box(60), Box(60)])):
        with pytest.raises(TooManyVerticesError, match="limit"):
            primitive.vertices()
    rows = np.random.default_rng(0).normal(size=(200, 12))
    ball = Polytope(rows, -np.ones(200))
    with pytest.raises(TooManyVerticesError, match="200 rows in 12 dimensions"):
        ball.vertices()


def test_l1_ball_too_large_for_its_facets_still_works() -> None:
    ball = L1Ball(20)
    ball.check()
    q = np.zeros(20)
    q[7] = 3.0
    assert ball.argmin(q)[7] == -1.0
    with pytest.raises(TooManyVerticesError, match=r"2\^20 facets"):
        ball.conic_form()
    flat = AffineImage(ball, np.vstack([np.ones(20), np.arange(20.0)]), np.zeros(2))
    assert flat.halfspaces().contains(flat.vertices()).all()
    assert flat.contains(flat.vertices()).all()


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_costs_and_points_of_the_wrong_shape(name: str) -> None:
    primitive = example(name)
    p = primitive.dimension
    for method in ("argmin", "minimum", "tied", "face", "contains"):
        for bad in (np.zeros(p + 1), np.zeros((2, p + 1)), np.zeros((2, 2, p)), 1.0 * np.zeros(0)):
            with pytest.raises(DataError, match=f"holds points with {p} entries"):
                getattr(primitive, method)(bad)
        with pytest.raises(DataError, match="not a number"):
            getattr(primitive, method)(["a"] * p)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_values_that_are_not_finite_are_named_by_place(name: str, value: float) -> None:
    primitive = example(name)
    bad = np.zeros((3, primitive.dimension))
    bad[2, -1] = value
    for method in ("argmin", "minimum", "contains"):
        with pytest.raises(DataError, match=rf"\[2, {primitive.dimension - 1}\] is"):
            getattr(primitive, method)(bad)


def test_unknown_ties() -> None:
    with pytest.raises(UnsupportedError, match="ties='last' is not known; use 'first' or 'center'"):
        Simplex(3).argmin(np.zeros(3), ties="last")  # type: ignore[arg-type]


def test_image_asked_with_the_wrong_shape() -> None:
    image = AffineImage(Simplex(2), np.eye(2), np.zeros(2))
    with pytest.raises(DataError, match=r"cost has shape \(3,\); expected \(2,\)"):
        image.minimize(np.zeros(3))
    with pytest.raises(DataError, match=r"direction\[1\] is nan"):
        image.support([0.0, np.nan])
    with pytest.raises(DataError, match=r"x\[0\] is inf"):
        image.distance([np.inf, 0.0])
    with pytest.raises(DataError, match="x has shape"):
        image.contains(np.zeros((2, 3)))


# Tolerances hold as far as they say and no farther.

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
