"""Scores for ``cross_val_score`` and ``GridSearchCV``: pass the function as ``scoring``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.data import as_matrix
from feaslearn.exceptions import Problems, checked


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
    >>> from sklearn.linear_model import LinearRegression
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> policy = LinearRegression().fit(data.signals, data.decisions)
    >>> -0.3 < fl.metrics.neg_returned_loss(policy, data.signals, data.decisions) < -0.1
    True
    """
    problems = Problems()
    read = as_matrix(y, name="y", problems=problems, allow_nan=True, allow_1d=True)
    target = checked(read, problems, "neg_returned_loss")
    predicted = np.asarray(model.predict(X), dtype=float).reshape(target.shape)
    losses = np.square(np.nan_to_num(predicted - target)).sum(axis=1)
    return -float(losses[~np.isnan(target).all(axis=1)].mean())
