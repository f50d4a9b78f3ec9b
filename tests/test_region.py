"""One learned region: all of its answers describe the same set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn import Region, Simplex
from feaslearn.sets import AffineImage, HalfSpaces
from registry import ONE_OF_EACH, example, generators, is_polyhedral, points, random_map, size_of

# Flat images, single points and intervals are among the maps; larger sets only cost time here.
LISTED = tuple(name for name in ONE_OF_EACH if is_polyhedral(name) and example(name).dimension <= 8)


def random_region(name: str, rng: np.random.Generator, n: int) -> Region:
    primitive = example(name)
    M = random_map(rng, n, primitive.dimension)
    if rng.integers(6) == 0:
        M[:] = 0.0
    return Region(AffineImage(primitive, M, rng.normal(size=n)))


def size_of_region(region: Region, name: str) -> float:
    return max(1.0, float(np.abs(region.image.matrix).max())) * size_of(name)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@given(data=st.data(), rng=generators(), n=st.integers(1, 3))
def test_minimisers_support_box_and_membership_agree(
    name: str, data: st.DataObject, rng: np.random.Generator, n: int
) -> None:
    region = random_region(name, rng, n)
    size = size_of_region(region, name)
    cost = data.draw(points(n))
    for ties in ("first", "center"):
        x = region.minimize(cost, ties)
        assert region.contains(x, 1e-6 * size_of(name)).all()
        assert cost @ x == pytest.approx(-region.support(-cost), abs=1e-6 * size * 10)
    lower, upper = region.bounding_box()
    for j, axis in enumerate(np.eye(n)):
        assert upper[j] == pytest.approx(region.support(axis), abs=1e-6 * size)
        assert lower[j] == pytest.approx(-region.support(-axis), abs=1e-6 * size)
    face = region.optimal_face(cost)
    assert face.names == region.names
    assert face.support(cost) == pytest.approx(-region.support(-cost), abs=1e-5 * size * 10)


@pytest.mark.parametrize("name", LISTED)
@given(data=st.data(), rng=generators(), n=st.integers(1, 3))
def test_vertices_half_spaces_and_projection_agree(
    name: str, data: st.DataObject, rng: np.random.Generator, n: int
) -> None:
    region = random_region(name, rng, n)
    size = size_of_region(region, name)
    x = data.draw(points(n))

    vertices, rows, nearest = region.vertices(), region.halfspaces(), region.project(x)

    assert region.contains(vertices, 1e-6).all()
    assert rows.contains(vertices, 1e-6 * size).all()
    assert (vertices @ x).max() == pytest.approx(region.support(x), abs=1e-6 * size * 10)
    assert region.contains(nearest, 1e-6).all()
    assert rows.contains(nearest, 1e-6 * size).all()
    distance = region.distance(x)
    assert distance == pytest.approx(np.linalg.norm(x - nearest), abs=1e-7 * size)
    assert region.contains(x, 1e-7).all() == (
        distance <= 1e-7 * max(1.0, np.abs(region.image.matrix).max())
    )
    if distance > 1e-4 * size:
        assert not rows.contains(x, 1e-7).any()


def triangle() -> Region:
    return Region(AffineImage(Simplex(3), np.array([[0.0, 2, 0], [0, 0, 2]]), np.ones(2)))


def test_a_triangle_by_hand() -> None:
    region = triangle()
    assert region.n == 2
    assert region.vertices().tolist() == [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]]
    assert [side.tolist() for side in region.bounding_box()] == [[1.0, 1.0], [3.0, 3.0]]
    assert region.project([3.0, 3.0]) == pytest.approx([2.0, 2.0])
    assert region.project([[3.0, 3.0], [0.0, 0.0]]) == pytest.approx(np.array([[2.0, 2.0], [1, 1]]))
    assert region.distance([0.0, 1.0]) == pytest.approx(1.0)
    assert len(region.halfspaces().A) == 3
    face = region.optimal_face([-1.0, -1.0])
    assert face.vertices() == pytest.approx(np.array([[3.0, 1.0], [1.0, 3.0]]))
    assert region.minimize([-1.0, -1.0], ties="center") == pytest.approx([2.0, 2.0])
    assert region.minimize([-1.0, -1.0]).tolist() == [3.0, 1.0]


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_regions_answer_alike_in_any_unit(unit: float) -> None:
    random = np.random.default_rng(0)
    M, m = random.normal(size=(3, 4)), random.normal(size=3)
    G, middle = random.normal(size=(2, 3)), M.mean(axis=1) + m
    near, cost = np.array([0.3, -0.2, 0.5]), np.array([1.0, -2.0, 0.5])
    answers = []
    for size in (1.0, unit):
        rows = HalfSpaces(
            np.vstack([G, np.eye(3)]),
            size * np.concatenate([G @ middle + 0.1, np.full(3, 50.0)]),
            np.ones((1, 3)),
            np.array([size * middle.sum()]),
        )
        region = Region(AffineImage(fl.Simplex(4), size * M, size * m), known=rows)
        best = region.minimize(cost)
        corners = np.sort(region.vertices(), axis=0)
        points = [best, region.project(size * near), *region.bounding_box(), *corners]
        answers.append(np.array(points) / size)
        center = (best + region.minimize(-cost)) / 2.0
        aside = center + 1e-4 * size * np.array([1.0, 1.0, 1.0])
        assert region.contains([best, center, aside]).tolist() == [True, True, False]
    np.testing.assert_allclose(answers[1], answers[0], atol=2e-6)


def test_a_minkowski_sum_says_what_can_be_done() -> None:
    random = np.random.default_rng(0)
    prices, demand = random.uniform(size=(80, 2)), random.uniform(1.0, 9.0, 80)
    frame = pd.DataFrame({"cost a": prices[:, 0], "cost b": prices[:, 1], "demand": demand})
    cheap = prices.argmin(axis=1)
    decisions = pd.DataFrame(demand[:, None] * np.eye(2)[cheap], columns=["unit 2", "unit 5"])
    model = fl.RegionRegressor(
        fl.Minkowski.pairs(2, offset=False), cost=["cost a", "cost b"], random_state=0
    ).fit(frame, decisions)
    region = model.region(pd.DataFrame([[0.1, 0.2, 6.1]], columns=frame.columns))
    assert region.account == ("can shift up to 6.1 between unit 2 and unit 5 when demand is 6.1",)
    assert region.describe().splitlines()[1:] == [
        "unit 2 lies in [0, 6.1]",
        "unit 5 lies in [0, 6.1]",
    ]
    assert region.contains([[6.1, 0.0], [3.0, 3.1], [6.1, 6.1]]).tolist() == [True, True, False]
    np.testing.assert_allclose(np.sort(region.vertices(), axis=0), [[0.0, 0.0], [6.1, 6.1]])
