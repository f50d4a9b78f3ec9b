"""Data as a model reads them: what every part of the report looks at."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Decisions
from feaslearn.data.checks import Names
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems
from feaslearn.hypotheses.constrained import constrained
from feaslearn.io.table import Frame
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import Reader, decision_names

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Samples:
    """A fitted model and rows to show it on.

    Parameters
    ----------
    model : RegionRegressor
        The model.
    data : Decisions
        The rows; signals in the order of the fit.
    place : callable
        Says where a row comes from: "line 7".
    """

    model: RegionRegressor
    data: Decisions
    place: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.data)

    def drawn(self, most: int) -> Samples:
        """Return so many rows drawn at random, or all where there are no more."""
        if len(self) <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(len(self), most, replace=False))
        return Samples(self.model, self.data[rows], lambda i: self.place(int(rows[i])))

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
    def signals(self) -> Frame:
        """Signals with their names."""
        return Frame(np.array(self.data.signals), list(self.data.names.signals))

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
    def _solved(self) -> Any:
        theta, columns = self.model.theta_, self.features
        regions, known = self.model.hypothesis_, self.model.known_
        if known is not None:
            regions = constrained(regions, known.shape)
            columns = np.hstack([columns, known.at(self.signals.values).columns()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)
            predicted = self.model.predict(self.signals, costs=self.given_costs)
        nothing = np.zeros(self.prices.shape)
        empty = regions.solve(theta, columns, nothing).empty
        tied = regions.tied(theta, columns, self.prices)
        return np.asarray(predicted, dtype=float).reshape(self.observed.shape), empty, tied

    @property
    def predicted(self) -> Array:
        """Decisions of the model (N, n)."""
        predicted: Array = self._solved[0]
        return predicted

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Rows at which no decision satisfies all that was learned."""
        empty: NDArray[np.bool_] = self._solved[1]
        return empty

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Rows in which several decisions are optimal."""
        tied: NDArray[np.bool_] = self._solved[2]
        return tied

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
    model: RegionRegressor, data: Decisions, place: Callable[[int], str], what: str
) -> Samples:
    """Return data in the order of the fit; refuse data that do not fit the model."""
    problems = Problems()
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    given, decisions = list(data.names.signals), decision_names(model)
    order: list[int] | None = None
    if names and sorted(names) == sorted(given):
        order = [given.index(name) for name in names]
    elif names and not _numbered(given, "s"):
        missing = [name for name in names if name not in given]
        problems.add(f"{what}: the signals are not those of the model; missing: {missing[:5]}")
    elif data.signals.shape[1] != model.n_features_in_:
        problems.add(
            f"{what} has {data.signals.shape[1]} signals, the model has {model.n_features_in_}"
        )
    if data.decisions.shape[1] != len(decisions):
        problems.add(
            f"{what} has {data.decisions.shape[1]} decisions, the model has {len(decisions)}"
        )
    problems.raise_if_any(DataError, "report")
    signals = data.signals if order is None else data.signals[:, order]
    # A model that was fitted to arrays has no names; the data may have some.
    own: Reader = vars(model)["_reader"]
    called = own.outputs.names or data.names.decisions
    return Samples(model, _renamed(data, signals, names or given, called), place)


def _renamed(
    data: Decisions, signals: Array, labels: Sequence[str], decisions: Sequence[str]
) -> Decisions:
    """Return data whose columns stand in the order, and under the names, of the fit."""
    return replace(data, signals=signals, names=Names(tuple(labels), tuple(decisions)))


def _numbered(names: list[str], letter: str) -> bool:
    """Say whether names are those that arrays get."""
    return names == [f"{letter}{j}" for j in range(len(names))]
