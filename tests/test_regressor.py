"""RegionRegressor as scikit-learn sees it, with data of every kind, bad and borderline."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
import sklearn.exceptions
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import feaslearn as fl
from feaslearn.exceptions import (
    DataError,
    FeaslearnWarning,
    SetError,
    UnboundedSetError,
    UnsupportedError,
)

POWER = fl.datasets.make_power5(160, noise=0.05, random_state=3)
TRAIN, TEST = POWER[:100], POWER[100:]


def quick(hypothesis: object = None, **options: object) -> fl.RegionRegressor:
    """Return a model that trains in no time."""
    options = {
        "cost": POWER.cost,
        "trainer": fl.trainers.Annealing(max_iter=15, n_starts=2, ridge=0.1),
        "random_state": 0,
        **options,
    }
    return fl.RegionRegressor(hypothesis or fl.Affine(fl.Simplex(4)), **options)


@pytest.mark.filterwarnings("ignore::feaslearn.exceptions.FeaslearnWarning")
@parametrize_with_checks([fl.RegionRegressor()])
def test_scikit_learn_accepts_the_estimator(estimator: fl.RegionRegressor, check: object) -> None:
    check(estimator)


def test_no_cost_warns_and_is_the_linear_policy() -> None:
    policy = LinearRegression().fit(TRAIN.signals, TRAIN.decisions)
    for model in (fl.RegionRegressor(), fl.RegionRegressor(fl.Affine(fl.Simplex(9)))):
        with pytest.warns(FeaslearnWarning, match="no cost was given") as warned:
            model.fit(TRAIN.signals, TRAIN.decisions)
        assert warned[0].filename == __file__
        predicted = model.predict(TEST.signals)
        np.testing.assert_allclose(predicted, policy.predict(TEST.signals), rtol=1e-9, atol=1e-9)


def test_parameters_set_later_do_not_reach_into_the_fitted_model() -> None:
    model = quick().fit(TRAIN.signals, TRAIN.decisions)
    before = model.predict(TEST.signals)
    model.set_params(hypothesis__primitive__p=7, sense="max", cost=[2, 1, 0])
    np.testing.assert_array_equal(model.predict(TEST.signals), before)


def test_threads_may_predict_at_once() -> None:
    triangle = fl.Polytope([[1.0, 0], [0, 1], [-1, -2]], [0.0, 0, -2])
    model = quick(fl.Affine(triangle), trainer=fl.trainers.Annealing(2, n_starts=1, ridge=0.1))
    model.fit(TRAIN.signals, TRAIN.decisions)
    batches = [TEST.signals[i : i + 20] for i in range(0, 40, 5)]
    alone = [model.predict(batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(model.predict, batches * 3))
    for i, predicted in enumerate(together):
        np.testing.assert_array_equal(predicted, alone[i % len(batches)])


def test_costs_are_routed_through_cross_validation() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = quick(
            fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"), cost=None, trainer="auto"
        )
        model.set_fit_request(costs=True, sample_weight=True)
        model.set_score_request(costs=True, sample_weight=False)
        params = {"costs": TRAIN.cost_matrix, "sample_weight": np.ones(len(TRAIN))}
        scores = cross_val_score(model, TRAIN.signals, TRAIN.decisions, cv=2, params=params)
    half = TRAIN[50:]
    model.fit(half.signals, half.decisions, costs=half.cost_matrix)
    rest = TRAIN[:50]
    expected = model.score(rest.signals, rest.decisions, costs=rest.cost_matrix)
    assert scores[0] == pytest.approx(expected)


def test_regions_by_every_kind_of_row() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    names = list(POWER.names.signals)
    frame = pandas.DataFrame(TRAIN.signals, columns=names, index=[f"t{i}" for i in range(100)])
    decisions = pandas.DataFrame(TRAIN.decisions, columns=["a", "b", "c"], index=frame.index)
    model = quick().fit(frame, decisions)
    expected = model.region(frame.iloc[:1]).vertices()
    with pytest.warns(UserWarning, match="valid feature names"):
        given_array = model.region(TRAIN.signals[0])
    table = polars.DataFrame(TRAIN.signals[:1], schema=names, orient="row")
    for region in (model.region(frame.iloc[0]), model.region(table), given_array):
        np.testing.assert_array_equal(region.vertices(), expected)
        assert region.names == ("a", "b", "c")
    best = model.region(frame.iloc[0]).minimize(TRAIN.cost_matrix[0])
    np.testing.assert_allclose(best, model.predict(frame.iloc[:1]).iloc[0])
    with pytest.raises(DataError, match="feature names"):
        model.region(frame[names[::-1]].iloc[0])
    with pytest.raises(DataError, match="2 signals were given; give one"):
        model.region(frame.iloc[:2])


# Bad or borderline input: one clear error of ours, or a right answer.

SMALL = fl.datasets.make_power5(40, random_state=0)
X, Y = SMALL.signals, SMALL.decisions


def changed(table: np.ndarray, *changes: tuple[int, int, float]) -> np.ndarray:
    copy = np.array(table, dtype=float)
    for i, j, value in changes:
        copy[i, j] = value
    return copy


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"hypothesis": fl.Minkowski.box(3)}, UnsupportedError, "Annealing cannot train this"),
        ({"trainer": fl.trainers.Convex()}, UnsupportedError, "Convex cannot train this"),
        ({"hypothesis": fl.Affine(fl.Simplex(0))}, SetError, "p=0 is not an integer"),
        ({"hypothesis": fl.Affine(fl.Polytope([[1.0]], [0.0]))}, UnboundedSetError, "Polytope"),
    ],
)
def test_one_wrong_set_or_combination_keeps_its_class(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        quick(**options).fit(X, Y)
    with pytest.raises(DataError) as caught:
        quick(**{**options, "sense": "up"}).fit(changed(X, (0, 0, np.nan)), Y)
    assert str(caught.value).count("\n  - ") == 3
    assert message in str(caught.value) or message == "Polytope"


@pytest.mark.parametrize(
    ("signals", "decisions", "message"),
    [
        (X, Y * np.nan, "every value is NaN"),
        (X, changed(Y, *((i, 1, np.nan) for i in range(40))), "column 1 has no observed value"),
        (X, None, "requires y to be passed, but the target y is None"),
        (None, Y, "X: expected an array"),
        (X, scipy.sparse.csr_array(Y), "sparse matrix is not supported"),
    ],
)
def test_bad_data_is_a_data_error(signals: object, decisions: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick().fit(signals, decisions)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(40), "sample_weight is -1.0 in row 0"),
        (["heavy"] * 40, "sample_weight: 40 values are not numbers"),
    ],
)
def test_bad_weights_are_a_data_error(weights: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick().fit(X, Y, sample_weight=weights)
    fitted = quick().fit(X, Y)
    with pytest.raises(DataError, match=message):
        fitted.score(X, Y, weights)


def test_a_decision_observed_only_where_nothing_weighs() -> None:
    decisions = changed(Y, *((i, 1, np.nan) for i in range(20)))
    with pytest.raises(DataError, match="column 1 has no observed value in a row of positive"):
        quick().fit(X, decisions, sample_weight=np.arange(40) < 20)


def test_bad_input_of_a_fitted_model() -> None:
    fitted = quick().fit(X, Y)
    with pytest.raises(DataError, match="no rows"):
        fitted.predict(X[:0])
    with pytest.raises(DataError, match=r"y has shape \(40, 2\), expected \(40, 3\)"):
        fitted.score(X, Y[:, :2])
    with pytest.raises(DataError, match=r"costs have shape \(40, 2\), expected \(40, 3\)"):
        fitted.score(X, Y, costs=Y[:, :2])
    with pytest.raises(DataError, match="X has 3 features"):
        fitted.region([1.0, 2.0, 3.0])


# Borderline data: what is right is known.

SETS = [fl.Affine(fl.Simplex(3)), fl.Affine(fl.L2Ball(2)), fl.Affine(fl.L1Ball(3))]
EACH_SET = pytest.mark.parametrize("hypothesis", SETS, ids=repr)


def fitted(hypothesis: object, signals: object, decisions: object, **options: object) -> object:
    """Fit, with every warning of ours an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        estimator = quick(hypothesis, **options).fit(signals, decisions)
        assert np.isfinite(estimator.predict(signals)).all()
        assert np.isfinite(estimator.theta_).all()
    return estimator


def least_squares_loss(signals: np.ndarray, decisions: np.ndarray) -> float:
    features = np.column_stack([np.ones(len(signals)), signals])
    beta = np.linalg.lstsq(features, decisions, rcond=None)[0]
    return float(((decisions - features @ beta) ** 2).sum(axis=1).mean())


@EACH_SET
def test_zero_costs_leave_the_linear_policy_at_worst(hypothesis: object) -> None:
    signals = changed(X)
    signals[:, SMALL.cost] = 0.0
    estimator = fitted(hypothesis, signals, Y)
    bound = least_squares_loss(signals[:, 3:], Y)
    assert estimator.result_.objective <= bound * (1 + 1e-9)


@EACH_SET
def test_one_row_is_learned_by_heart(hypothesis: object) -> None:
    estimator = fitted(hypothesis, X[:1], Y[:1])
    np.testing.assert_allclose(estimator.predict(X[:1]), Y[:1], atol=1e-9)
    assert np.isfinite(estimator.predict(X)).all()
    assert "cannot determine them" in "".join(estimator.result_.warnings)


def test_one_row_when_the_hypothesis_is_chosen() -> None:
    estimator = fl.RegionRegressor(cost=SMALL.cost).fit(X[:1], Y[:1])
    np.testing.assert_allclose(estimator.predict(X[:1]), Y[:1], atol=1e-12)
    assert "selected from 10 samples on; these are 1" in "".join(estimator.result_.warnings)


@EACH_SET
def test_constant_signals_have_no_effect(hypothesis: object) -> None:
    constant = np.column_stack([X, np.full(40, 0.1), np.full(40, 1e9), np.zeros(40)])
    with_them = fitted(hypothesis, constant, Y)
    without = fitted(hypothesis, X, Y)
    assert with_them.result_.objective == pytest.approx(without.result_.objective, rel=0.5)
    elsewhere = constant + np.eye(11)[8] * 5.0 - np.eye(11)[9] * 1e9 + np.eye(11)[10]
    np.testing.assert_allclose(with_them.predict(elsewhere), with_them.predict(constant))


# Weights, prices, gaps, frames, units.

EIGHTY = fl.datasets.make_power5(80, noise=0.1, random_state=5)
SIGNALS = list(EIGHTY.names.signals)
PRICES = [SIGNALS[j] for j in EIGHTY.cost]
NEW = fl.datasets.make_power5(30, random_state=6).signals


def scaled(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"),
        **{"cost": EIGHTY.cost, "trainer": fl.trainers.Convex(0.0, 0.0), **options},
    )


def affine(**options: object) -> fl.RegionRegressor:
    trainer = fl.trainers.Annealing(max_iter=40, n_starts=2, ridge=0.1)
    options = {"cost": EIGHTY.cost, "trainer": trainer, "random_state": 0, **options}
    return fl.RegionRegressor(fl.Affine(fl.Simplex(4)), **options)


def policy(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(**options)


def facets(**options: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(fl.Facets(), **{"cost": EIGHTY.cost, "random_state": 0, **options})


KINDS = pytest.mark.parametrize("make", [scaled, affine, policy, facets])


@pytest.fixture(autouse=True)
def quiet() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        yield


@KINDS
@pytest.mark.parametrize("why", ["no weight", "nothing observed"])
def test_rows_that_do_not_count_are_as_removed_bit_for_bit(make: Any, why: str) -> None:
    kept, decisions = np.arange(len(EIGHTY)) % 5 > 0, EIGHTY.decisions.copy()
    decisions[~kept] = 1e9 if why == "no weight" else np.nan
    weights = kept.astype(float) if why == "no weight" else None
    with_them = make().fit(EIGHTY.signals, decisions, sample_weight=weights)
    without = make().fit(EIGHTY.signals[kept], decisions[kept])
    np.testing.assert_array_equal(with_them.theta_, without.theta_)
    assert with_them.result_.objective == without.result_.objective


@KINDS
def test_only_ratios_of_weights_matter(make: object) -> None:
    weights = np.random.default_rng(1).uniform(size=len(EIGHTY))
    first, *others = (
        make().fit(EIGHTY.signals, EIGHTY.decisions, sample_weight=weights * 2.0**unit).predict(NEW)
        for unit in (0, 40, -40, 300)
    )
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("make", [scaled, affine, facets])
def test_sense_max_is_min_of_the_negative(make: object) -> None:
    least = make().fit(EIGHTY.signals, EIGHTY.decisions)
    cost = fl.AffineCost(np.zeros(3), -np.eye(3, 8))
    most = make(cost=cost, sense="max").fit(EIGHTY.signals, EIGHTY.decisions)
    np.testing.assert_array_equal(most.theta_, least.theta_)
    np.testing.assert_array_equal(most.predict(NEW), least.predict(NEW))
    prices = np.random.default_rng(0).uniform(-1, 1, (30, 3))
    np.testing.assert_array_equal(
        most.predict(NEW, costs=prices), least.predict(NEW, costs=-prices)
    )


def test_what_if_prices() -> None:
    model = scaled().fit(EIGHTY.signals, EIGHTY.decisions)
    np.testing.assert_array_equal(model.predict(NEW, costs=NEW[:, EIGHTY.cost]), model.predict(NEW))
    turned = model.predict(NEW, costs=NEW[:, [2, 0, 1]])
    for signal, price, found in zip(NEW, NEW[:, [2, 0, 1]], turned, strict=True):
        np.testing.assert_allclose(model.region(signal).minimize(price), found, atol=1e-12)


def test_costs_at_fit_replace_those_of_the_signals() -> None:
    prices = np.random.default_rng(0).uniform(size=(len(EIGHTY), 3))
    signals = np.column_stack([prices, EIGHTY.signals[:, 3:]])
    expected = scaled().fit(signals, EIGHTY.decisions)
    model = scaled().fit(EIGHTY.signals, EIGHTY.decisions, costs=prices)
    np.testing.assert_array_equal(model.theta_, expected.theta_)


def test_a_model_fitted_with_costs_alone_asks_for_them() -> None:
    model = scaled(cost=None).fit(EIGHTY.signals, EIGHTY.decisions, costs=EIGHTY.cost_matrix)
    for use in (model.predict, lambda X: model.score(X, EIGHTY.decisions)):
        with pytest.raises(DataError, match="fitted with costs"):
            use(EIGHTY.signals)
    assert model.score(EIGHTY.signals, EIGHTY.decisions, costs=EIGHTY.cost_matrix) > 0.5


def frames(kind: str) -> tuple[object, object, object]:
    """Return signals, decisions and new signals as frames of one package."""
    names = ["plant a", "plant b", "plant c"]
    if kind == "polars":
        make = {"orient": "row"}
        return (
            pl.DataFrame(EIGHTY.signals, schema=SIGNALS, **make),
            pl.DataFrame(EIGHTY.decisions, schema=names, **make),
            pl.DataFrame(NEW, schema=SIGNALS, **make),
        )
    hours = pd.date_range("2030-01-01", periods=len(EIGHTY), freq="h")
    return (
        pd.DataFrame(EIGHTY.signals, columns=SIGNALS, index=hours),
        pd.DataFrame(EIGHTY.decisions, columns=names, index=hours),
        pd.DataFrame(NEW, columns=SIGNALS, index=[f"case {i}" for i in range(30)]),
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("cost", [PRICES, [0, 1, 2], ["cost_*"]], ids=["names", "places", "glob"])
def test_frames_in_and_out(kind: str, cost: list[object]) -> None:
    X, y, new = frames(kind)
    expected = scaled().fit(EIGHTY.signals, EIGHTY.decisions).predict(NEW)
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
    parts = [np.array(part) for part in (EIGHTY.signals, EIGHTY.decisions, EIGHTY.cost_matrix)]
    weights = np.arange(1.0, len(EIGHTY) + 1)
    copies = [part.copy() for part in (*parts, weights)]
    model = affine(sense="max").fit(parts[0], parts[1], costs=parts[2], sample_weight=weights)
    model.predict(parts[0], costs=parts[2])
    model.score(parts[0], parts[1])
    for part, copy in zip((*parts, weights), copies, strict=True):
        np.testing.assert_array_equal(part, copy)
