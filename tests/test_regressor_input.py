"""RegionRegressor and bad or borderline input: one clear error of ours, or a right answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import feaslearn as fl
from feaslearn.exceptions import (
    DataError,
    SetError,
    UnboundedSetError,
    UnsupportedError,
)

POWER = fl.datasets.make_power5(40, random_state=0)
X, Y = POWER.signals, POWER.decisions
FEW = fl.trainers.Annealing(max_iter=10, n_starts=2, ridge=0.1)


def model(hypothesis: object = None, **options: object) -> fl.RegionRegressor:
    options = {"cost": POWER.cost, "trainer": FEW, "random_state": 0, **options}
    return fl.RegionRegressor(hypothesis or fl.Affine(fl.Simplex(3)), **options)


def changed(table: np.ndarray, *changes: tuple[int, int, float]) -> np.ndarray:
    copy = np.array(table, dtype=float)
    for i, j, value in changes:
        copy[i, j] = value
    return copy


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"hypothesis": fl.Minkowski.box(3)},
            UnsupportedError,
            "Annealing cannot train this",
        ),
        ({"trainer": fl.trainers.Convex()}, UnsupportedError, "Convex cannot train this"),
        ({"hypothesis": fl.Affine(fl.Simplex(0))}, SetError, "p=0 is not an integer"),
        ({"hypothesis": fl.Affine(fl.Polytope([[1.0]], [0.0]))}, UnboundedSetError, "Polytope"),
    ],
)
def test_one_wrong_set_or_combination_keeps_its_class(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        model(**options).fit(X, Y)
    with pytest.raises(DataError) as caught:
        model(**{**options, "sense": "up"}).fit(changed(X, (0, 0, np.nan)), Y)
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
        model().fit(signals, decisions)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(40), "sample_weight is -1.0 in row 0"),
        (["heavy"] * 40, "sample_weight: 40 values are not numbers"),
    ],
)
def test_bad_weights_are_a_data_error(weights: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        model().fit(X, Y, sample_weight=weights)
    fitted = model().fit(X, Y)
    with pytest.raises(DataError, match=message):
        fitted.score(X, Y, weights)


def test_a_decision_observed_only_where_nothing_weighs() -> None:
    decisions = changed(Y, *((i, 1, np.nan) for i in range(20)))
    with pytest.raises(DataError, match="column 1 has no observed value in a row of positive"):
        model().fit(X, decisions, sample_weight=np.arange(40) < 20)


def test_bad_input_of_a_fitted_model() -> None:
    fitted = model().fit(X, Y)
    with pytest.raises(DataError, match="no rows"):
        fitted.predict(X[:0])
    with pytest.raises(DataError, match=r"y has shape \(40, 2\), expected \(40, 3\)"):
        fitted.score(X, Y[:, :2])
    with pytest.raises(DataError, match=r"costs have shape \(40, 2\), expected \(40, 3\)"):
        fitted.score(X, Y, costs=Y[:, :2])
    with pytest.raises(DataError, match="X has 3 features"):
        fitted.region([1.0, 2.0, 3.0])


# Borderline data: what is right is known.

SETS = [
    fl.Affine(fl.Simplex(3)),
    fl.Affine(fl.L2Ball(2)),
    fl.Affine(fl.L1Ball(3)),
]
EACH_SET = pytest.mark.parametrize("hypothesis", SETS, ids=repr)


def fitted(hypothesis: object, signals: object, decisions: object, **options: object) -> object:
    """Fit, with every warning of ours an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        estimator = model(hypothesis, **options).fit(signals, decisions)
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
    signals[:, POWER.cost] = 0.0
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
    estimator = fl.RegionRegressor(cost=POWER.cost).fit(X[:1], Y[:1])
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
