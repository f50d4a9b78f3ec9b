"""How good a model is on a data set, and the score made of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError
from feaslearn.metrics import pooled_r2
from feaslearn.report.comparison import compare
from feaslearn.report.samples import fitting_samples
from registry import fit_to

POWER = fl.datasets.make_power5(140, noise=0.1, random_state=0)
TRAIN, TEST = POWER[:100], POWER[100:]
SUM = fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant")


def scaled(data: fl.Decisions) -> fl.RegionRegressor:
    return fit_to(data, SUM)


def by_hand(values: np.ndarray) -> tuple[float, float]:
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, (variance / len(values)) ** 0.5


def test_mean_and_standard_error_of_the_returned_decisions() -> None:
    model = scaled(TRAIN)
    report = fl.evaluate(model, TEST)
    errors = model.predict(TEST.signals) - TEST.decisions
    assert report.returned == pytest.approx(by_hand((errors**2).sum(axis=1)))
    assert report.n_samples == len(TEST)
    assert report.mae == pytest.approx(np.abs(errors).mean())
    assert report.r2 == pytest.approx(model.score(TEST.signals, TEST.decisions))
    assert f"{'R²':<26}{report.r2:>12.4g}" in str(report)
    one = fl.evaluate(model, TEST[:1])
    assert one.r2 is None
    assert one.mae is not None


def test_costs_are_those_of_the_data_where_the_model_has_none() -> None:
    costs = TRAIN.cost_matrix
    alone = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), random_state=0)
    alone.fit(TRAIN.signals, TRAIN.decisions, costs=costs)
    found = fl.evaluate(alone, TEST)
    expected = alone.predict(TEST.signals, costs=TEST.cost_matrix) - TEST.decisions
    assert found.returned.mean == pytest.approx((expected**2).sum(axis=1).mean())


def test_models_are_found_inside_pipelines_and_searches() -> None:
    expected = fl.evaluate(scaled(TRAIN), TEST)
    region = fl.RegionRegressor(SUM, cost=TRAIN.cost, random_state=0)
    twice = FunctionTransformer(lambda X: 2.0 * X)
    for wrapped in (
        make_pipeline(twice, region),
        GridSearchCV(region, {"sense": ["min", "max"]}, cv=3),
        GridSearchCV(make_pipeline(twice, region), {"regionregressor__sense": ["min"]}, cv=3),
        make_pipeline(region),
    ):
        report = fl.evaluate(wrapped.fit(TRAIN.signals, TRAIN.decisions), TEST)
        assert report.returned == pytest.approx(expected.returned, rel=1e-6)
    linear = make_pipeline(StandardScaler(), LinearRegression())
    assert fl.evaluate(linear.fit(TRAIN.signals, TRAIN.decisions), TEST).r2 > 0.0


def test_what_was_not_observed_does_not_count() -> None:
    model = scaled(TRAIN)
    decisions = TEST.decisions.copy()
    decisions[::2, 0] = np.nan
    decisions[:5] = np.nan
    data = fl.Decisions.from_arrays(TEST.signals, decisions, TEST.cost)
    report = fl.evaluate(model, data)
    residual = np.nan_to_num(model.predict(TEST.signals) - decisions)[5:]
    assert report.returned == pytest.approx(by_hand((residual**2).sum(axis=1)))
    score = fl.metrics.neg_returned_loss(model, TEST.signals, decisions)
    assert score == pytest.approx(-report.returned.mean)


def test_the_score_in_scikit_learn() -> None:
    score = fl.metrics.neg_returned_loss
    model = fl.RegionRegressor(SUM, cost=TRAIN.cost, random_state=0)
    scores = cross_val_score(model, TRAIN.signals, TRAIN.decisions, cv=4, scoring=score)
    assert (scores < 0.0).all()
    half = model.fit(TRAIN.signals[25:], TRAIN.decisions[25:])
    assert scores[0] == pytest.approx(score(half, TRAIN.signals[:25], TRAIN.decisions[:25]))
    assert scores[0] == pytest.approx(-fl.evaluate(half, TRAIN[:25]).returned.mean)
    search = GridSearchCV(
        model, {"hypothesis": [SUM, fl.Minkowski.box(3)]}, scoring=score, cv=4
    ).fit(TRAIN.signals, TRAIN.decisions)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(scores.mean())


def test_bad_input() -> None:
    model = scaled(TRAIN)
    with pytest.raises(DataError, match="evaluate needs Decisions, not ndarray"):
        fl.evaluate(model, TEST.signals)
    one = LinearRegression().fit(TRAIN.signals, TRAIN.decisions[:, 0])
    with pytest.raises(DataError, match=r"predicts shape \(40,\), but the decisions have"):
        fl.evaluate(one, TEST)
    for blank in (fl.RegionRegressor(cost=TEST.cost), fl.RegionRegressor()):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            fl.evaluate(blank, TEST)


@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_r2_is_that_of_scikit_learn(weighted: bool) -> None:
    random = np.random.default_rng(0)
    observed, predicted = random.normal(size=(2, 20, 3)) * [1.0, 10.0, 0.1]
    weights = random.uniform(size=20) if weighted else None
    constant = np.array(observed)
    constant[:, 1] = 4.0
    for table in (observed, constant, np.full_like(observed, 2.0), observed[:, :1]):
        other = predicted[:, : table.shape[1]]
        expected = r2_score(table, other, multioutput="variance_weighted", sample_weight=weights)
        assert pooled_r2(table, other, weights) == pytest.approx(expected)
    assert pooled_r2(constant, constant) == 1.0
    ones, half = np.ones((4, 2)), np.tile([1.0, 2.0], (4, 1))
    expected = r2_score(ones, half, multioutput="variance_weighted")
    assert pooled_r2(ones, half) == expected == 0.5


def test_the_best_simpler_predictor_is_not_behind_boosting_with_defaults() -> None:
    """Once, a regressor of scikit-learn with defaults was better than the one named best."""
    data = fl.datasets.make_power5(400, line_capacity=1.4, random_state=1)
    train, test = data[:300], data[300:]
    model = fit_to(train, fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"))
    rows, others = (fitting_samples(model, each, "row {}".format, "") for each in (test, train))
    best = compare(rows, others, None).best_other
    boosting = MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0))
    predicted = boosting.fit(train.signals, train.decisions).predict(test.signals)
    assert best is not None
    assert best.r2 >= pooled_r2(test.decisions, predicted) - 1e-9
