"""What hypotheses answer in closed form is what minimising over the rows they describe gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.hypotheses import Hypothesis, Layout
from feaslearn.region import RegionForm, minimize
from feaslearn.tolerances import ACCEPT_TOL

K, COUNT = 3, 20


class Budget(Hypothesis):
    """Decisions up to limits within a budget: rows alone, all else is the default."""

    def layout(self, n: int, k: int) -> Layout:
        return Layout({"limits": (n,), "budget": (k,)})

    def describe(self, theta: Any, n: int, k: int) -> RegionForm:
        blocks = self.layout(n, k).unpack(theta)
        rows = np.vstack([-np.eye(n), np.eye(n), np.ones(n)])
        right = np.zeros((k, len(rows)))
        right[0, n : 2 * n] = blocks["limits"]
        right[:, 2 * n] = blocks["budget"]
        return RegionForm.of_rows(rows, right)


@pytest.mark.parametrize(
    ("hypothesis", "n"),
    [
        (Budget(), 2),
        (fl.Affine(fl.Simplex(4)), 2),
        (fl.Affine(fl.L2Ball(2)), 2),
        (fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), 2),
        (fl.Minkowski.box(2), 2),
        (fl.Minkowski.pairs(3), 3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("ties", ["first", "center"])
def test_decisions_ties_and_images(hypothesis: Hypothesis, n: int, ties: Any) -> None:
    rng = np.random.default_rng(0)
    layout = hypothesis.layout(n, K)
    theta = np.abs(rng.normal(size=layout.size))
    features = np.column_stack([np.ones(COUNT), rng.uniform(size=(COUNT, K - 1))])
    costs = np.vstack([np.zeros(n), rng.integers(-2, 3, (9, n)), rng.normal(size=(10, n))])
    form = hypothesis.describe(theta, n, K)
    assert (form.n, form.n_features) == (n, K)
    assert sum(cone.size for cone in form.cones) == form.X.shape[0] == len(form.labels)
    np.testing.assert_array_equal(layout.pack(layout.unpack(theta)), theta)
    assert repr(clone(hypothesis)) == repr(hypothesis)

    expected = minimize(form, features, costs)
    found = hypothesis.solve(theta, features, costs, ties)
    tied = hypothesis.tied(theta, features, costs)
    size = max(1.0, float(np.abs(expected.decisions).max()))
    assert not expected.empty.any()
    assert not found.empty.any()
    gaps = ((found.decisions - expected.decisions) * costs).sum(axis=1)
    assert np.abs(gaps).max() <= size * ACCEPT_TOL
    for i, cost in enumerate(costs):
        image = hypothesis.image(theta, features[i], n)
        assert image.distance(found.decisions[i]) <= size * ACCEPT_TOL
        apart = np.abs(image.optimal_face(cost).center() - expected.decisions[i]).max()
        assert tied[i] or apart <= 10.0 * size * ACCEPT_TOL
    assert tied[0]
