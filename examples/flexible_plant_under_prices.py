"""
A flexible plant under prices
=============================

*Learn how far a plant can shift its consumption from how it answered to prices.*

A cold store buys its power a day ahead, by the hour, where it is cheapest. An aggregator sees the
prices, the heat of the day and the schedule, and wants to know what else the plant could do: the
region of all schedules that it can run.

The prices are those of Houston in the day-ahead market of ERCOT in 2021 and 2022
(``data/SOURCES.md``; days with negative prices are dropped, though at this hub there are none). The
plant is simulated (``cold_store.py``): compressors of 1 MW, a store of 2.5 MWh that loses 2 % of
its cold in an hour, heat that follows season and weather. We train on the days before July 2022 and
test on those after.

It needs the extra ``plot``; ``--quick`` takes fewer days and models.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import FunctionTransformer

import cold_store
import feaslearn as fl
from cold_store import HOURS, POWER
from example_tools import OURS, main, print_table, regressors, steps

SPLIT = np.datetime64("2022-07-01")
ROWS = "facets, name plate known"
Array = np.ndarray

# %%
# First look: rows that nobody told us
# ------------------------------------
# ``Facets`` learns half-spaces. All it is given is what stands on the name plate, 0 to 1 MW. The
# rows it finds (see the picture) limit the sum of the first or of the last hours of the day, where
# earlier hours count a little less: that is a store, and the factor from hour to hour is what it
# keeps. (On 97 days of 100 the plant is off in the first hour, and on 96 at full power in the last:
# what these two count for can hardly be seen, and their columns are noise.)


class Learned(NamedTuple):
    """A learned region of some decisions, and the matrix that leads from them to power by hour."""

    model: fl.RegionRegressor
    steps: Array

    def predict(self, signals: Array) -> Array:
        """Return power by hour."""
        return self.model.predict(signals) @ self.steps.T


def learn_rows(train: fl.Decisions, most: int) -> Learned:
    """Learn half-spaces in the 24 hours."""
    known = fl.Known(bounds=(0.0, POWER))
    model = fl.RegionRegressor(
        fl.Facets(max_facets=most), cost=train.cost, known=known, random_state=0
    )
    return Learned(model.fit(train.signals, train.decisions), np.eye(HOURS))


def rows_of(model: fl.RegionRegressor) -> Array:
    """Return the facets by hour, in units of their larger coefficients.

    A facet is known up to multiples of the equalities: those are taken that leave the least of it.
    """
    equalities = model.parameters_["E"]
    equalities = equalities[equalities.any(axis=1)]
    normals = np.array([facet.normal for facet in model.facets_])
    shifts = cp.Variable((len(normals), len(equalities)), bounds=[-100.0, 100.0])
    rows = normals - shifts @ equalities
    cp.Problem(cp.Minimize(cp.sum(cp.abs(rows)))).solve(solver=cp.HIGHS)
    return rows.value / np.quantile(np.abs(rows.value), 0.9, axis=1, keepdims=True)


# %%
# Second look: as a store
# -----------------------
# So we say that it is one. Count what was charged, :math:`y_t = k\, y_{t-1} + x_t`: in these
# decisions a store is a corridor, ``Facets(0, bounds="affine")``, whose walls move with the heat.
# The share :math:`k` that is kept is the one with which the charge of a whole day depends on heat
# alone.


def find_keep(train: fl.Decisions) -> float:
    """Return the share that is kept in an hour, to four digits, from the charge of whole days."""
    features = np.column_stack([np.ones(len(train)), train.signals[:, HOURS]])

    def unexplained(keep: float) -> float:
        charge = train.decisions @ keep ** np.arange(HOURS - 1, -1, -1.0)
        left = charge - features @ np.linalg.lstsq(features, charge, rcond=None)[0]
        return float(left.var() / charge.var())

    return round(float(minimize_scalar(unexplained, bounds=(0.8, 1.0)).x), 4)


def learn_store(train: fl.Decisions) -> Learned:
    """Learn the corridor of the charge; what the compressors can do is known."""
    to_power = np.eye(HOURS) - find_keep(train) * np.eye(HOURS, k=-1)
    cost = fl.AffineCost(np.zeros(HOURS), np.hstack([to_power.T, np.zeros((HOURS, 1))]))
    limits = [0.0] * HOURS + [-POWER] * HOURS
    known = fl.Known(G=np.vstack([to_power, -to_power]), g=limits)
    hypothesis = fl.Facets(max_facets=0, bounds="affine")
    model = fl.RegionRegressor(hypothesis, cost=cost, known=known, random_state=0)
    charges = np.linalg.solve(to_power, train.decisions.T).T
    return Learned(model.fit(train.signals, charges), to_power)


# %%
# On days not seen
# ----------------
# Regressors of scikit-learn get the prices of a day relative to their mean, and the rank of each
# hour: both help them a lot. "Must move" is the energy that has to be shifted before the plant can
# run a predicted schedule; what costs less than the optimum cannot be run.


class Score(NamedTuple):
    """Pooled R²; cost above the optimum in percent; MWh a day that must move; processor time."""

    r2: float
    cost: float
    off: float
    seconds: float


def relative(signals: Array) -> Array:
    """Return prices over their mean, their ranks, and the heat."""
    prices = signals[:, :HOURS]
    ranks = prices.argsort(axis=1).argsort(axis=1)
    return np.column_stack([prices / prices.mean(axis=1, keepdims=True), ranks, signals[:, HOURS:]])


def compare(
    train: fl.Decisions, test: fl.Decisions, quick: bool
) -> tuple[dict[str, Score], dict[str, Any]]:
    """Fit all models to the same days; return their scores and the models."""
    others = regressors(2 * HOURS + 1, quick, FunctionTransformer(relative))
    fits = {
        OURS: lambda: learn_store(train),
        ROWS: lambda: learn_rows(train, 16 if quick else 46),
        **{
            name: lambda model=model: model.fit(train.signals, train.decisions)
            for name, model in others.items()
        },
    }
    best = (test.cost_matrix * test.decisions).sum()
    scores, models = {}, {}
    for name in steps(list(fits), "fitting"):
        with warnings.catch_warnings():
            # Widths at the ends of their range, and days unlike all that were seen.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
            began = time.process_time()
            models[name] = fits[name]()
            seconds = time.process_time() - began
            predicted = models[name].predict(test.signals)
        off = test.forward.distance_to_feasible(predicted, test.signals)
        scores[name] = Score(
            float(fl.metrics.pooled_r2(test.decisions, predicted)),
            100.0 * float((test.cost_matrix * predicted).sum() / best - 1.0),
            float(off.mean()),
            seconds,
        )
    return scores, models


# %%
# With a ramp limit
# -----------------
# Where the plant is not what we say it is, the corridor suffers. The full run repeats the
# comparison for a plant whose power changes by at most 0.5 MW from hour to hour, which nobody tells
# the models.


class Results(NamedTuple):
    """Scores by plant and model, and the rows that were learned of the first plant."""

    scores: dict[str, dict[str, Score]]
    rows: Array


def days(
    quick: bool, seed: int = 0, ramp: float | None = None
) -> tuple[fl.Decisions, fl.Decisions]:
    """Return days of training and test days."""
    dates, data = cold_store.observe(seed, ramp)
    before, after = np.flatnonzero(dates < SPLIT), np.flatnonzero(dates >= SPLIT)
    return (data[before[-250:]], data[after[::9]]) if quick else (data[before], data[after])


def run(quick: bool = False, seed: int = 0) -> Results:
    """Print the tables; return what is in them."""
    plants: dict[str, float | None] = {"cold store": None}
    if not quick:
        plants["cold store with a ramp limit"] = 0.5
    scores, rows = {}, []
    for plant, ramp in plants.items():
        train, test = days(quick, seed, ramp)
        scores[plant], models = compare(train, test, quick)
        rows.append(rows_of(models[ROWS].model))
        print_table(
            f"{plant}: {len(train)} days of training, {len(test)} days from {SPLIT} on",
            ("", "R²", "cost", "must move", "fit"),
            [
                (name, f"{s.r2:.4f}", f"{s.cost:+.3f} %", f"{s.off:.3f} MWh", f"{s.seconds:.1f} s")
                for name, s in scores[plant].items()
            ],
        )
    return Results(scores, rows[0])


# %%
# What comes out
# --------------
# The corridor is close to exact, on few days already. The rows need more days, but nobody had to
# say what kind of plant it is: in the full run, with a year and a half, they come near. In
# :doc:`learned_region_in_a_market` both are put to use.


def draw(results: Results) -> Any:
    """Draw the learned rows, and how good predictions are."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10.0, 4.0), layout="constrained")
    rows, accuracy = figure.subplots(1, 2)
    order = np.argsort([np.abs(row) @ np.arange(HOURS) / np.abs(row).sum() for row in results.rows])
    image = rows.imshow(results.rows[order], cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    rows.set(title="rows learned with the name plate alone", xlabel="hour", ylabel="learned row")
    rows.set_xticks(range(0, HOURS, 6), [str(hour + 1) for hour in range(0, HOURS, 6)])
    rows.set_yticks([])
    figure.colorbar(image, ax=rows, label="coefficient of the hour")
    scores = next(iter(results.scores.values()))
    names = list(scores)[::-1]
    colors = ["C3" if name in (OURS, ROWS) else "0.6" for name in names]
    accuracy.barh(names, [max(scores[name].r2, 0.0) for name in names], color=colors)
    accuracy.set(title="days not seen", xlabel="pooled R²", xlim=(0, 1))
    return figure


if __name__ == "__main__":
    main("flexible_plant_under_prices", run, draw)
