"""Blends: weighted means of predictions, which are optimal in a Minkowski sum."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers import Blending

Array = np.ndarray


def box_rows(low: float, high: float) -> FacetRows:
    """A square, empty where the signal is above one: ``x0 <= 1 - s``, x0 >= 0."""
    lower, upper = (np.column_stack([np.full(2, end), np.zeros(2)]) for end in (low, high))
    nothing = np.zeros((0, 2))
    limit = np.array([[low + 1.0, -1.0]])
    return FacetRows(nothing, nothing, lower, upper, np.array([[1.0, 0.0]]), limit)


def blend() -> tuple[fl.Blend, Array]:
    facets = fl.Facets(max_facets=1)
    hypothesis = fl.Blend([facets, fl.Affine(fl.Simplex(3)), facets])
    corners = np.zeros((2, 2, 3))
    corners[0] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    blocks = {
        "weights": np.array([0.25, 0.75, 0.0]),
        "member_0": facets.theta_of_rows(box_rows(0.0, 2.0)),
        "member_1": corners.ravel(),
        "member_2": facets.theta_of_rows(box_rows(0.0, 1.0)),
    }
    return hypothesis, hypothesis.layout(2, 2).pack(blocks)


def test_predictions_are_weighted_means_and_minimise_over_the_sum() -> None:
    hypothesis, theta = blend()
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(15), random.uniform(-1.0, 0.9, 15)])
    costs = random.normal(size=(15, 2))
    decisions, empty, *_ = hypothesis.solve(theta, features, costs)
    assert not empty.any()
    mean = sum(
        w * member.predict(t, features, costs) for w, member, t in hypothesis.parts(theta, 2, 2)
    )
    np.testing.assert_allclose(decisions, mean)
    for phi, c, x in zip(features, costs, decisions, strict=True):
        image = hypothesis.image(theta, phi, 2)
        assert c @ image.minimize(c) == pytest.approx(c @ x, abs=1e-7)
        assert image.contains(x[None])[0]


def test_an_empty_member_leaves_its_weight_to_the_others() -> None:
    hypothesis, theta = blend()
    features, costs = np.array([[1.0, 2.0], [1.0, 0.0]]), np.array([[-1.0, -2.0]] * 2)
    decisions, empty, *_ = hypothesis.solve(theta, features, costs)
    np.testing.assert_array_equal(empty, [True, False])
    np.testing.assert_allclose(decisions, [[0.0, 1.0], [0.25, 1.25]])
    np.testing.assert_allclose(hypothesis.image(theta, features[0], 2).minimize(costs[0]), [0, 1])


def test_ties_are_those_of_the_members() -> None:
    hypothesis, theta = blend()
    features, costs = (
        np.array([[1.0, 0.0]] * 3),
        np.array([[-1.0, -2.0], [0.0, -1.0], [-1.0, -1.0]]),
    )
    np.testing.assert_array_equal(hypothesis.tied(theta, features, costs), [False, True, True])
    center = hypothesis.predict(theta, features, costs, ties="center")
    np.testing.assert_allclose(center[1], [0.125, 1.25], atol=1e-8)
    np.testing.assert_allclose(center[2], [0.625, 0.875], atol=1e-8)


def test_losses_of_a_blend() -> None:
    data = fl.datasets.make_power5(40, noise=0.05, random_state=1)
    choose = Blending(choose=lambda _: fl.trainers.FacetLearning())
    hypothesis = fl.Blend([fl.Facets(max_facets=2)] * 2)
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=choose, random_state=0)
    model.fit(data.signals, data.decisions)
    few = data[:8]
    squares = ((model.predict(few.signals) - few.decisions) ** 2).sum(axis=1)
    found = model.sample_losses(fl.Predictability(), few.signals, few.decisions)
    np.testing.assert_allclose(found, squares, atol=1e-7)
    features = model.features_.transform(few.signals)
    sub = model.sample_losses(fl.Suboptimality(), few.signals, few.decisions)
    for i, (phi, c, x) in enumerate(zip(features, few.cost_matrix, few.decisions, strict=True)):
        image = model.hypothesis_.image(model.theta_, phi, 3)
        gap = max(c @ x - c @ image.minimize(c), 0.0) / np.linalg.norm(c)
        assert sub[i] == pytest.approx(image.distance(x) ** 2 + gap**2, abs=1e-6)
    told = fl.evaluate(model, few, losses="all")
    assert told.predictability.mean == pytest.approx(found.mean())
    assert told.suboptimality.mean == pytest.approx(sub.mean(), abs=1e-9)
