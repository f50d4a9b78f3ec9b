"""Data as a model reads them, which every part of the report uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.data import Decisions
from feaslearn.data.checks import Names
from feaslearn.exceptions import DataError, Problems
from feaslearn.inference.trust import Trust
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.limits import Limit, trace
from feaslearn.regressor.reader import Reader, decision_names


@dataclass(frozen=True, eq=False)
class Samples:
    """A fitted model and rows to show it on."""

    model: RegionRegressor
    data: Decisions
    place: Callable[[int], str]
    times: NDArray[np.datetime64] | None = None

    def __len__(self) -> int:
        return len(self.data)

    def drawn(self, most: int) -> Samples:
        """Return so many rows drawn at random, or all where there are no more."""
        if len(self) <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(len(self), most, replace=False))
        times = None if self.times is None else self.times[rows]
        return Samples(self.model, self.data[rows], lambda i: self.place(int(rows[i])), times)

    @property
    def observed(self) -> Array:
        """Decisions (N, n), NaN where not observed."""
        return self.data.decisions

    @property
    def reader(self) -> Reader:
        """How the model reads costs."""
        reader: Reader = vars(self.model)["_reader"]
        return reader

    @property
    def given_costs(self) -> Array | None:
        """Costs that go with the rows where the model does not read them from signals."""
        priced = self.model.cost_ is None and self.reader.priced
        return self.data.cost_matrix if priced else None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features without the constant, those of the signals that they are."""
        features, names = self.model.features_, self.data.names.signals
        if features.transformer is not None:
            return features.names[1:]
        return tuple(names[k] for k in features.columns)

    @cached_property
    def signals(self) -> pd.DataFrame:
        """Signals with their names."""
        return pd.DataFrame(np.array(self.data.signals), columns=list(self.data.names.signals))

    @cached_property
    def features(self) -> Array:
        """Features phi(s) of the rows, the constant first."""
        return self.model.features_.transform(np.array(self.data.signals))

    @cached_property
    def prices(self) -> Array:
        """What is minimised in each row."""
        signals = np.array(self.data.signals)
        return self.reader.prices(signals, self.model.cost_, self.given_costs)

    @cached_property
    def _traced(self) -> tuple[Array, Trust, list[Limit]]:
        return trace(self.model, self.signals, self.given_costs)

    @property
    def predicted(self) -> Array:
        """Decisions of the model (N, n)."""
        return self._traced[0]

    @property
    def trust(self) -> Trust:
        """What each decision of the model rests on."""
        return self._traced[1]

    @property
    def limits(self) -> list[Limit]:
        """The learned limits at the rows, most valuable first; none where rows are not known."""
        return self._traced[2]

    @property
    def errors(self) -> Array:
        """Absolute differences of observed and predicted decisions (N, n), NaN if unobserved."""
        return np.abs(self.observed - self.predicted)

    @cached_property
    def ranges(self) -> Array:
        """How far apart the least and the greatest observed value of each decision are."""
        least = np.fmin.reduce(self.observed, axis=0)
        return np.asarray(np.nan_to_num(np.fmax.reduce(self.observed, axis=0) - least))

    @cached_property
    def moving(self) -> list[int]:
        """Decisions that move in the rows, those that move most first."""
        order = np.argsort(-self.ranges, kind="stable")
        return [int(j) for j in order if self.ranges[j] > 0.0]

    @cached_property
    def distances(self) -> Array:
        """How far each observed decision is from the predicted one (N,); NaN if unobserved."""
        missed = np.nan_to_num(self.observed - self.predicted)
        unseen = np.isnan(self.observed).all(axis=1)
        return np.asarray(np.where(unseen, np.nan, np.linalg.norm(missed, axis=1)))

    @cached_property
    def typical(self) -> int:
        """The row whose signals are closest to the medians."""
        signals = self.data.signals
        spread = signals.std(axis=0)
        gaps = (signals - np.median(signals, axis=0)) / np.where(spread > 0.0, spread, 1.0)
        return int(np.square(gaps).sum(axis=1).argmin())


def fitting_samples(
    model: RegionRegressor,
    data: Decisions,
    place: Callable[[int], str],
    what: str,
    times: Sequence[datetime] | None = None,
) -> Samples:
    """Return data in the order of the fit; refuse data that do not fit the model."""
    problems = Problems()
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    given, decisions = list(data.names.signals), decision_names(model)
    order = list(range(len(given)))
    if names and sorted(names) == sorted(given):
        order = [given.index(name) for name in names]
    elif names and given != [f"s{j}" for j in order]:  # which arrays get
        missing = [name for name in names if name not in given]
        problems.add(f"{what}: the signals are not those of the model; missing: {missing[:5]}")
    elif len(order) != model.n_features_in_:
        problems.add(f"{what} has {len(order)} signals, the model has {model.n_features_in_}")
    if data.decisions.shape[1] != len(decisions):
        problems.add(
            f"{what} has {data.decisions.shape[1]} decisions, the model has {len(decisions)}"
        )
    if times is not None and len(times) != len(data):
        problems.add(f"{len(times)} times are given for {len(data)} rows")
    problems.raise_if_any(DataError, "report")
    # A model that was fitted to arrays has no names; the data may have some.
    reader: Reader = vars(model)["_reader"]
    called = Names(tuple(names or given), tuple(reader.outputs.names or data.names.decisions))
    when = None if times is None else np.array(times, dtype="datetime64[s]")
    return Samples(model, replace(data, signals=data.signals[:, order], names=called), place, when)
