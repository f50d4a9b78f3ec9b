"""The losses of a model on a data set, and the scores made of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError, UnsupportedError
from feaslearn.metrics import pooled_r2

POWER = fl.datasets.make_power5(140, noise=0.1, random_state=0)
TRAIN, TEST = POWER[:100], POWER[100:]
NORMS = [("l2", True), ("l2", False), ("l1", True), ("linf", True)]


def scaled(data: fl.Decisions, **options: object) -> fl.RegionRegressor:
    n = data.decisions.shape[1]
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(n))], scale="constant"), **{"cost": data.cost, **options}
    )
    return model.fit(data.signals, data.decisions)


def length(rows: np.ndarray, norm: str, squared: bool) -> np.ndarray:
    lengths = np.linalg.norm(rows, ord={"l2": 2, "l1": 1, "linf": np.inf}[norm], axis=1)
    return lengths**2 if norm == "l2" and squared else lengths


def by_hand(values: np.ndarray) -> tuple[float, float]:
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, (variance / len(values)) ** 0.5


@pytest.mark.parametrize(("norm", "squared"), NORMS)
def test_mean_and_standard_error_of_the_returned_decisions(norm: str, squared: bool) -> None:
    model = scaled(TRAIN)
    report = fl.evaluate(model, TEST, norm=norm, squared=squared)
    losses = length(model.predict(TEST.signals) - TEST.decisions, norm, squared)
    assert report.returned == pytest.approx(by_hand(losses))
    assert report.n_samples == len(TEST)
    assert report.norm == ("squared l2" if squared and norm == "l2" else norm)


def test_by_default_no_program_is_solved_for_each_sample() -> None:
    decisions = TEST.decisions.copy()
    decisions[3, 1] = np.nan
    data = fl.Decisions.from_arrays(TEST.signals, decisions, TEST.cost, forward=TEST.forward)
    model = scaled(TRAIN)
    report = fl.evaluate(model, data)
    complete = fl.evaluate(model, data)
    assert report.predictability == complete.predictability
    assert report.suboptimality is report.true_suboptimality is report.true_predictability is None
    assert None not in (complete.suboptimality, complete.true_suboptimality)
    errors = np.abs(model.predict(TEST.signals) - decisions)
    assert report.mae == complete.mae == pytest.approx(np.nanmean(errors))
    assert report.r2 == complete.r2 == pytest.approx(model.score(TEST.signals, decisions))
    assert f"{'R²':<26}{report.r2:>12.4g}" in str(report)
    assert "suboptimality" not in str(report)
    one = fl.evaluate(model, TEST[:1])
    assert one.r2 is None
    assert one.mae is not None


@pytest.mark.parametrize(("norm", "squared"), NORMS)
@pytest.mark.parametrize("normalize_cost", [True, False])
def test_losses_under_the_learned_region(norm: str, squared: bool, normalize_cost: bool) -> None:
    model, data = scaled(TRAIN), TEST[:12]
    report = fl.evaluate(
        model, data, norm=norm, squared=squared, normalize_cost=normalize_cost, losses="all"
    )
    near, cheap = [], []
    for s, x, c in zip(data.signals, data.decisions, data.cost_matrix, strict=True):
        region = model.region(s)
        unit = c / np.linalg.norm(c) if normalize_cost else c
        near.append([region.optimal_face(c).distance(x, norm)])
        excess = unit @ x + region.support(-unit)
        cheap.append([region.distance(x, norm), max(excess, 0.0)])
    near, cheap = (length(np.array(rows), norm, squared) for rows in (near, cheap))
    assert report.predictability == pytest.approx(by_hand(near), rel=1e-6, abs=1e-9)
    assert report.suboptimality == pytest.approx(by_hand(cheap), rel=1e-6, abs=1e-9)


DATA_SETS = {
    "power5": lambda **options: fl.datasets.make_power5(30, **options),
    "switch": lambda **options: fl.datasets.make_switch(30, **options),
    "l1_ball": lambda **options: fl.datasets.make_l1_ball(30, n=3, **options),
}
EACH_DATA_SET = pytest.mark.parametrize("name", DATA_SETS)


@EACH_DATA_SET
@pytest.mark.parametrize(("norm", "squared"), NORMS)
def test_true_losses_are_those_of_the_predictions(name: str, norm: str, squared: bool) -> None:
    data = DATA_SETS[name](random_state=1)
    model = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    report = fl.evaluate(
        model, data, norm=norm, squared=squared, normalize_cost=False, losses="all"
    )
    predicted, forward = model.predict(data.signals), data.forward
    # The optima are unique, so the distance to the optimal face is that to the optimum.
    optima = forward.solve(data.signals, data.cost_matrix)
    near = length(predicted - optima, norm, squared)
    assert report.true_predictability == pytest.approx(by_hand(near), rel=1e-6)
    infeasible = forward.distance_to_feasible(predicted, data.signals, norm=norm)
    excess = np.maximum(((predicted - optima) * data.cost_matrix).sum(axis=1), 0.0)
    cheap = length(np.column_stack([infeasible, excess]), norm, squared)
    assert report.true_suboptimality == pytest.approx(by_hand(cheap), rel=1e-6)
    assert report.true_suboptimality.mean > 0.0
    assert report.predictability is None
    assert report.suboptimality is None


def test_maximisers_are_judged_as_maximisers() -> None:
    data = fl.datasets.make_switch(40, random_state=0)
    profits = fl.AffineCost([0.0, -1.0], [[-1.0], [1.0]])
    same = fl.Decisions.from_arrays(data.signals, data.decisions, profits, forward=data.forward)
    np.testing.assert_allclose(same.cost_matrix, -data.cost_matrix)
    least = scaled(data)
    most = scaled(same, sense="max")
    np.testing.assert_array_equal(most.theta_, least.theta_)
    expected = fl.evaluate(least, data).table
    assert fl.evaluate(most, same).table == pytest.approx(expected)
    policy = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    expected = fl.evaluate(policy, data).table
    found = fl.evaluate(policy, same, sense="max").table
    assert found == pytest.approx(expected, nan_ok=True)
    wrong = fl.evaluate(policy, same)
    assert wrong.true_suboptimality.mean != pytest.approx(expected["true suboptimality"])


def test_regions_are_found_inside_pipelines_and_searches() -> None:
    plain = scaled(TRAIN)
    expected = fl.evaluate(plain, TEST)
    region = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"), cost=TRAIN.cost
    )
    twice = FunctionTransformer(lambda X: 2.0 * X)
    for wrapped in (
        make_pipeline(twice, region),
        GridSearchCV(region, {"sense": ["min", "max"]}, cv=3),
        GridSearchCV(make_pipeline(twice, region), {"regionregressor__sense": ["min"]}, cv=3),
        make_pipeline(region),
    ):
        report = fl.evaluate(wrapped.fit(TRAIN.signals, TRAIN.decisions), TEST)
        assert report.table == pytest.approx(expected.table)
        for score in (fl.metrics.neg_predictability, fl.metrics.neg_suboptimality):
            assert score(wrapped, TEST.signals, TEST.decisions) == pytest.approx(
                score(plain, TEST.signals, TEST.decisions)
            )
    linear = make_pipeline(StandardScaler(), LinearRegression())
    assert fl.evaluate(linear.fit(TRAIN.signals, TRAIN.decisions), TEST).predictability is None


def test_what_was_not_observed_does_not_count() -> None:
    model = scaled(TRAIN)
    decisions = TEST.decisions.copy()
    decisions[::2, 0] = np.nan
    decisions[:5] = np.nan
    data = fl.Decisions.from_arrays(TEST.signals, decisions, TEST.cost, forward=TEST.forward)
    report = fl.evaluate(model, data)
    residual = np.nan_to_num(model.predict(TEST.signals) - decisions)[5:]
    assert report.returned == pytest.approx(by_hand((residual**2).sum(axis=1)))
    assert report.predictability == pytest.approx(report.returned)
    complete = fl.evaluate(model, TEST)
    assert report.true_predictability == complete.true_predictability
    for score, loss in (
        (fl.metrics.neg_returned_loss, report.returned),
        (fl.metrics.neg_predictability, report.predictability),
        (fl.metrics.neg_suboptimality, report.suboptimality),
    ):
        assert score(model, TEST.signals, decisions) == pytest.approx(-loss.mean)


@pytest.mark.parametrize("name", ["neg_predictability", "neg_suboptimality", "neg_returned_loss"])
def test_scores_in_scikit_learn(name: str) -> None:
    score = getattr(fl.metrics, name)
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"), cost=TRAIN.cost
    )
    scores = cross_val_score(model, TRAIN.signals, TRAIN.decisions, cv=4, scoring=score)
    assert (scores < 0.0).all()
    half = model.fit(TRAIN.signals[25:], TRAIN.decisions[25:])
    assert scores[0] == pytest.approx(score(half, TRAIN.signals[:25], TRAIN.decisions[:25]))
    measured = fl.evaluate(half, TRAIN[:25])
    field = {"neg_returned_loss": "returned"}.get(name, name.removeprefix("neg_"))
    assert scores[0] == pytest.approx(-getattr(measured, field).mean)
    search = GridSearchCV(
        model,
        {
            "hypothesis": [
                fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant"),
                fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"),
            ]
        },
        scoring=score,
        cv=4,
    ).fit(TRAIN.signals, TRAIN.decisions)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(scores.mean())


def test_bad_input() -> None:
    model = scaled(TRAIN)
    with pytest.raises(DataError, match="evaluate needs Decisions, not ndarray"):
        fl.evaluate(model, TEST.signals)
    with pytest.raises(UnsupportedError, match="norm='l3'"):
        fl.evaluate(model, TEST, norm="l3")
    with pytest.raises(UnsupportedError, match="losses='some' is not known"):
        fl.evaluate(model, TEST, losses="some")
    one = LinearRegression().fit(TRAIN.signals, TRAIN.decisions[:, 0])
    with pytest.raises(DataError, match=r"predicts shape \(40,\), but the decisions have"):
        fl.evaluate(one, TEST)
    for blank in (
        fl.RegionRegressor(cost=TEST.cost),
        fl.RegionRegressor(),
        fl.baselines.LinearPolicy(),
    ):
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
