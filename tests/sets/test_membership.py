"""Membership, projection, vertices, half-spaces and centre: all say the same about a set."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets import AffineImage, HalfSpaces
from feaslearn.sets.half_spaces import half_spaces_of_points
from oracles import least_cost
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


@pytest.mark.parametrize("name", NAMES)
@FOR_EACH_SET
@given(data=st.data())
def test_projection_is_nearest_and_zero_distance_is_membership(
    name: str, data: st.DataObject
) -> None:
    primitive, form = example(name), example(name).conic_form()
    z = data.draw(points(primitive.dimension))

    nearest = primitive.project(z)

    assert form.violation(nearest[None, :])[0] <= TOLERANCE * size_of(name)
    away = z - nearest
    farthest = -least_cost(form, -away)[0]  # max (z - Pz)'v over the set
    # A projection that is off by d looks wrong by up to d times the size of the set.
    reach = max(np.abs(away).max(), 0.1 * size_of(name))
    assert farthest - away @ nearest <= TOLERANCE * size_of(name) * reach
    distance = np.linalg.norm(away)
    if distance <= 1e-9:
        assert primitive.contains(z, TOLERANCE * size_of(name)).all()
    elif distance > 1e-4 * size_of(name):
        assert not primitive.contains(z, 1e-7).any()


@pytest.mark.parametrize("name", POLYHEDRAL)
@FOR_EACH_SET
@given(data=st.data())
def test_vertices_are_inside_and_attain_every_minimum(name: str, data: st.DataObject) -> None:
    primitive = example(name)
    V = primitive.vertices()
    q = data.draw(points(primitive.dimension))
    assert primitive.contains(V, 1e-9 * size_of(name)).all()
    allowed = TOLERANCE * size_of(name) * np.abs(q).max()
    assert (V @ q).min() == pytest.approx(primitive.minimum(q)[0], abs=allowed)


@pytest.mark.parametrize("name", POLYHEDRAL)
def test_vertices_are_extreme_and_listed_once(name: str) -> None:
    V = example(name).vertices()
    # v is a vertex if some cost has it as its only minimiser: v minus the mean of the others
    # will not do for every polytope, so the rows that are active at v must fix it.
    form = example(name).conic_form()
    for v in V:
        active = np.abs(form.H @ v - form.h) <= 1e-8
        assert np.linalg.matrix_rank(form.H[active], tol=1e-9) == form.H.shape[1]
    assert len(np.unique(V.round(8), axis=0)) == len(V)


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
