"""Clusters of decisions as vertices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.baselines import NearestVertices
from feaslearn.exceptions import DataError, NotFittedError


def ball(n_samples: int = 200, noise: float = 0.0) -> fl.Decisions:
    return fl.datasets.make_l1_ball(n_samples, noise=noise, random_state=0)


def test_enough_vertices_predict_exactly() -> None:
    data = ball()
    model = NearestVertices(5, data.cost, random_state=0).fit(
        data.signals[:100], data.decisions[:100]
    )
    assert model.vertices_.shape == (5, 5)
    report = fl.evaluate(model, data[100:], losses="all")
    assert report.returned.mean < 1e-20
    assert report.predictability.mean < 1e-20
    assert report.suboptimality.mean < 1e-20
    assert report.true_predictability.mean < 1e-15


def test_the_region_is_the_hull_of_the_vertices() -> None:
    data = ball(noise=0.2)
    model = NearestVertices(4, data.cost, random_state=0).fit(data.signals, data.decisions)
    model_losses = model.sample_losses(fl.Predictability(), data.signals, data.decisions)
    # Without ties the hull's minimiser is the vertex that is returned.
    missed = ((model.predict(data.signals) - data.decisions) ** 2).sum(axis=1)
    np.testing.assert_allclose(model_losses, missed)
    assert 0.3 < missed.mean() < 0.8


def test_unobserved_decisions_weights_and_maxima() -> None:
    signals = np.array([[1.0], [1.0], [-1.0], [-1.0], [5.0]])
    decisions = np.array([0.0, 0.0, 4.0, 4.0, 100.0])
    weights = [1.0, 1.0, 1.0, 1.0, 0.0]
    model = NearestVertices(2, [0], random_state=0).fit(signals, decisions, weights)
    assert model.predict(signals[:4]).tolist() == [0.0, 0.0, 4.0, 4.0]
    model = clone(model).set_params(sense="max").fit(signals, decisions, weights)
    assert model.predict(signals[:4]).tolist() == [4.0, 4.0, 0.0, 0.0]
    decisions[0] = np.nan
    model = clone(model).set_params(sense="min").fit(signals[:4], decisions[:4])
    assert model.predict([[1.0]], costs=[[-1.0]]).tolist() == [4.0]


def test_unobserved_decisions_are_filled_from_their_cluster() -> None:
    prices = np.array([[1.0, 1.0], [-1.0, -1.0]] * 4)
    decisions = np.array([[0.0, 0.0], [4.0, 4.0]] * 4)
    hidden = decisions.copy()
    hidden[0, 0] = hidden[1, 1] = hidden[2, 0] = np.nan
    model = NearestVertices(2, [0, 1], random_state=0).fit(prices, hidden)
    np.testing.assert_allclose(model.predict(prices), decisions, atol=1e-6)


def test_everything_wrong_is_named() -> None:
    with pytest.raises(DataError) as told:
        NearestVertices(0, [3], sense="up").fit([[1.0]], [[np.nan, 1.0]])
    for part in ("n_vertices=0", "sense='up'", "columns [0]", "column 3 is not among"):
        assert part in str(told.value)
    with pytest.raises(NotFittedError):
        NearestVertices(2, [0]).predict([[1.0]])
    model = NearestVertices(1, [0]).fit([[1.0]], [1.0])
    with pytest.raises(DataError, match=r"costs have shape \(1, 2\)"):
        model.predict([[1.0]], costs=[[1.0, 2.0]])
