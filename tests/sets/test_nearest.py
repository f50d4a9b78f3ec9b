"""Nearest points of images of sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets import AffineImage, Box, L2Ball, Simplex
from feaslearn.solvers.oracle_kernels import L2_BALL
from registry import (
    FOR_EACH_SET,
    NAMES,
    example,
    generators,
    mixtures,
    random_map,
    size_of,
)

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


def test_target_at_a_vertex_on_an_edge_and_in_the_middle() -> None:
    image = AffineImage(Simplex(3), [[0.0, 4.0, 0.0], [0.0, 0.0, 3.0]], [1.0, 1.0])
    assert image.nearest_latent([5.0, 1.0]) == pytest.approx([0.0, 1.0, 0.0])
    assert image.nearest_latent([3.0, 1.0]) == pytest.approx([0.5, 0.5, 0.0])
    assert image.nearest_latent([2.0, 2.0]) == pytest.approx([5 / 12, 1 / 4, 1 / 3])
    assert image.distance([2.0, -3.0]) == pytest.approx(4.0)
    # The hypotenuse 3 x + 4 y = 19 is at distance 12 / 5 from the corner (1, 1).
    assert image.distance([5.0, 4.0]) == pytest.approx(12 / 5)


def test_ellipse_with_its_middle_far_away() -> None:
    image = AffineImage(L2Ball(2), [[3.0, 0.0], [0.0, 1e-3]], [1e3, -1e3])
    assert image.distance([1e3 + 5.0, -1e3]) == pytest.approx(2.0)
    assert image.distance([1e3, -1e3 + 2e-3]) == pytest.approx(1e-3, rel=1e-6)
    assert image.contains([[1e3 + 2.999, -1e3]]).all()
    assert not image.contains([[1e3 + 3.001, -1e3]]).any()
