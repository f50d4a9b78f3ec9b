"""Forms of regions against closed forms and direct solves, for every kind of hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.known import KnownShape
from feaslearn.region import RegionForm, Row, minimize
from feaslearn.region.form import RELAX_FACET
from registry import SETS

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
    found = minimize(model.describe(theta, N, K), features, costs)
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
        labels = [Row("facet", f"row {i}", RELAX_FACET) for i in range(len(A))]
        return RegionForm.of_rows(A, b.T, labels=labels)


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
