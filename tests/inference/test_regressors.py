"""Regressors that a model is compared with."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.multioutput import MultiOutputRegressor

import feaslearn as fl
from feaslearn.report.comparison import compare
from feaslearn.report.samples import fitting_samples


def test_the_best_simpler_predictor_is_not_behind_boosting_with_defaults() -> None:
    """Once, a regressor of scikit-learn with defaults was better than the one named best."""
    data = fl.datasets.make_power5(400, line_capacity=1.4, random_state=1)
    train, test = data[:300], data[300:]
    model = fl.RegionRegressor(fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"), cost=data.cost)
    model.fit(train.signals, train.decisions)
    rows, others = (fitting_samples(model, each, "row {}".format, "") for each in (test, train))
    best = compare(rows, others, None).best_other
    boosting = MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0))
    predicted = boosting.fit(train.signals, train.decisions).predict(test.signals)
    assert best is not None
    assert best.r2 >= fl.metrics.pooled_r2(test.decisions, predicted) - 1e-9
