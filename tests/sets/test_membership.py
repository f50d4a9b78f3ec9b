"""Membership, projection, vertices, half-spaces and centre: all say the same about a set."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets import AffineImage, HalfSpaces
from feaslearn.sets.half_spaces import half_spaces_of_points
from registry import (
    FOR_EACH_SET,
    NAMES,
    POLYHEDRAL,
    example,
    generators,
    mixtures,
    points,
    size_of,
)

TOLERANCE = 1e-6


@cache
def descriptions(name: str) -> list[HalfSpaces]:
    """Return the set's own rows and, in few dimensions, those of the hull of its vertices."""
    primitive, p = example(name), example(name).dimension
    rows = [AffineImage(primitive, np.eye(p), np.zeros(p)).halfspaces()]
    return [*rows, half_spaces_of_points(primitive.vertices())] if p <= 5 else rows


@pytest.mark.parametrize("name", POLYHEDRAL)
@FOR_EACH_SET
@given(data=st.data(), rng=generators())
def test_half_spaces_agree_with_membership(
    name: str, data: st.DataObject, rng: np.random.Generator
) -> None:
    primitive = example(name)
    z = data.draw(points(primitive.dimension))
    inside = mixtures(primitive, rng, 3)
    for rows in descriptions(name):
        assert np.linalg.norm(rows.A, axis=1) == pytest.approx(np.ones(len(rows.A)))
        assert rows.contains(inside, TOLERANCE * size_of(name)).all()
        distance = np.linalg.norm(z - primitive.project(z))
        if distance <= 1e-9:
            assert rows.contains(z, TOLERANCE * size_of(name)).all()
        elif distance > 1e-4 * size_of(name):
            assert not rows.contains(z, 1e-7).any()


@pytest.mark.parametrize("name", NAMES)
def test_centre_is_in_the_relative_interior(name: str) -> None:
    primitive = example(name)
    center = primitive.center()
    assert primitive.contains(center, 1e-7).all()
    # From the centre every point of the set can be overshot a little without leaving it.
    inside = mixtures(primitive, np.random.default_rng(0), 20)
    assert primitive.contains(center - 0.02 * (inside - center), 1e-6).all()
