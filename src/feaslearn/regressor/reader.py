"""Inputs of a fitted model: signals, costs and decisions checked against those of the fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array
from feaslearn.costs import ResolvedCost
from feaslearn.data import Source, as_matrix, column_names
from feaslearn.exceptions import DataError, NotFittedError, Problems, checked
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.regressor.checks import check_costs
from feaslearn.regressor.outputs import Outputs, is_frame


@dataclass(frozen=True)
class Reader:
    """How costs and decisions that come later are read: their form, number and sense."""

    outputs: Outputs
    n_decisions: int
    priced: bool
    maximises: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the decisions: those of the data, or x0, x1, ..."""
        return self.outputs.names or tuple(f"x{j}" for j in range(self.n_decisions))

    def prices(self, signals: Array, cost: ResolvedCost | None, costs: ArrayLike | None) -> Array:
        """Return what to minimise: costs given, read from the signals, or none at all."""
        expected = (len(signals), self.n_decisions)
        if costs is not None:
            problems = Problems()
            self.outputs.check_order(costs, "costs", problems)
            read = checked(check_costs(costs, expected, problems), problems, "RegionRegressor")
        elif cost is not None:
            read = cost.evaluate(signals)
        elif not self.priced:
            read = np.zeros(expected)
        else:
            raise DataError("this model was fitted with costs=...; pass costs=... here too")
        # Kernels compile once more for arrays that cannot be written to.
        return -read if self.maximises else np.require(read, requirements="W")

    def decisions(self, y: Any, count: int) -> Array:
        """Return decisions to compare with as a matrix."""
        problems = Problems()
        decisions = as_matrix(y, name="y", problems=problems, allow_nan=True, allow_1d=True)
        expected = (count, self.n_decisions)
        if decisions is not None and decisions.shape != expected:
            problems.add(f"y has shape {decisions.shape}, expected {expected}")
        self.outputs.check_order(y, "y", problems)
        return np.require(checked(decisions, problems, "RegionRegressor"), requirements="W")


def check_fitted(model: BaseEstimator) -> None:
    """Refuse a model that has learned nothing yet."""
    if not hasattr(model, "theta_"):
        raise NotFittedError(f"this {type(model).__name__} is not fitted yet; call fit first")


def decision_names(model: BaseEstimator) -> tuple[str, ...]:
    """Return the names of the decisions of a fitted model: those of y, or x0, x1, ..."""
    check_fitted(model)
    reader: Reader = vars(model)["_reader"]
    return reader.names


def signal_names(model: BaseEstimator) -> tuple[str, ...]:
    """Return the names of the signals of a model: those of X, or s0, s1, ..."""
    names = getattr(model, "feature_names_in_", None)
    count: int = model.n_features_in_
    return tuple(f"s{j}" for j in range(count)) if names is None else tuple(map(str, names))


def check_signals(model: BaseEstimator, X: Any) -> Array:
    """Return new signals for a fitted model as a matrix, with the columns of the fit."""
    check_fitted(model)
    problems = Problems()
    signals = checked(as_matrix(X, name="X", problems=problems), problems, "RegionRegressor")
    check_columns(model, X, reset=False)
    return signals


def read(model: Any, X: Any, costs: ArrayLike | None) -> tuple[Array, Array]:
    """Return features and costs of new signals, checked against those of the fit."""
    signals = check_signals(model, X)
    reader: Reader = vars(model)["_reader"]
    return features_of(model, signals), reader.prices(signals, model.cost_, costs)


def features_of(model: Any, signals: Array) -> Array:
    """Return the features of signals; known right-hand sides stand behind them."""
    features: Array = model.features_.transform(signals)
    if model.known_ is None:
        return features
    return np.hstack([features, model.known_.at(signals).columns()])


def regions_of(model: Any) -> Hypothesis:
    """Return what was fitted, within known constraints."""
    hypothesis: Hypothesis = model.hypothesis_
    return hypothesis if model.known_ is None else Constrained(hypothesis, model.known_.shape)


def check_columns(model: BaseEstimator, X: Any, reset: bool) -> None:
    """Remember the number and the names of the signals, or compare with them."""
    if isinstance(X, Source):
        vars(model).pop("feature_names_in_", None)
        model.n_features_in_ = len(X.names.signals)
        if X.named:
            model.feature_names_in_ = np.array(X.names.signals, dtype=object)
        return
    names = column_names(X)
    with warnings.catch_warnings():
        if names is not None:
            # scikit-learn does not see the names of every frame; they are compared below.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
        try:
            validate_data(model, X, skip_check_array=True, reset=reset)
        except (TypeError, ValueError) as error:
            raise DataError(str(error)) from error
    if names is None:
        return
    if reset:
        model.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(model, "feature_names_in_") and list(names) != list(model.feature_names_in_):
        raise DataError(
            f"X has the columns {', '.join(names)}; the model was fitted to "
            f"{', '.join(model.feature_names_in_)}, in this order"
        )


def one_row(signal: Any) -> Any:
    """Return one signal as a table of one row; a row of a pandas frame keeps its names."""
    if hasattr(signal, "to_frame") and hasattr(signal, "index"):
        return signal.to_frame().T
    return signal if is_frame(signal) else np.atleast_2d(np.asarray(signal))
