"""RegionRegressor and the data it takes: weights, prices, gaps, frames, units."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnWarning

POWER = fl.datasets.make_power5(80, noise=0.1, random_state=5)
SIGNALS = list(POWER.names.signals)
PRICES = [SIGNALS[j] for j in POWER.cost]
NEW = fl.datasets.make_power5(30, random_state=6).signals


def scaled(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"),
        **{"cost": POWER.cost, "trainer": fl.trainers.Convex(0.0, 0.0), **options},
    )


def affine(**options: object) -> fl.RegionRegressor:
    trainer = fl.trainers.Annealing(max_iter=40, n_starts=2, ridge=0.1)
    options = {"cost": POWER.cost, "trainer": trainer, "random_state": 0, **options}
    return fl.RegionRegressor(fl.Affine(fl.Simplex(4)), **options)


def policy(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(**options)


def facets(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(fl.Facets(), **{"cost": POWER.cost, "random_state": 0, **options})


KINDS = pytest.mark.parametrize("make", [scaled, affine, policy, facets])


@pytest.fixture(autouse=True)
def quiet() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        yield


@KINDS
def test_no_weight_is_removal_bit_for_bit(make: object) -> None:
    weights = (np.arange(len(POWER)) % 3 > 0).astype(float)
    decisions = POWER.decisions.copy()
    decisions[weights == 0] = 1e9
    kept = weights > 0
    weighted = make().fit(POWER.signals, decisions, sample_weight=weights)
    removed = make().fit(POWER.signals[kept], POWER.decisions[kept])
    np.testing.assert_array_equal(weighted.theta_, removed.theta_)


@KINDS
def test_only_ratios_of_weights_matter(make: object) -> None:
    weights = np.random.default_rng(1).uniform(size=len(POWER))
    first, *others = (
        make().fit(POWER.signals, POWER.decisions, sample_weight=weights * 2.0**unit).predict(NEW)
        for unit in (0, 40, -40, 300)
    )
    for other in others:
        np.testing.assert_array_equal(other, first)


@KINDS
def test_rows_with_nothing_observed_do_not_count(make: object) -> None:
    decisions = POWER.decisions.copy()
    decisions[::5] = np.nan
    seen = ~np.isnan(decisions).all(axis=1)
    with_them = make().fit(POWER.signals, decisions)
    without = make().fit(POWER.signals[seen], decisions[seen])
    np.testing.assert_array_equal(with_them.theta_, without.theta_)
    assert with_them.result_.objective == without.result_.objective


@pytest.mark.parametrize("make", [scaled, affine, facets])
def test_sense_max_is_min_of_the_negative(make: object) -> None:
    least = make().fit(POWER.signals, POWER.decisions)
    cost = fl.AffineCost(np.zeros(3), -np.eye(3, 8))
    most = make(cost=cost, sense="max").fit(POWER.signals, POWER.decisions)
    np.testing.assert_array_equal(most.theta_, least.theta_)
    np.testing.assert_array_equal(most.predict(NEW), least.predict(NEW))
    prices = np.random.default_rng(0).uniform(-1, 1, (30, 3))
    np.testing.assert_array_equal(
        most.predict(NEW, costs=prices), least.predict(NEW, costs=-prices)
    )


def test_what_if_prices() -> None:
    model = scaled().fit(POWER.signals, POWER.decisions)
    np.testing.assert_array_equal(model.predict(NEW, costs=NEW[:, POWER.cost]), model.predict(NEW))
    turned = model.predict(NEW, costs=NEW[:, [2, 0, 1]])
    for signal, price, found in zip(NEW, NEW[:, [2, 0, 1]], turned, strict=True):
        np.testing.assert_allclose(model.region(signal).minimize(price), found, atol=1e-12)


def test_costs_at_fit_replace_those_of_the_signals() -> None:
    prices = np.random.default_rng(0).uniform(size=(len(POWER), 3))
    signals = np.column_stack([prices, POWER.signals[:, 3:]])
    expected = scaled().fit(signals, POWER.decisions)
    model = scaled().fit(POWER.signals, POWER.decisions, costs=prices)
    np.testing.assert_array_equal(model.theta_, expected.theta_)


def test_a_model_fitted_with_costs_alone_asks_for_them() -> None:
    model = scaled(cost=None).fit(POWER.signals, POWER.decisions, costs=POWER.cost_matrix)
    for use in (model.predict, lambda X: model.score(X, POWER.decisions)):
        with pytest.raises(DataError, match="fitted with costs"):
            use(POWER.signals)
    assert model.score(POWER.signals, POWER.decisions, costs=POWER.cost_matrix) > 0.5


def frames(kind: str) -> tuple[object, object, object]:
    """Return signals, decisions and new signals as frames of one package."""
    names = ["plant a", "plant b", "plant c"]
    if kind == "polars":
        make = {"orient": "row"}
        return (
            pl.DataFrame(POWER.signals, schema=SIGNALS, **make),
            pl.DataFrame(POWER.decisions, schema=names, **make),
            pl.DataFrame(NEW, schema=SIGNALS, **make),
        )
    hours = pd.date_range("2030-01-01", periods=len(POWER), freq="h")
    return (
        pd.DataFrame(POWER.signals, columns=SIGNALS, index=hours),
        pd.DataFrame(POWER.decisions, columns=names, index=hours),
        pd.DataFrame(NEW, columns=SIGNALS, index=[f"case {i}" for i in range(30)]),
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("cost", [PRICES, [0, 1, 2], ["cost_*"]], ids=["names", "places", "glob"])
def test_frames_in_and_out(kind: str, cost: list[object]) -> None:
    X, y, new = frames(kind)
    expected = scaled().fit(POWER.signals, POWER.decisions).predict(NEW)
    model = scaled(cost=cost).fit(X, y)
    predicted = model.predict(new)
    assert type(predicted) is type(y)
    assert list(predicted.columns) == ["plant a", "plant b", "plant c"]
    np.testing.assert_array_equal(predicted.to_numpy(), expected)
    if kind == "pandas":
        assert predicted.index.equals(new.index)
    assert list(model.feature_names_in_) == SIGNALS
    assert model.region(new[:1]).names == ("plant a", "plant b", "plant c")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_series_in_and_out(kind: str) -> None:
    X, y, new = frames(kind)
    series = y["plant b"]
    model = fl.RegionRegressor(
        fl.Minkowski.box(1), cost=[PRICES[1]], trainer=fl.trainers.Convex(0.0, 0.0)
    ).fit(X, series)
    predicted = model.predict(new)
    assert type(predicted) is type(series)
    assert predicted.name == "plant b"
    if kind == "pandas":
        assert predicted.index.equals(new.index)
    assert model.region(new[:1]).names == ("plant b",)
    model.fit(X, series.rename(None) if kind == "pandas" else series.alias(""))
    unnamed = model.predict(new)
    assert unnamed.name in (None, "")
    np.testing.assert_array_equal(unnamed.to_numpy(), predicted.to_numpy())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_names_are_compared(kind: str) -> None:
    X, y, new = frames(kind)
    model = scaled().fit(X, y)
    with pytest.raises(DataError, match="feature names should match"):
        model.predict(new[SIGNALS[::-1]])
    with pytest.raises(DataError, match="feature names should match"):
        model.predict(new[SIGNALS[:-1]])
    with pytest.raises(DataError, match="another order"):
        model.score(X, y[["plant b", "plant a", "plant c"]])
    with pytest.raises(DataError, match=r"costs: the columns 'plant c'.*another order"):
        model.predict(X, costs=y[["plant c", "plant b", "plant a"]])
    with pytest.raises(DataError, match=r"costs: the columns 'plant c'.*another order"):
        scaled().fit(X, y, costs=y[["plant c", "plant b", "plant a"]])


def test_nothing_that_was_passed_is_changed() -> None:
    parts = [np.array(part) for part in (POWER.signals, POWER.decisions, POWER.cost_matrix)]
    weights = np.arange(1.0, len(POWER) + 1)
    copies = [part.copy() for part in (*parts, weights)]
    model = affine(sense="max").fit(parts[0], parts[1], costs=parts[2], sample_weight=weights)
    model.predict(parts[0], costs=parts[2])
    model.score(parts[0], parts[1])
    for part, copy in zip((*parts, weights), copies, strict=True):
        np.testing.assert_array_equal(part, copy)
