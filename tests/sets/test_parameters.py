"""Parameters of sets: stored as given, copied, named from outside, shown in the repr."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.sets import Box, Hypersimplex, Polytope, Product, Simplex
from registry import NAMES, example


def test_which_sets_take_up_an_offset() -> None:
    """Those whose points all have the same sum of entries, which is not zero."""
    names = {name for name in NAMES if example(name).absorbs_offset}
    assert names == {name for name in NAMES if name.startswith(("simplex", "hypersimplex"))}
    for name in names:
        sums = example(name).vertices().sum(axis=1)
        assert sums[0] != 0.0
        assert (sums == sums[0]).all()


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
