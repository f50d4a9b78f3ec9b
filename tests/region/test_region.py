"""One learned region: all of its answers describe the same set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn import Region, Simplex
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.known import KnownShape
from feaslearn.region import RegionForm, Row, minimize
from feaslearn.sets import AffineImage, HalfSpaces
from registry import (
    ONE_OF_EACH,
    SETS,
    example,
    generators,
    is_polyhedral,
    points,
    random_map,
    size_of,
)

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


# Forms of regions against closed forms and direct solves, for every kind of hypothesis.

N, K = 3, 3
TERMS = [
    fl.Term(fl.Simplex(3)),
    fl.Term(fl.Hypersimplex(3, 2)),
    fl.Term(fl.Box(2), [2, 0], [1.0, -2.0]),
    fl.Term(fl.L1Ball(3)),
]
HYPOTHESES: dict[str, Any] = {
    **{f"affine-{name}": fl.Affine(make()) for name, make in SETS.items()},
    "scaled-simplex": fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"),
    "scaled-ball": fl.Minkowski([fl.Term(fl.L2Ball(3))], scale="constant"),
    **{
        f"minkowski-{scale}": fl.Minkowski(TERMS, scale=scale)
        for scale in ("affine", "constant", "index")
    },
    "minkowski-curved": fl.Minkowski([*TERMS[:2], fl.Term(fl.L2Ball(3))]),
    "minkowski-no-offset": fl.Minkowski(TERMS[:2], offset=False),
    "minkowski-auto": fl.Minkowski(),
    "facets": fl.Facets(4),
}
CURVED = [
    name
    for name, model in HYPOTHESES.items()
    if isinstance(model, fl.Affine) and not model.primitive.conic_form().polyhedral
] + ["minkowski-curved"]


def drawn(name: str, count: int = 6) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return a hypothesis with random parameters, features and costs."""
    model, rng = HYPOTHESES[name], np.random.default_rng(len(name))
    features = np.column_stack([np.ones(count), rng.uniform(0.1, 0.9, size=(count, K - 1))])
    costs = rng.normal(size=(count, N))
    return model, parameters(model, rng), features, costs


def parameters(model: Any, rng: np.random.Generator) -> np.ndarray:
    layout = model.layout(N, K)
    theta = rng.normal(size=layout.size)
    blocks = layout.unpack(theta)
    if "knots" in blocks:
        blocks["knots"][:] = np.linspace(0.0, 1.0, len(blocks["knots"]))[:, None]
    if "alpha" in blocks and len(blocks["alpha"]) == 1:
        blocks["alpha"][:] = np.abs(blocks["alpha"])
    if isinstance(model, fl.Facets):
        blocks["E"][1:], blocks["e"][1:] = 0.0, 0.0
        blocks["lower"][:], blocks["upper"][:] = -3.0, 4.0
        blocks["lower"][:, 1:], blocks["upper"][:, 1:] = rng.normal(size=(2, N, K - 1))
        blocks["facets"][:, N] = 2.0
    return theta


def tolerance(name: str) -> float:
    return 1e-6 if name in CURVED else 1e-8


@pytest.mark.parametrize("name", HYPOTHESES)
def test_minima_of_the_form_are_those_of_solve(name: str) -> None:
    model, theta, features, costs = drawn(name)
    solved = model.solve(theta, features, costs)
    form = model.describe(theta, N, K)
    assert (form.n, form.n_features) == (N, K)
    assert sum(cone.size for cone in form.cones) == form.X.shape[0] == len(form.labels)
    found = minimize(form, features, costs)
    np.testing.assert_array_equal(found.empty, solved.empty)
    there = ~solved.empty
    values = (costs * found.decisions).sum(axis=1), (costs * solved.decisions).sum(axis=1)
    np.testing.assert_allclose(values[0][there], values[1][there], atol=tolerance(name))
    assert there.any()


def test_duals_of_facets_are_differences_of_minima() -> None:
    model, theta, features, costs = drawn("facets")
    form = model.describe(theta, N, K)
    i = int(np.flatnonzero(~minimize(form, features, costs).empty)[0])
    one = form.at(form.weights(features)[i])
    c, phi, step = costs[i : i + 1], np.ones((1, 1)), 1e-5
    duals = minimize(one, phi, c, duals=True).duals
    assert duals is not None

    def value(r: np.ndarray) -> float:
        moved = RegionForm(one.X, one.Z, r, one.cones, one.labels)
        return float(c[0] @ minimize(moved, phi, c).decisions[0])

    assert np.abs(duals).max() > 0.1
    assert duals[0] @ one.r[0] == pytest.approx(value(one.r), abs=1e-8)
    np.testing.assert_allclose(one.X.T @ duals[0], c[0], atol=1e-8)
    for j in range(len(one.labels)):
        change = np.zeros_like(one.r)
        change[0, j] = step
        slope = (value(one.r + change) - value(one.r - change)) / (2.0 * step)
        assert duals[0, j] == pytest.approx(slope, abs=1e-8), one.labels[j]


@pytest.mark.parametrize("name", ["affine-simplex-5", "minkowski-curved"])
def test_only_linear_rows_of_the_decisions_have_duals(name: str) -> None:
    model, theta, features, costs = drawn(next(key for key in HYPOTHESES if name in key))
    with pytest.raises(fl.exceptions.UnsupportedError, match="duals"):
        minimize(model.describe(theta, N, K), features, costs, duals=True)


SHAPE = KnownShape(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 1.0]]))


@pytest.mark.parametrize("name", HYPOTHESES)
def test_forms_within_known_rows(name: str) -> None:
    """The form within known rows has the minima of the constrained hypothesis."""
    model, theta, features, costs = drawn(name)
    within = Constrained(model, SHAPE)
    x = model.predict(theta, features, -costs)
    known = np.hstack(
        [
            x[:, :1] + x[:, 1:2] - 0.3,
            np.full((len(x), N), -np.inf),
            x + np.array([0.2, np.inf, 0.4]),
            x.sum(axis=1, keepdims=True),
        ]
    )
    columns = np.hstack([features, known])
    solved = within.solve(theta, columns, costs)
    form = within.describe(theta, N, K + SHAPE.width)
    found = minimize(form, features, costs, known=known)
    there = ~solved.empty
    values = (costs * found.decisions).sum(axis=1), (costs * solved.decisions).sum(axis=1)
    np.testing.assert_allclose(values[0][there], values[1][there], atol=10 * tolerance(name))
    np.testing.assert_array_equal(found.empty, solved.empty)
    i = int(np.flatnonzero(there)[0])
    image = within.image(theta, columns[i], N)
    assert image.contains(solved.decisions[i][None], 1e-6)[0]
    assert costs[i] @ image.minimize(costs[i]) == pytest.approx(values[1][i], abs=1e-5)
    kept = np.isfinite(known[0])
    few = form.keep_known(kept, [f"side {i}" for i in np.flatnonzero(kept)])
    again = minimize(few, features, costs, known=known[:, kept])
    np.testing.assert_allclose(again.decisions[there], found.decisions[there], atol=1e-7)


@pytest.mark.parametrize(
    "name", ["minkowski-affine", "minkowski-index", "scaled-simplex", "facets"]
)
def test_one_matrix_serves_all_signals(name: str) -> None:
    model, theta, _, _ = drawn(name)
    assert model.describe(theta, N, K).fixed_matrix
    assert Constrained(model, SHAPE).describe(theta, N, K + SHAPE.width).fixed_matrix
    assert (
        not HYPOTHESES["affine-simplex-5"].describe(drawn("affine-simplex-5")[1], N, K).fixed_matrix
    )


class Ramp(fl.hypotheses.Hypothesis):
    """Two decisions between zero and a limit, whose difference has a limit too."""

    def layout(self, n: int, k: int) -> Layout:
        return Layout({"limits": (2, k)})

    def describe(self, theta: np.ndarray, n: int, k: int) -> RegionForm:
        limits = self.layout(n, k).unpack(theta)["limits"]
        change = np.eye(n - 1, n) - np.eye(n - 1, n, 1)
        A = np.vstack([np.eye(n), -np.eye(n), change, -change])
        sizes = np.repeat([n, n, 2 * (n - 1)], 1)
        b = np.vstack(
            [np.tile(limits[0], (sizes[0], 1)), np.zeros((n, k)), np.tile(limits[1], (sizes[2], 1))]
        )
        return RegionForm.of_rows(A, b.T)


def test_a_hypothesis_of_rows_alone() -> None:
    """With `layout` and `describe` a hypothesis predicts, ties, has images and known rows."""
    theta = np.array([2.0, 0.0, 0.5, 0.0])
    features = np.column_stack([np.ones(3), np.zeros(3)])
    costs = np.array([[-1.0, 0.5], [1.0, 1.0], [-1.0, 1.0]])
    solved = Ramp().solve(theta, features, costs)
    np.testing.assert_allclose(solved.decisions[:2], [[2.0, 1.5], [0.0, 0.0]])
    np.testing.assert_array_equal(Ramp().tied(theta, features, costs), [False, False, True])
    center = Ramp().predict(theta, features, costs, ties="center")
    np.testing.assert_allclose(center[2], [1.25, 0.75], atol=1e-6)
    image = Ramp().image(theta, features[0], 2)
    np.testing.assert_allclose(image.minimize(costs[0]), [2.0, 1.5])
    shape = KnownShape(np.zeros((0, 2)), np.array([[1.0, 1.0]]))
    known = np.array([[-np.inf, -np.inf, np.inf, np.inf, 1.0]] * 3)
    found = Constrained(Ramp(), shape).predict(theta, np.hstack([features, known]), costs)
    np.testing.assert_allclose(found[0], [0.75, 0.25])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_empty_regions_are_relaxed_in_the_order_of_the_labels() -> None:
    """x <= -1 (facet) and x >= 1 (bound): the facet is relaxed, the bound holds."""
    labels = [Row("facet", "above", 1.0), Row("bound", "below", 100.0)]
    form = RegionForm.of_rows(np.array([[1.0], [-1.0]]), np.array([[-1.0, -1.0]]), labels=labels)
    found = minimize(form, np.ones((1, 1)), np.array([[1.0]]))
    assert found.empty[0]
    np.testing.assert_allclose(found.decisions, [[1.0]])
    hard = RegionForm.of_rows(
        np.array([[1.0], [-1.0]]), np.array([[-1.0, -1.0]]), labels=[Row("known")] * 2
    )
    found = minimize(hard, np.ones((1, 1)), np.array([[1.0]]))
    assert found.empty[0]
    assert -1.0 <= found.decisions[0, 0] <= 1.0
