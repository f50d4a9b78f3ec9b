"""Minkowski sums alone on the congested 39-bus system whose line limits are hidden: pooled R².

Claims: 0.82 with the first 200 rows, 0.84 with 1000, and ahead of seven regressors of scikit-learn
with 200. The dictionary is that of `Minkowski("auto")`; the scales depend on the total demand and
its hinges at quantiles of the training rows. How many hinges, and how strongly scales are held
small, is chosen by cross-validation on the training rows; predictions are clipped to the box of
the training decisions. Rows 2000-2999 are for testing alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

import feaslearn as fl
from common.regressors import tuned_regressors
from facets_case39 import DATA, GENERATORS, SIGNALS, Array, fit_and_score, report
from feaslearn.metrics import pooled_r2

#: What each zone draws at its maximum, in 100 MW; see data/README.md.
ZONES = np.array([5.3599, 4.8899, 9.9280, 22.9601, 9.1788, 0.0, 31.5211, 17.0972])
#: Numbers of hinges that are tried.
HINGES = (0, 1, 3, 5)
CLAIMS = {200: 0.82, 1000: 0.84}


class TotalDemand(TransformerMixin, BaseEstimator):
    """The total demand, and how far it is above evenly spaced quantiles of the training rows."""

    def __init__(self, n_hinges: int = 3) -> None:
        self.n_hinges = n_hinges

    def fit(self, signals: Array, y: object = None) -> TotalDemand:
        """Learn the quantiles."""
        shares = np.linspace(0.0, 1.0, self.n_hinges + 2)[1:-1]
        self.quantiles_ = np.quantile(signals[:, GENERATORS:] @ ZONES, shares)
        return self

    def transform(self, signals: Array) -> Array:
        """Return the total and its hinges."""
        total = signals[:, GENERATORS:] @ ZONES
        return np.column_stack([total, *(np.maximum(total - q, 0.0) for q in self.quantiles_)])


class Clipped(BaseEstimator):
    """A Minkowski sum whose predictions stay in the box of the training decisions."""

    def __init__(self, features: Any = "non-cost") -> None:
        self.features = features

    def fit(self, signals: Array, decisions: Array) -> Clipped:
        """Learn region and box."""
        self.model_ = fl.RegionRegressor(
            fl.Minkowski("auto"),
            cost=list(range(GENERATORS)),
            features=self.features,
            random_state=0,
        ).fit(signals, decisions)
        self.box_ = decisions.min(axis=0), decisions.max(axis=0)
        return self

    def predict(self, signals: Array) -> Array:
        """Return decisions within the box."""
        return np.clip(self.model_.predict(signals), *self.box_)


def chosen() -> GridSearchCV:
    """Return the sum whose hinges are chosen by cross-validation."""
    grid = {"features": [TotalDemand(count) for count in HINGES]}
    return GridSearchCV(Clipped(TotalDemand()), grid, cv=5, scoring=make_scorer(pooled_r2))


def run(quick: bool = False) -> dict[int, float]:
    """Print all scores; return ours by the number of rows, less the best other where that is."""
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    signals, decisions = table[:, :SIGNALS], table[:, SIGNALS:]
    test = signals[2000:], decisions[2000:]
    reached: dict[int, float] = {}
    for count in (200, 1000):
        train = signals[:count], decisions[:count]
        ours: dict[str, Callable[[], Any]] = {"Minkowski": chosen}
        if not quick:
            ours["Minkowski, affine"] = Clipped
        for name, make in ours.items():
            score, seconds = fit_and_score(make, train, test)
            report(f"{count} rows", name, score, seconds)
            reached.setdefault(count, score)
    for name, make in tuned_regressors(SIGNALS, quick).items():
        score, seconds = fit_and_score(make, (signals[:200], decisions[:200]), test)
        report("200 rows", name, score, seconds)
        if score >= reached[200]:
            reached[200] = -np.inf
    return reached


def main() -> int:
    """Print the scores; the exit code says whether the claims hold."""
    reached = run("--quick" in sys.argv[1:])
    missed = {count: score for count, score in reached.items() if score < CLAIMS[count]}
    for count in missed:
        print(f"claim missed: {count} rows: {CLAIMS[count]} and ahead of the others")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
