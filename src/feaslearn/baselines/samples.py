"""Checks of the samples of baselines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, NotFittedError, Problems
from feaslearn.parameters import checked


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
    decisions = None
    if y is None:
        problems.add("requires y to be passed, but the target y is None; give the decisions")
    else:
        decisions = as_matrix(
            y, name="y", problems=problems, allow_nan=True, allow_1d=True, as_it_is=as_it_is
        )
    if signals is None or decisions is None:
        signals, decisions = checked(signals, problems, owner), checked(decisions, problems, owner)
    weights = np.ones(len(signals))
    if len(signals) != len(decisions):
        problems.add(f"X has {len(signals)} rows and y has {len(decisions)}; give one of each")
    elif sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        _check_weights(problems, weights, len(signals))
    problems.raise_if_any(DataError, owner)
    return signals, decisions, weights


def _check_weights(problems: Problems, weights: Array, count: int) -> None:
    if weights.shape != (count,):
        problems.add(f"sample_weight has shape {weights.shape}, expected ({count},)")
        return
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        problems.add(f"sample_weight[{row}] is {weights[row]}; weights are finite and at least 0")
    elif not weights.any():
        problems.add("sample_weight: every weight is zero")
