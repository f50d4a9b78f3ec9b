"""Sets within half-spaces, and the nearest decisions where there are none."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn import Region
from feaslearn.hypotheses.constrained import Constrained, half_spaces_of
from feaslearn.known import KnownLimits
from feaslearn.region.relax import least_infeasible, rows_of_size_one
from feaslearn.region.within import intersect
from feaslearn.sets import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.product import Product
from registry import (
    ONE_OF_EACH,
    Array,
    example,
    generators,
    is_polyhedral,
    known_limits,
    random_map,
)

SETS = tuple(name for name in ONE_OF_EACH if example(name).dimension <= 6)


def limits_around(center: Array, rng: np.random.Generator, balance: bool) -> KnownLimits:
    """Return constraints of one sample that a point satisfies."""
    n = len(center)
    G, E = rng.normal(size=(1, n)), rng.normal(size=(int(balance), n))
    width = rng.uniform(0.05, 1.0, n)
    lower = np.where(rng.random(n) < 0.3, -np.inf, center - width)
    upper = np.where(rng.random(n) < 0.3, np.inf, center + width)
    sides = {"lower": lower, "upper": upper, "g": G @ center - 0.3, "e": E @ center}
    return known_limits(1, n, G=G, E=E, **sides)


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=10)
@given(rng=generators(), balance=st.booleans())
def test_a_region_within_known_rows_answers_like_a_program(
    name: str, rng: np.random.Generator, balance: bool
) -> None:
    primitive, n = example(name), 2
    image = AffineImage(primitive, random_map(rng, n, primitive.dimension), rng.normal(size=n))
    inner = primitive.vertices()[0] if primitive.discrete else primitive.center()
    known = half_spaces_of(limits_around(image.at(inner), rng, balance and not primitive.discrete))
    region = Region(image, known=known)
    cost = rng.normal(size=n)
    x = region.minimize(cost)
    assert known.contains(x, 1e-5)[0]
    assert image.contains(x, 1e-5)[0]
    if primitive.discrete:
        points = image.vertices()
        assert cost @ x == pytest.approx((points[known.contains(points, 1e-6)] @ cost).min())
        return
    form = primitive.conic_form()
    z, y = cp.Variable(form.H.shape[1]), cp.Variable(n)
    rows = [y == image.matrix @ z + image.offset, known.A @ y <= known.b]
    rows += [known.E @ y == known.e] if len(known.E) else []
    for cone, place in form.blocks():
        value = form.H[place] @ z - form.h[place]
        if cone.size and cone.kind == "second-order":
            rows.append(cp.SOC(value[0], value[1:]))
        elif cone.size:
            rows.append(value == 0 if cone.kind == "zero" else value >= 0)
    problem = cp.Problem(cp.Minimize(cost @ y), rows)
    problem.solve(solver="CLARABEL")
    size = 1.0 + float(np.abs(image.matrix).sum())
    assert cost @ x == pytest.approx(problem.value, abs=1e-5 * size)
    assert region.support(-cost) == pytest.approx(-problem.value, abs=1e-5 * size)
    lower, upper = region.bounding_box()
    assert (x >= lower - 1e-5 * size).all()
    assert (x <= upper + 1e-5 * size).all()
    near = region.project(x + rng.normal(size=n))
    assert known.contains(near, 1e-4 * size)[0]
    if is_polyhedral(name):
        corners = region.vertices()
        assert (corners @ cost).min() == pytest.approx(problem.value, abs=2e-5 * size)
        assert region.halfspaces().contains(corners, 1e-5 * size).all()


@pytest.mark.parametrize("seed", [115, 1_930_179_706])
def test_a_set_without_interior_keeps_to_rows_that_hardly_move(seed: int) -> None:
    """Rows that the map makes short have limits far away, and these widened all rows."""
    primitive, rng = example("box-degenerate"), np.random.default_rng(seed)
    image = AffineImage(primitive, random_map(rng, 2, primitive.dimension), rng.normal(size=2))
    known = half_spaces_of(limits_around(image.at(primitive.center()), rng, balance=False))
    x = intersect(image, known).minimize(rng.normal(size=2))
    assert known.contains(x, 5e-6)[0]
    assert image.contains(x, 1e-7)[0]


def test_an_equality_that_the_region_keeps_already_is_not_contradicted_by_rounding() -> None:
    """The balance of a large term cancels, and what is left beside a small one is rounding."""
    small, large = 4.7e-7 * np.eye(3), 1.6 * (3.0 * np.eye(3) - np.ones((3, 3)) + 1e-16)
    simplex = fl.Polytope(np.eye(3), np.zeros(3), np.ones((1, 3)), [1.0])
    pair = AffineImage(Product([simplex, simplex]), np.hstack([small, large]), np.zeros(3))
    balance = np.ones((1, 3)), np.array([4.7e-7 * (1.0 + 1e-9)])
    within = intersect(pair, HalfSpaces(np.zeros((0, 3)), np.zeros(0), *balance))
    np.testing.assert_allclose(within.bounding_box(), pair.bounding_box(), rtol=1e-7)


def test_a_region_says_what_is_known_in_words() -> None:
    square = AffineImage(fl.Box(2), np.eye(2), np.zeros(2))
    balance = np.ones((1, 2)) / np.sqrt(2.0), np.array([1.0]) / np.sqrt(2.0)
    region = Region(square, ["a", "b"], known=HalfSpaces(np.zeros((0, 2)), np.zeros(0), *balance))
    assert "known: a + b = 1" in region.describe()
    np.testing.assert_allclose(np.sort(region.vertices()[:, 0]), [0.0, 1.0], atol=1e-9)


NEAREST = {
    "scaled": (fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), np.array([1.0, 0.0, 0.0])),
    "minkowski": (fl.Minkowski.box(2), np.array([2.0, 2.0, -1.0, -1.0])),
    "affine": (fl.Affine(fl.Box(2)), np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])),
    "ball": (fl.Minkowski([fl.Term(fl.L2Ball(2))], scale="constant"), np.array([1.0, 0.0, 0.0])),
}


@pytest.mark.parametrize("name", list(NEAREST))
@given(
    x0=st.floats(1.5, 4.0),
    cost=st.sampled_from([(0.5, -1.0), (0.5, 1.0), (1e7, -1e-9), (0.0, 1e7), (-1e7, 1e-9)]),
)
@settings(max_examples=10)
def test_where_the_region_has_no_known_decision_the_nearest_is_returned(
    name: str, x0: float, cost: tuple[float, float]
) -> None:
    """However large prices are."""
    # The square (or disc) around zero of half-width 1, and what is known: x0 is at least 1.5.
    hypothesis, theta = NEAREST[name]
    known = known_limits(1, 2, G=[[1.0, 0.0]], g=[x0], lower=-5.0, upper=5.0)
    features = np.hstack([np.ones((1, 1)), known.columns()])
    within = Constrained(hypothesis, known.shape)
    decisions, empty, *_ = within.solve(theta, features, np.array([cost]))
    assert empty[0]
    # Of the decisions with x0 the limit, those of the square are equally near: the cheapest.
    expected = [x0, 0.0] if name == "ball" else [x0, -np.sign(cost[1])]
    np.testing.assert_allclose(decisions[0], expected, atol=1e-4 if name == "ball" else 1e-8)
    assert within.image(theta, features[0], 2).is_point


# Hypotheses within what is known: many samples at once.


def test_several_decisions_tie_only_where_they_are_different_ones() -> None:
    """The unit square, cut at x0 <= 0.5: x1 is free where its price is zero, and only there."""
    known = known_limits(4, 2, lower=-9.0, upper=[0.5, 9.0])
    features = np.hstack([np.ones((4, 1)), known.columns()])
    costs = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    square = fl.Affine(fl.Box(2))
    within = Constrained(square, known.shape)
    theta = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert within.tied(theta, features, costs).tolist() == [True, False, True, True]
    centers = within.solve(theta, features, costs, ties="center").decisions
    np.testing.assert_allclose(centers, [[0.5, 0], [0.5, -1], [-1, 0], [-0.25, -1]], atol=1e-6)
    # Several points of the set make one decision: that is no tie.
    flat = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not within.tied(flat, features, costs)[[0, 2]].any()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"lower": 0.0, "upper": 1.0, "G": [[1.0, 1.0]], "g": [3.0]}, 1.0),
        ({"lower": 0.0, "upper": 1.0, "G": [[-1.0, -1.0]], "g": [1.0]}, 1.0),
        ({"lower": 0.0, "upper": 1.0, "E": [[1.0, 1.0]], "e": [-0.5]}, 0.5),
        ({"lower": 0.0, "upper": 1.0, "E": [[1.0, 1.0]], "e": [2.5]}, 0.5),
        ({"lower": -5.0, "upper": 9.0, "G": [[1.0, 1.0], [-1.0, 1.0]], "g": [30.0, 1.0]}, 12.0),
        ({"lower": -5.0, "upper": 9.0, "G": [[-1.0, -2.0]], "g": [18.0]}, 1.5),
    ],
)
def test_rows_that_contradict_each_other_are_broken_least(
    given: dict[str, Any], expected: float
) -> None:
    limits = known_limits(1, 2, **given)
    x, known = least_infeasible(limits), rows_of_size_one(limits)
    beyond = np.maximum(known.lower[0] - x, 0) + np.maximum(x - known.upper[0], 0)
    broken = np.abs(known.E @ x - known.e[0]).sum() + np.maximum(known.g[0] - known.G @ x, 0).sum()
    assert broken + beyond.sum() == pytest.approx(expected)
    features = np.hstack([np.ones((1, 1)), limits.columns()])
    within = Constrained(fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), limits.shape)
    assert within.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2))).empty[0]
    # A curved region is asked sample by sample.
    round_one = Constrained(fl.Minkowski([fl.Term(fl.L2Ball(2))], scale="constant"), limits.shape)
    found = round_one.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2)))
    np.testing.assert_allclose(found.decisions[0], x, atol=1e-6)
    assert found.empty[0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_ties_are_told_in_any_unit(unit: float) -> None:
    known = known_limits(1, 2, lower=0.0, upper=[0.5 * unit, 2.0 * unit])
    features = np.hstack([np.ones((3, 1)), np.tile(known.columns(), (3, 1))])
    within = Constrained(fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), known.shape)
    costs = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    assert within.tied(np.array([unit, 0.0, 0.0]), features, costs).tolist() == [True, False, False]
