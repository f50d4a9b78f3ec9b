"""What sets refuse: our own errors, which name what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    SetError,
    TooManyVerticesError,
    UnboundedSetError,
    UnsupportedError,
)
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
