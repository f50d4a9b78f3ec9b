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
    ConicSet,
    Hypersimplex,
    L1Ball,
    L2Ball,
    Polytope,
    PrimitiveSet,
    Product,
    Simplex,
)
from registry import NAMES, example

BY_COUNT: dict[str, Callable[..., PrimitiveSet]] = {
    "Simplex": Simplex,
    "Box": Box,
    "L1Ball": L1Ball,
    "L2Ball": L2Ball,
    "Hypersimplex": partial(Hypersimplex, m=1),
}


@pytest.mark.parametrize("kind", BY_COUNT)
@pytest.mark.parametrize("p", [0, -1, 2.5, 3.0, True, "nine", None, np.nan])
def test_a_number_of_entries_that_is_none(kind: str, p: object) -> None:
    primitive = BY_COUNT[kind](p)  # constructors only store
    for use in (primitive.check, primitive.conic_form, lambda: primitive.argmin([1.0])):
        with pytest.raises(SetError, match=rf"{kind}: p=.* is not an integer >= 1"):
            use()


def test_a_numpy_integer_is_a_number_of_entries() -> None:
    assert Simplex(np.int64(3)).argmin([3.0, 1.0, 2.0]).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("m", [0, -2, 1.5, True, "two"])
def test_hypersimplex_with_a_sum_that_is_none(m: object) -> None:
    with pytest.raises(SetError, match=r"m=.* is not an integer"):
        Hypersimplex(3, m).check()  # type: ignore[arg-type]


def test_hypersimplex_with_too_large_a_sum() -> None:
    for use in ("check", "code", "vertices"):
        with pytest.raises(EmptySetError, match="m > p"):
            getattr(Hypersimplex(3, 4), use)()


def test_box_whose_limits_cross_names_the_entry() -> None:
    with pytest.raises(EmptySetError, match=r"z\[1\] has lower limit 2.0 above upper limit 1.0"):
        Box(2, [0.0, 2.0], [1.0, 1.0]).check()


@pytest.mark.parametrize("limits", [(-np.inf, 1.0), (0.0, [1.0, np.inf]), (-np.inf, np.inf)])
def test_box_without_a_limit(limits: tuple[object, object]) -> None:
    with pytest.raises(UnboundedSetError, match=r"unbounded: z\[\d\]"):
        Box(2, *limits).check()  # type: ignore[arg-type]


def test_box_names_the_entry_that_is_wrong() -> None:
    with pytest.raises(UnboundedSetError, match=r"unbounded: z\[2\] in \[0.0, inf\]"):
        Box(3, 0.0, [1.0, 1.0, np.inf]).check()
    with pytest.raises(EmptySetError, match=r"z\[1\] has lower limit 2.0 above upper limit 1.0"):
        Box(3, [1.0, 2.0, 0.0], 1.0).check()
    Box(2, 1.0, 1.0).check()


def test_box_with_unknown_limits() -> None:
    with pytest.raises(SetError, match=r"z\[1\] has limits nan and 1.0"):
        Box(2, [0.0, np.nan]).check()
    with pytest.raises(SetError, match=r"z\[1\] has limits -1.0 and nan"):
        Box(2, upper=[0.0, np.nan]).check()


@pytest.mark.parametrize("lower", [[0.0, 0.0, 0.0], "low", [[0.0, 0.0]] * 2])
def test_box_with_limits_of_the_wrong_shape(lower: object) -> None:
    with pytest.raises(SetError, match="lower and upper must be one number or 2 each"):
        Box(2, lower).check()  # type: ignore[arg-type]


def test_empty_polytope() -> None:
    nothing = Polytope([[1.0], [-1.0]], [1.0, 0.0])
    with pytest.raises(EmptySetError, match="is empty"):
        nothing.check()
    with pytest.raises(EmptySetError, match="is empty"):
        nothing.vertices()
    flat = Polytope(np.eye(2), np.zeros(2), [[1.0, 1.0]], [-1.0])
    with pytest.raises(EmptySetError, match="is empty"):
        flat.vertices()


@pytest.mark.parametrize(
    ("H", "h", "coordinate"),
    [
        ([[1.0, 0], [0, 1], [0, -1]], [0.0, 0, -1], r"z\[0\] has no limit from above"),
        ([[1.0, 0], [-1, 0], [0, -1]], [0.0, -1, -1], r"z\[1\] has no limit from below"),
        ([[1.0, 1], [-1, -1]], [0.0, -1], r"z\[0\] has no limit from below"),
        ([[1.0, 0]], [0.0], r"z\[0\] has no limit from above"),
        (np.zeros((0, 2)), [], r"z\[0\] has no limit from below"),
    ],
)
def test_unbounded_polytope_names_the_coordinate(H: object, h: object, coordinate: str) -> None:
    for use in ("check", "vertices", "code"):
        with pytest.raises(UnboundedSetError, match=coordinate):
            getattr(Polytope(H, h), use)()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [0.0]), r"H has shape \(2,\)"),
        ((np.zeros((2, 0)), [0.0, 0.0]), r"H has shape \(2, 0\)"),
        ((np.eye(2), [0.0]), r"H and h have shapes \(2, 2\) and \(1,\)"),
        ((np.eye(2), [0.0, 0.0], np.eye(3), [0.0, 0.0, 0.0]), "E and e have shapes"),
        ((np.eye(2), [0.0, 0.0], [[1.0, 1.0]], None), "E and e must be given together"),
        ((np.eye(2), [0.0, 0.0], None, [1.0]), "E and e must be given together"),
        (([[1.0, np.nan], [0.0, 1.0]], [0.0, 0.0]), "H and h must be finite"),
        ((np.eye(2), [0.0, -np.inf]), "leave out rows without a limit"),
        (([["a", "b"]], [0.0]), "H is not an array of numbers"),
        (([[1.0], [1.0, 2.0]], [0.0, 0.0]), "H is not an array of numbers"),
    ],
)
def test_polytope_with_rows_of_the_wrong_shape(arguments: tuple[object, ...], message: str) -> None:
    for use in ("check", "conic_form", "code"):
        with pytest.raises(SetError, match=message):
            getattr(Polytope(*arguments), use)()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cones", "message"),
    [
        ([("positive", 2)], "cones.0. is 'positive', not one of nonnegative"),
        ([("semidefinite", 2)], r"cones.0. takes 2 rows; .* m \(m \+ 1\) / 2 of them: 1, 3, 6"),
        ([("nonnegative", 1)], "cones take 1 rows, but H has 2"),
        ([("nonnegative", -2)], "must be a kind and a number of rows"),
        ([("nonnegative", 2.0)], "must be a kind and a number of rows"),
        ([("nonnegative",)], "must be a kind and a number of rows"),
        (["nonnegative"], "must be a kind and a number of rows"),
        ("nonnegative", "must be a kind and a number of rows"),
        (3, "must be a kind and a number of rows"),
        ([], "cones take 0 rows, but H has 2"),
    ],
)
def test_conic_set_with_cones_that_are_none(cones: object, message: str) -> None:
    with pytest.raises(SetError, match=message):
        ConicSet(np.eye(2), np.zeros(2), cones).check()  # type: ignore[arg-type]


def test_conic_set_says_everything_at_once() -> None:
    with pytest.raises(SetError) as caught:
        ConicSet(np.eye(2), [np.nan], [("zro", 2)]).conic_form()
    assert "h has shape (1,), but H has 2 rows" in str(caught.value)
    assert "must be finite" in str(caught.value)
    assert "'zro'" in str(caught.value)


@pytest.mark.parametrize(
    ("H", "h", "message"),
    [
        ([1.0, 2.0], [0.0, 0.0], r"H has shape \(2,\)"),
        (np.zeros((2, 0)), [0.0, 0.0], r"H has shape \(2, 0\)"),
        (3.0, [0.0, 0.0], r"H has shape \(\)"),
        ([[1.0], [np.inf]], [0.0, 0.0], "H and h must be finite"),
        ([[1.0], [1.0]], [0.0, np.nan], "H and h must be finite"),
    ],
)
def test_conic_set_with_rows_of_the_wrong_shape(H: object, h: object, message: str) -> None:
    with pytest.raises(SetError, match=message):
        ConicSet(H, h, [("nonnegative", 2)]).check()  # type: ignore[arg-type]


def test_cones_without_rows_say_nothing() -> None:
    cones = [("zero", 0), ("nonnegative", 2), ("second-order", 0), ("semidefinite", 0)]
    interval = ConicSet([[1.0], [-1.0]], [0.0, -1.0], cones)
    interval.check()
    assert interval.contains([[0.5], [1.5]]).tolist() == [True, False]
    assert interval.face([1.0]).center() == pytest.approx([0.0], abs=1e-7)
    assert interval.project([[3.0]]) == pytest.approx(np.ones((1, 1)))


def test_conic_set_without_limit_or_without_point() -> None:
    cone = ConicSet(np.eye(3), np.zeros(3), [("second-order", 3)])
    with pytest.raises(UnboundedSetError, match=r"z\[0\] has no limit from above"):
        cone.check()
    far = ConicSet(
        np.vstack([np.zeros(2), np.eye(2), [[1.0, 0.0]]]),
        [-1.0, 0, 0, 2],
        [("second-order", 3), ("nonnegative", 1)],
    )
    with pytest.raises(EmptySetError, match="is empty"):
        far.check()


@pytest.mark.parametrize("sets", [[], (), [Simplex(2), "box"], None, 3, Simplex(2)])
def test_product_of_nothing(sets: object) -> None:
    with pytest.raises(SetError, match="Product needs at least one primitive set"):
        Product(sets).check()  # type: ignore[arg-type]


def test_product_names_the_factor_that_is_wrong() -> None:
    with pytest.raises(EmptySetError, match="Hypersimplex"):
        Product([Simplex(2), Hypersimplex(2, 3)]).check()


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


def test_binary_points_beyond_the_limit() -> None:
    square = Polytope(np.empty((0, 2)), [], binary=True)
    assert len(square.vertices(4)) == 4
    with pytest.raises(TooManyVerticesError, match="has 4 binary points, the limit is 3"):
        square.vertices(3)


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
    assert ball.contains(ball.project(np.ones(20))).all()
    with pytest.raises(TooManyVerticesError, match=r"2\^20 facets"):
        ball.conic_form()
    flat = AffineImage(ball, np.vstack([np.ones(20), np.arange(20.0)]), np.zeros(2))
    assert flat.halfspaces().contains(flat.vertices()).all()
    assert flat.contains(flat.vertices()).all()


@pytest.mark.parametrize("name", NAMES)
def test_costs_and_points_of_the_wrong_shape(name: str) -> None:
    primitive = example(name)
    p = primitive.dimension
    for method in ("argmin", "minimum", "tied", "face", "contains", "project"):
        for bad in (np.zeros(p + 1), np.zeros((2, p + 1)), np.zeros((2, 2, p)), 1.0 * np.zeros(0)):
            with pytest.raises(DataError, match=f"holds points with {p} entries"):
                getattr(primitive, method)(bad)
        with pytest.raises(DataError, match="not a number"):
            getattr(primitive, method)(["a"] * p)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named_by_place(name: str, value: float) -> None:
    primitive = example(name)
    bad = np.zeros((3, primitive.dimension))
    bad[2, -1] = value
    for method in ("argmin", "minimum", "contains", "project"):
        with pytest.raises(DataError, match=rf"\[2, {primitive.dimension - 1}\] is"):
            getattr(primitive, method)(bad)


@pytest.mark.parametrize("name", NAMES)
def test_a_face_belongs_to_one_cost(name: str) -> None:
    primitive = example(name)
    with pytest.raises(DataError, match="a face belongs to one cost"):
        primitive.face(np.ones((2, primitive.dimension)))


@pytest.mark.parametrize("name", NAMES)
def test_unknown_ties(name: str) -> None:
    with pytest.raises(UnsupportedError, match="ties='last' is not known; use 'first' or 'center'"):
        example(name).argmin(np.zeros(example(name).dimension), ties="last")  # type: ignore[arg-type]


def test_image_with_a_map_of_the_wrong_shape() -> None:
    for matrix, offset in (
        (np.zeros((2, 3)), np.zeros(2)),
        (np.zeros((2, 2)), np.zeros(3)),
        (np.zeros(2), np.zeros(2)),
    ):
        with pytest.raises(DataError, match=r"expected \(n, 2\) and \(n,\) for Simplex"):
            AffineImage(Simplex(2), matrix, offset)
    with pytest.raises(DataError, match="matrix holds NaN or infinite values"):
        AffineImage(Simplex(2), [[np.nan, 0.0]], [0.0])
    with pytest.raises(DataError, match="must hold numbers"):
        AffineImage(Simplex(2), [["a", "b"]], [0.0])


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
    with pytest.raises(UnsupportedError, match="norm='l3' is not known"):
        image.distance([0.0, 0.0], "l3")
