"""Scores for ``cross_val_score`` and ``GridSearchCV``: pass the function as ``scoring``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.data import as_matrix
from feaslearn.exceptions import Problems, UnsupportedError, checked
from feaslearn.losses import Loss, Predictability, Suboptimality
from feaslearn.metrics.evaluation import Mean, find_inside


def neg_predictability(model: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return minus the mean squared predictability loss: a score for scikit-learn.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model, or a fitted pipeline or search with one inside.
    X, y : array-like
        Signals and decisions; samples with nothing observed do not count.

    Returns
    -------
    float
        The score: zero is best.

    Examples
    --------
    >>> import feaslearn as fl
    >>> from sklearn.model_selection import cross_val_score
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> scores = cross_val_score(
    ...     model, data.signals, data.decisions, scoring=fl.metrics.neg_predictability)
    >>> bool(abs(scores).max() < 1e-9)
    True
    """
    return _score(model, Predictability(), X, y)


def neg_suboptimality(model: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return minus the mean squared suboptimality loss: a score for scikit-learn.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model, or a fitted pipeline or search with one inside.
    X, y : array-like
        Signals and decisions; samples with nothing observed do not count.

    Returns
    -------
    float
        The score: zero is best.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> _ = model.fit(data.signals, data.decisions)
    >>> abs(fl.metrics.neg_suboptimality(model, data.signals, data.decisions)) < 1e-9
    True
    """
    return _score(model, Suboptimality(), X, y)


def neg_returned_loss(model: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return minus the mean squared distance to the returned decision: a score for scikit-learn.

    Parameters
    ----------
    model : regressor
        Any fitted regressor.
    X, y : array-like
        Signals and decisions; samples with nothing observed do not count.

    Returns
    -------
    float
        The score: zero is best.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> policy = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    >>> -0.3 < fl.metrics.neg_returned_loss(policy, data.signals, data.decisions) < -0.1
    True
    """
    problems = Problems()
    read = as_matrix(y, name="y", problems=problems, allow_nan=True, allow_1d=True)
    target = checked(read, problems, "neg_returned_loss")
    predicted = np.asarray(model.predict(X), dtype=float).reshape(target.shape)
    losses = Predictability().lengths(np.nan_to_num(predicted - target))
    return -Mean.of(losses[~np.isnan(target).all(axis=1)]).mean


def _score(model: Any, loss: Loss, X: ArrayLike, y: ArrayLike) -> float:
    inner, inputs = find_inside(model, X)
    if not hasattr(inner, "sample_losses"):
        raise UnsupportedError(
            f"{type(inner).__name__} has no region; score it with neg_returned_loss"
        )
    target = np.asarray(y, dtype=float)
    observed = ~np.isnan(target.reshape(len(target), -1)).all(axis=1)
    return -Mean.of(inner.sample_losses(loss, inputs, y)[observed]).mean
