"""Minimisers of linear costs over every set of the registry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.sets.image_kernels import predict_rows
from feaslearn.tolerances import TIE_TOL
from oracles import least_cost
from registry import FOR_EACH_SET, NAMES, POLYHEDRAL, example, size_of, vectors

TOLERANCE = 1e-6


@pytest.mark.parametrize("name", NAMES)
@FOR_EACH_SET
@given(data=st.data())
def test_minimisers_are_in_the_set_and_optimal(name: str, data: st.DataObject) -> None:
    primitive, form = example(name), example(name).conic_form()
    q = data.draw(vectors(primitive.dimension))
    low, high = least_cost(form, q)
    allowed = TOLERANCE * size_of(name) * np.abs(q).max()
    assert high - low <= allowed  # the oracle itself

    first, center = primitive.argmin(q), primitive.argmin(q, ties="center")

    for z in (first, center):
        assert form.violation(z[None, :])[0] <= TOLERANCE * size_of(name)
        assert low - allowed <= q @ z <= high + allowed
    assert primitive.minimum(q)[0] == pytest.approx(q @ first, abs=allowed)
    if not primitive.tied(q)[0]:
        assert center == pytest.approx(first, abs=1e-5 * size_of(name))


@pytest.mark.parametrize("name", [name for name in NAMES if example(name).code() is not None])
def test_kernels_see_the_ties_that_faces_show(name: str) -> None:
    primitive, code = example(name), example(name).code()
    p = primitive.dimension
    Q = np.vstack([np.zeros(p), np.random.default_rng(0).integers(-1, 2, size=(20, p))])
    identity, nothing = np.eye(p)[None], np.zeros((1, p))
    for q in Q:
        x, tied = np.empty((1, p)), np.empty(1, dtype=bool)
        predict_rows(code, identity, nothing, np.ones((1, 1)), q[None, :], TIE_TOL, x, tied)
        assert tied[0] == primitive.tied(q)[0]
        assert tied[0] != primitive.face(q).is_point


@pytest.mark.parametrize("name", ["simplex-5", "conic-half-disc"])
@pytest.mark.parametrize("kind", ["float32", "int64", "fortran", "strided", "list"])
def test_any_kind_of_array_is_read(name: str, kind: str) -> None:
    primitive = example(name)
    p = primitive.dimension
    Q = np.random.default_rng(0).integers(-3, 4, size=(4, p)).astype(float)
    given_as = {
        "float32": Q.astype(np.float32),
        "int64": Q.astype(np.int64),
        "fortran": np.asfortranarray(Q),
        "strided": np.repeat(Q, 2, axis=1)[:, ::2],
        "list": Q.tolist(),
    }[kind]
    np.testing.assert_array_equal(primitive.argmin(given_as), primitive.argmin(Q))
    np.testing.assert_array_equal(primitive.project(given_as), primitive.project(Q))


@pytest.mark.parametrize("name", [name for name in POLYHEDRAL if example(name).code() is not None])
def test_first_minimiser_of_no_cost_is_the_first_vertex(name: str) -> None:
    primitive = example(name)
    np.testing.assert_array_equal(
        primitive.argmin(np.zeros(primitive.dimension)), primitive.vertices()[0]
    )
