"""Fitted state of scikit-learn's transformers in model files: what ``transform`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from feaslearn.exceptions import ModelFileError

#: Most signals of a file.
MAX_SIGNALS = 10**6
#: Highest degree of polynomials and splines.
MAX_DEGREE = 100


def fitted_state(transformer: Any) -> dict[str, Any] | None:
    """Return what a transformer has learned, None where it is not fitted."""
    if not hasattr(transformer, "n_features_in_"):
        return None
    state: dict[str, Any] = {"n_signals": transformer.n_features_in_}
    if isinstance(transformer, StandardScaler):
        for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
            state[name] = getattr(transformer, name)
    if isinstance(transformer, SplineTransformer):
        state["splines"] = [
            (spline.t, spline.c, int(spline.k), bool(spline.extrapolate))
            for spline in transformer.bsplines_
        ]
    return state


def restore_state(transformer: Any, state: Any, where: str) -> None:
    """Set the fitted state of a transformer, after checks."""
    try:
        count = check_count(state["n_signals"], "n_signals")
        if isinstance(transformer, PolynomialFeatures):
            _refit(transformer, count)
        elif isinstance(transformer, StandardScaler):
            _restore_scaler(transformer, state, count)
        else:
            _restore_splines(transformer, state, count)
    except Exception as error:
        name = type(transformer).__name__
        raise ModelFileError(f"{where}: not the state of a fitted {name}: {error}") from error


def check_count(value: object, where: str) -> int:
    """Return a number of signals or decisions; refuse anything else."""
    if type(value) is not int or not 1 <= value <= MAX_SIGNALS:
        raise ModelFileError(f"{where}: {value!r} is not a number of signals or decisions")
    return value


def _refit(transformer: Any, count: int) -> None:
    """Fit anew: powers depend on the number of the signals alone."""
    degrees = np.ravel(transformer.degree).tolist()
    if any(type(degree) is not int or not 0 <= degree <= MAX_DEGREE for degree in degrees):
        raise ModelFileError(f"{transformer.degree!r} is not the degree of a PolynomialFeatures")
    transformer.fit(np.zeros((1, count)))


def _restore_scaler(transformer: Any, state: dict[str, Any], count: int) -> None:
    """Set means and scales."""
    for name in ("mean_", "var_", "scale_"):
        values = state[name]
        if values is not None and not _is_table(values, (count,)):
            raise ModelFileError(f"{name} of a StandardScaler is not {count} finite numbers")
        setattr(transformer, name, values)
    for wanted, name in ((transformer.with_mean, "mean_"), (transformer.with_std, "scale_")):
        if wanted and state[name] is None:
            raise ModelFileError(f"{name} of a StandardScaler is missing")
    transformer.n_samples_seen_ = state["n_samples_seen_"]
    transformer.n_features_in_ = count


def _restore_splines(transformer: Any, state: dict[str, Any], count: int) -> None:
    """Set the splines."""
    splines = []
    for t, c, degree, extrapolate in state["splines"]:
        if (
            type(degree) is not int
            or not 0 <= degree <= MAX_DEGREE
            or type(extrapolate) is not bool
        ):
            raise ModelFileError("a spline has no degree")
        if not (_is_table(t, (len(t),)) and _is_table(c, (len(t) - degree - 1, c.shape[1]))):
            raise ModelFileError("knots and coefficients of a spline do not fit")
        splines.append(BSpline(t, c, degree, extrapolate=extrapolate))
    widths = {spline.c.shape[1] for spline in splines}
    degrees = {spline.k for spline in splines}
    if len(splines) != count or degrees != {transformer.degree} or len(widths) != 1:
        raise ModelFileError("the splines do not fit the signals and the degree")
    transformer.bsplines_ = splines
    transformer.n_features_in_ = count
    # Computed, not read: `transform` takes memory for as many.
    left_away = 0 if transformer.include_bias else 1
    transformer.n_features_out_ = sum(spline.c.shape[1] - left_away for spline in splines)


def _is_table(values: object, shape: tuple[int, ...]) -> bool:
    """Whether values are finite floats of a shape."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == shape
        and bool(np.isfinite(values).all())
    )
