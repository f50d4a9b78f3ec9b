"""Regressors of scikit-learn that a learned region is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from feaslearn.arrays import Array

#: Rows that a prediction by nearest rows is the mean of.
NEIGHBOURS = 5
#: Penalties that ridge regression chooses from.
PENALTIES = np.logspace(-3, 4, 15)


def boosting() -> Any:
    """Return gradient boosting with scikit-learn's defaults; it takes one output at a time."""
    return HistGradientBoostingRegressor(random_state=0)


def ridge() -> Any:
    """Return ridge regression with a penalty chosen by leave-one-out."""
    return make_pipeline(StandardScaler(), RidgeCV(PENALTIES))


def neighbours() -> Any:
    """Return the mean of the nearest rows."""
    return make_pipeline(StandardScaler(), KNeighborsRegressor(NEIGHBOURS))


def trees() -> Any:
    """Return extremely randomised trees."""
    return ExtraTreesRegressor(100, random_state=0)


#: The usual two, which stand beside a model where there is little room.
USUAL: dict[str, Callable[[], Any]] = {"gradient boosting": boosting, "ridge regression": ridge}
#: All of them, by name.
REGRESSORS: dict[str, Callable[[], Any]] = {
    "mean decision": DummyRegressor,
    "linear policy": LinearRegression,
    f"{NEIGHBOURS} nearest rows": neighbours,
    "extra trees": trees,
    **USUAL,
}


def fit_and_predict(make: Callable[[], Any], X: Array, y: Array, new: Array) -> Array:
    """Fit a regressor to rows and return its predictions for others, on one thread."""
    predictor, found = make(), np.zeros((len(new), y.shape[1]))
    single = isinstance(predictor, HistGradientBoostingRegressor)
    with threadpool_limits(1):
        if y.shape[1] > 1 and not single and not np.isnan(y).any():
            whole = np.asarray(_sized(predictor, len(y)).fit(X, y).predict(new))
            return whole.reshape(len(new), -1)
        for j, column in enumerate(y.T):
            seen = ~np.isnan(column)
            if seen.any():
                each = _sized(clone(predictor), int(seen.sum()))
                found[:, j] = each.fit(X[seen], column[seen]).predict(new).ravel()
    return found


def _sized(predictor: Any, count: int) -> Any:
    """Return a predictor that does not ask for more neighbours than there are rows."""
    if "kneighborsregressor" in getattr(predictor, "named_steps", ()):
        predictor.set_params(kneighborsregressor__n_neighbors=min(NEIGHBOURS, count))
    return predictor
