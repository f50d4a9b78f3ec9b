"""Checks of the samples of baselines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array
from feaslearn.data import as_matrix
from feaslearn.data.checks import check_target, check_weights
from feaslearn.exceptions import NotFittedError, Problems, checked


def signals_to_predict(model: BaseEstimator, X: ArrayLike, learned: str) -> Array:
    """Return the signals of a prediction, or raise all problems; ``fit`` sets ``learned``."""
    owner = type(model).__name__
    if not hasattr(model, learned):
        raise NotFittedError(f"{owner} is not fitted yet; call fit before predict")
    problems = Problems()
    signals = as_matrix(X, name="X", problems=problems)
    signals = checked(signals, problems, owner)
    validate_data(model, X, skip_check_array=True, reset=False)
    return signals


def check_samples(
    X: ArrayLike,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    owner: str,
    as_it_is: bool = False,
) -> tuple[Array, Array, Array]:
    """Return signals, decisions and weights; ``as_it_is`` keeps single precision."""
    problems = Problems()
    signals = as_matrix(X, name="X", problems=problems, as_it_is=as_it_is)
    decisions = check_target(y, signals, as_it_is, problems)
    check_weights(sample_weight, None if signals is None else len(signals), problems)
    signals, decisions = checked(signals, problems, owner), checked(decisions, problems, owner)
    if sample_weight is None:
        return signals, decisions, np.ones(len(signals))
    return signals, decisions, np.asarray(sample_weight, dtype=np.float64)
