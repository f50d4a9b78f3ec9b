"""Sets that hold binary points alone: answers against a list made by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import (
    EmptySetError,
    SetError,
    TooManyVerticesError,
    UnsupportedError,
)
from feaslearn.sets import AffineImage
from registry import BINARY_SETS, cube, fit_to


def test_the_points_of_a_knapsack_are_those_that_fit() -> None:
    found = BINARY_SETS["binary-knapsack"]().vertices()
    fitting = [z for z in product((1.0, 0.0), repeat=4) if np.dot(z, [2, 3, 4, 1]) <= 5.0]
    np.testing.assert_array_equal(found, fitting)


def test_the_hull_is_not_the_relaxation() -> None:
    knapsack = fl.Polytope([[-2.0, -2.0]], [-3.0], binary=True)
    assert knapsack.minimum([-1.0, -1.0])[0] == -1.0
    assert knapsack.conic_form().violation(np.array([[0.75, 0.75]]))[0] > 0.2


def test_bad_parameters() -> None:
    with pytest.raises(SetError, match="binary='yes' is not True or False"):
        fl.Simplex(3, binary="yes").check()
    with pytest.raises(EmptySetError, match="no point of zeros and ones"):
        fl.Polytope([[1.0, 1.0]], [3.0], binary=True).check()
    with pytest.raises(TooManyVerticesError, match="16384 binary points"):
        fl.Polytope(*cube(14), binary=True).check()
    with pytest.raises(TooManyVerticesError, match="too many binary points"):
        fl.Polytope(*cube(30), binary=True).check()


def test_regions_and_hypotheses_are_convex() -> None:
    points = fl.Simplex(2, binary=True)
    region = fl.Region(AffineImage(points, np.eye(2), np.zeros(2)))
    with pytest.raises(UnsupportedError, match=r"feaslearn\.paper"):
        _ = region.form
    data = fl.datasets.make_switch(20, random_state=0)
    for hypothesis in (fl.Affine(points), fl.Minkowski([fl.Term(points)])):
        with pytest.raises(fl.exceptions.FeaslearnError, match=r"feaslearn\.paper"):
            fit_to(data, hypothesis)


def test_a_region_of_points() -> None:
    corners = np.array([[0.0, 2.0, 0.5], [0.0, 0.0, 0.5]])
    region = fl.Region(AffineImage(fl.Simplex(3, binary=True), corners, np.zeros(2)))
    assert region.contains([[0.5, 0.5], [1.0, 0.0]]).tolist() == [True, False]
    assert region.project([1.2, 0.1]).tolist() == [0.5, 0.5]
    assert len(region.vertices()) == 3
    assert region.distance([1.25, 0.0]) == pytest.approx(0.75)
