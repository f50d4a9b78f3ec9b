"""Models that go on learning: chunks equal the whole, drift is followed and told."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnWarning, UnsupportedError

CLOSE = 1e-9
COST = [0, 1, 2]
#: Of a stream, and of one fit: these do not choose other scales.
AUTO = fl.Minkowski("auto", scale="affine")
MOMENTS = {
    "auto": AUTO,
    "shared": fl.Minkowski.hypersimplices(3, scale="shared", offset=False),
    "scaled": fl.Scaled(fl.Simplex(3)),
    "policy": fl.Affine(fl.Simplex(1)),
}


def plant(count: int, capacity: list[float], rng: np.random.Generator, noise: float = 0.05):
    """Dispatch in the order of prices up to capacities; returns signals and decisions."""
    signals = rng.uniform(0.5, 2.0, (count, 4))
    left, order = 0.5 + 1.5 * signals[:, 3], np.argsort(signals[:, :3], axis=1)
    x = np.zeros((count, 3))
    for j in order.T:
        taken = np.minimum(left, np.asarray(capacity)[j])
        x[np.arange(count), j], left = taken, left - taken
    return signals, x + noise * rng.normal(size=x.shape)


BEFORE, LATER = [1.0, 1.5, 2.0], [2.0, 0.7, 1.2]


def pieces(count: int, *ends: int) -> list[slice]:
    edges = [0, *ends, count]
    return [slice(*pair) for pair in pairwise(edges)]


@pytest.mark.parametrize("hypothesis", MOMENTS.values(), ids=MOMENTS)
def test_chunks_equal_the_whole(hypothesis) -> None:
    ridge = 1e-2
    X, y = plant(400, BEFORE, np.random.default_rng(0))
    weights = np.random.default_rng(1).uniform(0.0, 3.0, 400)
    y[::7, 1] = np.nan
    y[5] = np.nan
    weights[11] = 0.0
    whole = fl.RegionRegressor(
        hypothesis, cost=COST, trainer=fl.trainers.Convex(ridge=ridge, sparsity=0.0)
    ).fit(X, y, sample_weight=weights)
    parts = fl.RegionRegressor(hypothesis, cost=COST, trainer=fl.trainers.Streaming(ridge=ridge))
    for rows in pieces(400, 60, 61, 200):
        parts.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    expected = whole.predict(X)
    np.testing.assert_allclose(
        parts.predict(X), expected, rtol=0, atol=CLOSE * np.abs(expected).max()
    )
    assert parts.result_.objective == pytest.approx(whole.result_.objective, rel=CLOSE)
    assert parts.result_.status == "optimal"
    assert parts.stream_.n_samples == 398


def test_scales_are_held_on_retained_rows_when_few_are_kept() -> None:
    rng = np.random.default_rng(2)
    X, y = plant(600, BEFORE, rng, noise=0.6)
    whole = fl.RegionRegressor(
        AUTO, cost=COST, trainer=fl.trainers.Convex(ridge=0.0, sparsity=0.0)
    ).fit(X, y)
    parts = fl.RegionRegressor(AUTO, cost=COST, trainer=fl.trainers.Streaming(retained=30))
    for rows in pieces(600, 100, 200, 300, 400, 500):
        parts.partial_fit(X[rows], y[rows])
        assert len(parts.stream_.state.rows) <= 30
    # Noise this large makes scales bind; the extremes that are kept are the rows that matter.
    scales = parts.hypothesis_.unclipped_scales(parts.theta_, X[:, [3]] ** [0, 1], 3)
    assert abs(scales.min()) < 1e-6
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-6)


def follow(hypothesis, forgetting: float, seed: int = 0) -> tuple[list[float], fl.RegionRegressor]:
    """Let a model follow a plant whose capacities change; return its losses on new samples."""
    rng = np.random.default_rng(seed)
    model = fl.RegionRegressor(
        hypothesis,
        cost=COST,
        trainer=fl.trainers.Streaming(forgetting=forgetting),
        random_state=0,
    )
    losses = []
    for step in range(18):
        capacity = BEFORE if step < 8 else LATER
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)
            model.partial_fit(*plant(100 if step else 300, capacity, rng))
        X, y = plant(400, capacity, rng)
        losses.append(float(((model.predict(X) - y) ** 2).sum(axis=1).mean()))
    return losses, model


def test_a_model_that_forgets_follows_the_plant() -> None:
    steady, _ = follow(AUTO, 1.0)
    followed, model = follow(AUTO, 0.995)
    assert steady[8] > 2.5 * steady[7]
    assert steady[17] > max(1.3 * steady[7], 2.0 * followed[17])
    assert followed[17] < 1.3 * followed[7]
    # Samples 1001 and later are of the other plant.
    assert 1000 < model.drift_.alarms[0] <= 1040
    assert model.result_.details["drift alarms"] == 1.0


def test_forgetting_is_weighting() -> None:
    X, y = plant(150, BEFORE, np.random.default_rng(3))
    parts = fl.RegionRegressor(AUTO, cost=COST, trainer=fl.trainers.Streaming(forgetting=0.97))
    for rows in pieces(150, 50, 90):
        parts.partial_fit(X[rows], y[rows])
    weighted = fl.RegionRegressor(
        AUTO, cost=COST, trainer=fl.trainers.Convex(ridge=0.0, sparsity=0.0)
    ).fit(X, y, sample_weight=0.97 ** np.arange(149.0, -1.0, -1.0))
    np.testing.assert_allclose(parts.predict(X), weighted.predict(X), atol=1e-8)


def test_drift_is_warned_of_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(4)
    model = fl.RegionRegressor(AUTO, cost=COST)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            model.partial_fit(*plant(200, BEFORE, rng))
    assert model.drift_.alarms == ()
    with pytest.warns(FeaslearnWarning, match="no longer fit: drift was found after 60"):
        model.partial_fit(*plant(200, LATER, rng))
    assert "no longer fit" in caplog.text
    assert any("no longer fit" in text for text in model.result_.warnings)
    quiet = fl.RegionRegressor(AUTO, cost=COST, trainer=fl.trainers.Streaming(drift=None))
    assert quiet.partial_fit(*plant(50, BEFORE, rng)).drift_ is None


@pytest.mark.parametrize(
    "hypothesis",
    [AUTO, fl.Minkowski("auto", scale="tents"), fl.Affine(fl.Box(3))],
    ids=["minkowski", "tents", "affine"],
)
def test_a_loaded_model_goes_on_as_if_it_had_not_been_saved(hypothesis, tmp_path: Path) -> None:
    X, y = plant(300, BEFORE, np.random.default_rng(5))
    model = fl.RegionRegressor(
        hypothesis, cost=COST, trainer=fl.trainers.Streaming(forgetting=0.99), random_state=0
    )
    model.partial_fit(X[:120], y[:120]).partial_fit(X[120:200], y[120:200])
    fl.save(model, tmp_path / "model.json")
    others = [fl.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[200:], y[200:])
    for other in others:
        other.partial_fit(X[200:], y[200:])
        np.testing.assert_array_equal(other.theta_, model.theta_)
        if isinstance(hypothesis, fl.Affine):
            assert other.drift_ is None
        else:
            assert other.drift_.evidence == model.drift_.evidence
        assert other.result_.details == model.result_.details


def test_fit_begins_and_partial_fit_goes_on() -> None:
    X, y = plant(200, BEFORE, np.random.default_rng(7))
    parts = fl.RegionRegressor(AUTO, cost=COST).partial_fit(X[:100], y[:100])
    parts.partial_fit(X[100:], y[100:])
    for trainer in ("auto", fl.trainers.Streaming()):
        model = fl.RegionRegressor(AUTO, cost=COST, trainer=trainer)
        model.fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
        np.testing.assert_array_equal(model.theta_, parts.theta_)
        model.fit(X[:100], y[:100])
        assert model.stream_ is None or model.stream_.n_samples == 100
    assert not hasattr(clone(parts), "theta_")


def test_columns_and_sizes_are_those_of_the_first_chunk() -> None:
    X, y = plant(100, BEFORE, np.random.default_rng(9))
    frame = pd.DataFrame(X, columns=["p0", "p1", "p2", "load"])
    model = fl.RegionRegressor(AUTO, cost=["p0", "p1", "p2"])
    model.partial_fit(frame[:50], y[:50])
    before = model.theta_.copy()
    with pytest.raises(DataError, match="unseen at fit time"):
        model.partial_fit(pd.DataFrame(np.ones((3, 5)), columns=list("abcde")), y[:3])
    with pytest.raises(DataError, match="same order"):
        model.partial_fit(frame[["load", "p0", "p1", "p2"]], y)
    with pytest.raises(DataError, match="expected"):
        model.partial_fit(frame[50:], y[50:, :2])
    with pytest.raises(DataError, match="every weight is zero"):
        model.partial_fit(frame[50:], y[50:], sample_weight=np.zeros(50))
    np.testing.assert_array_equal(model.theta_, before)
    with pytest.raises(DataError, match="nothing was observed"):
        model.partial_fit(frame[50:], np.full((50, 3), np.nan))
    unseen = np.where(np.arange(50)[:, None] < 1, y[50:], np.nan)
    model.partial_fit(frame[50:], unseen, sample_weight=np.arange(50) % 50)
    np.testing.assert_array_equal(model.theta_, before)
    model.partial_fit(frame[50:], y[50:])
    assert model.n_features_in_ == 4


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (fl.RegionRegressor(fl.Facets(), cost=COST), "Minkowski, Scaled and Affine"),
        (fl.RegionRegressor(cost=COST), "name one that can continue"),
        (
            fl.RegionRegressor(AUTO, cost=COST, loss="suboptimality"),
            "not the squared predictability",
        ),
        (
            fl.RegionRegressor(AUTO, cost=COST, known=fl.Known(bounds=(-9.0, 9.0))),
            "known",
        ),
    ],
    ids=["facets", "auto", "suboptimality", "known"],
)
def test_what_cannot_go_on_says_who_can(model: fl.RegionRegressor, message: str) -> None:
    X, y = plant(60, BEFORE, np.random.default_rng(11))
    with pytest.raises(UnsupportedError, match=message):
        model.partial_fit(X, y)
