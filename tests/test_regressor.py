"""RegionRegressor as scikit-learn sees it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
import sklearn.exceptions
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnWarning

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
