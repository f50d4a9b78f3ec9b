"""A model on rows that it has not seen, beside regressors, in the units of the decisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.inference.conformal import FOLDS, CrossFit
from feaslearn.inference.regressors import USUAL, fit_and_predict
from feaslearn.metrics import pooled_r2
from feaslearn.tolerances import VISIBLE_TOL

#: More rows than this are not held out, nor fewer: parts would be too small.
MOST_ROWS, FEWEST_ROWS = 5000, 20
#: A model is fitted once more for each part if that takes no longer than this.
MOST_SECONDS = 60.0


class Line(NamedTuple):
    """One predictor: R² over all decisions, and the mean absolute error of each."""

    name: str
    r2: float
    mae: tuple[float, ...]


@dataclass(frozen=True)
class HeldOut:
    """Predictors on rows that they have not seen, the model first; decisions by name."""

    names: tuple[str, ...]
    ranges: tuple[float, ...]
    lines: tuple[Line, ...]
    seconds: float

    def mean_error(self, line: Line) -> float:
        """Return the mean absolute error over decisions that move."""
        each = [error for _, error in self.worst(line)]
        return float(np.mean(each)) if each else 0.0

    def worst(self, line: Line) -> list[tuple[str, float]]:
        """Return the decisions with their errors, the largest first."""
        pairs = zip(self.names, line.mae, self.ranges, strict=True)
        # An error of rounding is none.
        moving = [
            (name, error if error > VISIBLE_TOL * size else 0.0)
            for name, error, size in pairs
            if size > 0.0
        ]
        return sorted(moving, key=lambda pair: -pair[1])


def why_not(model: Any, count: int) -> str | None:
    """Say why a model is not measured on rows that it has not seen, None if it can be."""
    if count < FEWEST_ROWS:
        return f"{count} rows are too few to hold some out"
    if count > MOST_ROWS:
        return f"more than {MOST_ROWS} rows are not fitted again: use fl.evaluate with other rows"
    seconds = FOLDS * model.result_.seconds
    if seconds > MOST_SECONDS:
        return f"fits to parts of the rows would take about {seconds:.0f} s"
    return None


def hold_out(
    model: Any, X: Any, y: Any, weights: Any, names: tuple[str, ...]
) -> tuple[HeldOut, CrossFit]:
    """Predict consecutive parts of the rows by fits to the others, of the model and regressors."""
    began = time.monotonic()
    observed = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y, dtype=np.float64)
    observed = observed.reshape(len(observed), -1)
    signals = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
    fits = CrossFit(model, X, y, weights=weights)
    lines = [_line("this model", observed, fits.predicted)]
    for name, make in USUAL.items():
        lines.append(_line(name, observed, out_of_fold(make, signals, observed, fits.folds)))
    ranges = tuple(float(size) for size in np.nanmax(observed, 0) - np.nanmin(observed, 0))
    return HeldOut(names, ranges, tuple(lines), time.monotonic() - began), fits


def out_of_fold(make: Callable[[], Any], signals: Array, observed: Array, folds: Indices) -> Array:
    """Predict each part of the rows by a regressor that is fitted to the others."""
    found = np.empty(observed.shape)
    for fold in range(FOLDS):
        out = folds == fold
        found[out] = fit_and_predict(make, signals[~out], observed[~out], signals[out])
    return found


def _line(name: str, observed: Array, predicted: Array) -> Line:
    """Measure one predictor."""
    errors = np.nanmean(np.abs(observed - predicted), axis=0)
    return Line(name, pooled_r2(observed, predicted), tuple(float(error) for error in errors))
