"""Minimisers of linear costs over every set of the registry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import least_cost
from registry import NAMES, POLYHEDRAL, example, size_of, vectors

TOLERANCE = 1e-6


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_argmin_is_in_the_set_and_optimal(name: str, data: st.DataObject) -> None:
    primitive, form = example(name), example(name).conic_form()
    q = data.draw(vectors(primitive.dimension))
    low, high = least_cost(form, q)
    allowed = TOLERANCE * size_of(name) * np.abs(q).max()
    assert high - low <= allowed  # the oracle itself

    z = primitive.argmin(q)

    assert form.violation(z[None, :])[0] <= TOLERANCE * size_of(name)
    assert low - allowed <= q @ z <= high + allowed
    assert primitive.minimum(q)[0] == pytest.approx(
        q @ z, abs=1e-9 * size_of(name) * np.abs(q).max()
    )


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_central_minimiser_is_optimal_and_between_tied_ones(name: str, data: st.DataObject) -> None:
    primitive = example(name)
    q = data.draw(vectors(primitive.dimension))
    allowed = TOLERANCE * size_of(name) * np.abs(q).max()

    z = primitive.argmin(q, ties="center")

    assert primitive.contains(z, TOLERANCE * size_of(name)).all()
    assert q @ z <= primitive.minimum(q)[0] + allowed
    if not primitive.tied(q)[0]:
        assert z == pytest.approx(primitive.argmin(q), abs=1e-5 * size_of(name))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_many_costs_are_answered_as_one_by_one(name: str, data: st.DataObject) -> None:
    primitive = example(name)
    Q = np.array(data.draw(st.lists(vectors(primitive.dimension), min_size=2, max_size=3)))

    Z = primitive.argmin(Q)

    assert Z.shape == Q.shape
    assert primitive.minimum(Q).shape == (len(Q),)
    assert primitive.tied(Q).shape == (len(Q),)
    served = primitive.code() is not None
    for q, z, value in zip(Q, Z, primitive.minimum(Q), strict=True):
        alone = primitive.argmin(q)
        if served:
            np.testing.assert_array_equal(alone, z)
        allowed = TOLERANCE * size_of(name) * np.abs(q).max()
        assert q @ alone == pytest.approx(q @ z, abs=allowed)
        assert value == pytest.approx(q @ z, abs=allowed)


@pytest.mark.parametrize("name", NAMES)
def test_no_costs_give_no_minimisers(name: str) -> None:
    primitive = example(name)
    nothing = np.zeros((0, primitive.dimension))
    assert primitive.argmin(nothing).shape == nothing.shape
    assert primitive.minimum(nothing).shape == (0,)
    assert primitive.project(nothing).shape == nothing.shape
    assert primitive.contains(nothing).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
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
