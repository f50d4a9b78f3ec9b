"""Parameters of sets: stored as given, copied, named from outside, shown in the repr."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

from feaslearn import Affine
from feaslearn.sets import AffineImage, Box, Hypersimplex, Polytope, Product, Simplex
from registry import NAMES, POLYHEDRAL, SETS, example


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_answers_the_same(name: str) -> None:
    primitive = example(name)
    copied = clone(primitive)
    assert copied is not primitive
    assert type(copied) is type(primitive)
    np.testing.assert_array_equal(copied.conic_form().H, primitive.conic_form().H)
    np.testing.assert_array_equal(copied.conic_form().h, primitive.conic_form().h)
    assert copied.conic_form().cones == primitive.conic_form().cones


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_stored_untouched(name: str) -> None:
    primitive = SETS[name]()
    given = primitive.get_params(deep=False)
    primitive.check()
    primitive.argmin(np.zeros(primitive.dimension))
    after = primitive.get_params(deep=False)
    assert all(after[parameter] is value for parameter, value in given.items())


def test_which_sets_take_up_an_offset() -> None:
    """Those whose points all have the same sum of entries, which is not zero."""
    names = {name for name in NAMES if example(name).absorbs_offset}
    assert names == {name for name in NAMES if name.startswith(("simplex", "hypersimplex"))}
    for name in names:
        sums = example(name).vertices().sum(axis=1)
        assert sums[0] != 0.0
        assert (sums == sums[0]).all()


def test_images_and_half_spaces_are_themselves_and_stay_so() -> None:
    image = AffineImage(Simplex(2), np.eye(2), np.zeros(2))
    for thing, name in ((image, "matrix"), (image.halfspaces(), "A")):
        assert len({thing, thing}) == 1
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, np.eye(2))


def test_zeros_of_vertices_have_no_sign() -> None:
    for name in POLYHEDRAL:
        V = example(name).vertices()
        assert not np.signbit(V[V == 0.0]).any(), name


def test_a_grid_can_name_the_parameter_of_a_set() -> None:
    hypothesis = Affine(Simplex(3))
    hypothesis.set_params(primitive__p=5)
    assert hypothesis.layout(2, 1).shapes["A"] == (1, 2, 5)
    assert hypothesis.get_params()["primitive__p"] == 5


def test_a_changed_parameter_changes_every_answer() -> None:
    square = np.vstack([np.eye(2), -np.eye(2)])
    polytope = Polytope(square, [0.0, 0.0, -1.0, -1.0])
    assert polytope.argmin([-1.0, -1.0]).tolist() == [1.0, 1.0]
    polytope.set_params(h=[0.0, 0.0, -3.0, -1.0])
    assert polytope.argmin([-1.0, -1.0]).tolist() == [3.0, 1.0]
    assert len(polytope.vertices()) == 4
    polytope.vertices()[:] = 7.0  # a caller's copy is a caller's
    assert polytope.vertices().max() == 3.0


@pytest.mark.parametrize(
    ("primitive", "shown"),
    [
        (Simplex(9), "Simplex(p=9)"),
        (Hypersimplex(5, 2), "Hypersimplex(p=5, m=2)"),
        (Box(2, 0.0, [1.0, 2.0]), "Box(p=2, lower=0.0, upper=[1.0, 2.0])"),
        (Box(2, np.zeros(2), np.ones(2)), "Box(p=2, lower=<2>, upper=<2>)"),
        (
            Product([Simplex(2), Box(1)]),
            "Product(sets=[Simplex(p=2), Box(p=1, lower=-1.0, upper=1.0)])",
        ),
        (Polytope(np.eye(2), [0.0, 0.0]), "Polytope(H=<2x2>, h=[0.0, 0.0])"),
        (Polytope([[1.0], [1.0, 2.0]], [0.0]), "Polytope(H=[[1.0], [1.0, 2.0]], h=[0.0])"),
    ],
)
def test_repr_is_honest(primitive: Simplex, shown: str) -> None:
    assert repr(primitive) == shown


@pytest.mark.parametrize("name", NAMES)
def test_repr_is_one_short_line(name: str) -> None:
    shown = repr(example(name))
    assert shown.startswith(type(example(name)).__name__ + "(")
    assert "\n" not in shown
    assert len(shown) < 200
