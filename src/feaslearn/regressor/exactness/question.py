"""What is asked: data, a class, and how exact is exact."""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from feaslearn.data import Decisions, Shard
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Predictability
from feaslearn.regressor.checks import check_fit
from feaslearn.regressor.exactness.verdict import Verdict
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.trainers import Trainer
from feaslearn.trainers.running import check_max_seconds

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Question:
    """A class and samples, with the costs to minimise.

    ``places`` are the numbers of the samples among those that the user gave; ``unit`` is the
    largest range of a decision, and ``tolerance`` the error that counts as none in that unit.
    """

    model: RegionRegressor
    X: Any
    y: Any
    rows: Shard
    places: Places
    unit: float
    tolerance: float
    began: float
    max_seconds: float

    @property
    def hypothesis(self) -> Hypothesis:
        """The class."""
        hypothesis = self.model.hypothesis
        if hypothesis is None:
            raise AssertionError("refused by ask")
        return hypothesis

    @property
    def until(self) -> float:
        """When to stop, by `time.monotonic`."""
        return self.began + self.max_seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.until - time.monotonic())

    def fitted(self, trainer: Trainer, some: Places | None = None) -> RegionRegressor:
        """Return a model of all samples, or some, trained by a trainer."""
        model: RegionRegressor = clone(self.model).set_params(trainer=trainer)
        if some is None:
            return model.fit(self.X, self.y)
        chosen = self.places[some]
        X, y = (np.asarray(table)[chosen] for table in (self.X, self.y))
        return model.fit(X, y)

    def errors(self, model: RegionRegressor) -> Array:
        """Return how far each sample is from the nearest minimiser of a model, in units."""
        largest = Predictability("linf", squared=False)
        return largest.samples(model.hypothesis_, model.theta_, self.rows) / self.unit

    def answer(self, consistent: bool | None, reason: str, **found: Any) -> Verdict:
        """Return the answer, with the loss and the error of the model if there is one."""
        model: RegionRegressor | None = found.get("model")
        if model is not None:
            found.setdefault("loss", model.result_.objective)
            found.setdefault("lower_bound", model.result_.lower_bound)
            found["largest_error"] = float(self.errors(model).max() * self.unit)
        for name in ("contradiction", "suspects"):
            found[name] = tuple(int(self.places[i]) for i in found.get(name, ()))
        return Verdict(
            consistent,
            reason,
            self.hypothesis,
            len(self.places),
            self.tolerance * self.unit,
            time.monotonic() - self.began,
            **found,
        )


def ask(
    data: Any,
    model: RegionRegressor,
    tolerance: float,
    max_seconds: float | None,
) -> Question:
    """Check data and numbers; raise one error that names everything."""
    began, problems = time.monotonic(), Problems()
    if isinstance(data, Decisions):
        X, y = data.signals, data.decisions
    elif isinstance(data, tuple) and len(data) == 2:
        X, y = data
    else:
        raise DataError("consistency: data must be Decisions, or a pair (signals, decisions)")
    if not isinstance(model.hypothesis, Hypothesis):
        problems.add(f"hypothesis={model.hypothesis!r} is not a class of regions such as Facets()")
    if model.cost is None:
        problems.add("no cost was given: without prices any decision is optimal somewhere")
    number = isinstance(tolerance, Real) and not isinstance(tolerance, bool)
    if not number or not 0.0 < float(tolerance) < np.inf:
        problems.add(f"tolerance={tolerance!r} is not a positive number")
    check_max_seconds(max_seconds, problems)
    problems.raise_if_any(DataError, "consistency")
    rows = check_fit(model, X, y, None, None).minimized(model.sense == "max").whole()
    seen = ~np.isnan(np.asarray(y, dtype=float).reshape(len(np.asarray(y)), -1)).all(axis=1)
    ranges = np.nanmax(rows.decisions, axis=0) - np.nanmin(rows.decisions, axis=0)
    unit = float(ranges.max()) or float(np.nanmax(np.abs(rows.decisions))) or 1.0
    places = np.flatnonzero(seen)
    limit = np.inf if max_seconds is None else float(max_seconds)
    return Question(model, X, y, rows, places, unit, float(tolerance), began, limit)
