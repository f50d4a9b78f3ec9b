"""Sizes that tolerances are relative to, and the limits that are meant where none is given."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from feaslearn.exceptions import TooManyVerticesError
from feaslearn.sets import AffineImage, Box, HalfSpaces, Product, Simplex
from feaslearn.tolerances import divisors, size_of
from registry import NAMES, example


def test_the_size_of_numbers_is_at_least_one() -> None:
    assert size_of([[0.25, -0.5]]) == 1.0
    assert size_of([1.5, -3.0], np.empty(0)) == 3.0
    assert size_of(np.empty((0, 2)), [[1.5]]) == 1.5
    assert size_of(-7.0) == 7.0


def test_nothing_is_divided_by_nothing() -> None:
    np.testing.assert_array_equal(divisors([0.0, 0.5, 1.0, 2.0]), [1.0, 0.5, 1.0, 2.0])
    assert divisors(0.0) == 1.0


def test_ten_thousand_vertices_are_listed_and_no_more() -> None:
    assert len(Product([Simplex(100), Simplex(100)]).vertices()) == 10_000
    with pytest.raises(TooManyVerticesError, match="10001 vertices, more than limit=10000"):
        Product([Simplex(73), Simplex(137)]).vertices()


@pytest.mark.parametrize("name", NAMES)
def test_every_set_lists_as_many_as_the_others(name: str) -> None:
    asked = [type(example(name)).vertices, AffineImage.vertices, AffineImage.halfspaces]
    limits = {inspect.signature(each).parameters["limit"].default for each in asked}
    assert limits == {10_000}
    assert inspect.signature(HalfSpaces.vertices).parameters["limit"].default == 10_000


@pytest.mark.parametrize("name", NAMES)
def test_a_point_outside_by_a_billionth_is_inside(name: str) -> None:
    """Just beyond the farthest point of a direction in which the set ends."""
    primitive = example(name)
    form = primitive.conic_form()
    box = AffineImage(primitive, np.eye(primitive.dimension), np.zeros(primitive.dimension))
    upper = box.bounding_box()[1]
    z = primitive.argmin(-np.eye(primitive.dimension)[0])
    if form.violation(z[None])[0] > 1e-11:
        pytest.skip("the solver's point is not exact enough")
    assert z[0] == pytest.approx(upper[0], abs=1e-9)
    step = np.eye(primitive.dimension)[0]
    broken = [form.violation((z + t * step)[None])[0] for t in (0.5e-9, 1e-6)]
    # How much a step breaks the worst row depends on the row.
    slope = broken[1] / 1e-6
    assert primitive.contains(z + 0.9e-9 / slope * step).all()
    assert not primitive.contains(z + 1.5e-9 / slope * step).any()


def test_without_a_tolerance_the_boundary_is_inside() -> None:
    corner = np.array([1.0, 1.0])
    for primitive, z in (
        (Box(2), corner),
        (Simplex(2), [0.25, 0.75]),
        (Simplex(2, binary=True), [0.0, 1.0]),
        (example("l1-ball-4"), [0.5, 0.25, 0.25, 0.0]),
        (example("l2-ball-3"), [0.0, 0.0, 1.0]),
        (example("polytope-triangle"), [2.0, 0.0]),
    ):
        assert primitive.contains(z, 0.0).all(), primitive
        assert not primitive.contains(1.1 * np.array(z), 0.0).any(), primitive
    image = AffineImage(Box(2), np.eye(2), np.zeros(2))
    assert image.contains(corner, 0.0).all()
