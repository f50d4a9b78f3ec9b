"""
Blending with hidden recipes
============================

*Recover what a foundry must keep to from what it buys.*

A foundry blends an aluminium alloy from five bins of scrap, pure aluminium and silicon. Its buyer
sees the day's prices and the size of the order, and purchases at least cost. What the buyer keeps
to is the recipe: how much iron, copper, manganese and magnesium each material brings and how much
the alloy may hold, how much aluminium and silicon it must hold, and what lies in the bins. We see
prices, orders and purchases only, learn the feasible region from them, and compare its facets with
the recipe.

The numbers are those of the model ``plan`` that comes with the GNU Linear Programming Kit (GLPK,
``examples/plan.mod``), a blending problem of seven materials whose least cost is 296.217. Every day
the price of each material is that of the model times a number between 0.5 and 1.5, and the order is
between 90 % and 110 % of the model's 2000 pounds; the limits of the recipe grow with the order, the
bins do not.

It needs the extra ``plot``; ``--quick`` takes fewer days.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import feaslearn as fl
from example_tools import OURS, main, print_table, regressors, steps

# %%
# The hidden recipe
# -----------------
# None of what follows is shown to the models, except for its solutions.

MATERIALS = ("bin1", "bin2", "bin3", "bin4", "bin5", "aluminium", "silicon")
PRICES = np.array([0.03, 0.08, 0.17, 0.12, 0.15, 0.21, 0.38])
# What must be bought at least, and what there is at most, in pounds.
LOWER = np.array([0.0, 0.0, 400.0, 100.0, 0.0, 0.0, 0.0])
UPPER = np.array([200.0, 2500.0, 800.0, 700.0, 1500.0, np.inf, np.inf])
ORDER = 2000.0
# The share of each element in each material; the least and the most the alloy may hold in pounds.
RECIPE = {
    "iron": ([0.15, 0.04, 0.02, 0.04, 0.02, 0.01, 0.03], -np.inf, 60.0),
    "copper": ([0.03, 0.05, 0.08, 0.02, 0.06, 0.01, 0.0], -np.inf, 100.0),
    "manganese": ([0.02, 0.04, 0.01, 0.02, 0.02, 0.0, 0.0], -np.inf, 40.0),
    "magnesium": ([0.02, 0.03, 0.0, 0.0, 0.01, 0.0, 0.0], -np.inf, 30.0),
    "aluminium": ([0.70, 0.75, 0.80, 0.75, 0.80, 0.97, 0.0], 1500.0, np.inf),
    "silicon": ([0.02, 0.06, 0.08, 0.12, 0.02, 0.01, 0.97], 250.0, 300.0),
}
BINDS = 1e-6  # a row binds within this share of its limit
ALWAYS = 0.99  # and is as good as an equality if it does on this share of the days
SAME = 1.0  # a facet at a smaller angle, in degrees, is the row


def foundry() -> fl.datasets.LinearProgram:
    """Return the foundry's problem; its signals are seven prices and the size of the order."""
    rows = np.vstack([np.ones(7), *(shares for shares, _, _ in RECIPE.values())])

    def limits(which: int) -> fl.datasets.AffineRows:
        values = np.array([ORDER, *(row[which] for row in RECIPE.values())])
        has_limit = np.isfinite(values)
        slope = np.zeros((len(values), 8))
        slope[has_limit, 7] = values[has_limit] / ORDER
        return fl.datasets.AffineRows(np.where(has_limit, 0.0, values), slope)

    return fl.datasets.LinearProgram(rows, limits(1), limits(2), LOWER, UPPER, n_decisions=7)


def observe(n_days: int, seed: int = 0) -> fl.Decisions:
    """Return the purchases of some days."""
    random = np.random.default_rng(seed)
    prices = PRICES * random.uniform(0.5, 1.5, (n_days, 7))
    signals = np.column_stack([prices, ORDER * random.uniform(0.9, 1.1, n_days)])
    problem = foundry()
    names = ([*(f"price_{name}" for name in MATERIALS), "order"], MATERIALS)
    return fl.Decisions.from_arrays(
        signals, problem.solve(signals, prices), list(range(7)), names=names, forward=problem
    )


# %%
# What is measured
# ----------------
# How good predicted purchases are, and which rows of the recipe can be read off the learned facets.
# A row that never binds leaves no trace in any purchase, so rows are listed by the days they bind.


class Score(NamedTuple):
    """R² pooled over the materials, and in percent the mean cost above the optimum and the mean
    amount that must be exchanged before a purchase keeps to the recipe (of the order).
    """

    r2: float
    cost: float
    off: float


class Results(NamedTuple):
    """The scores of each number of days, and the recovered rows of the most days.

    ``angles`` has the angle in degrees between each row of the recipe that binds on some training
    days and the learned facet that is nearest to it; ``binds`` the number of these days.
    """

    scores: dict[int, dict[str, Score]]
    angles: dict[str, float]
    binds: dict[str, int]


def score(data: fl.Decisions, predicted: np.ndarray) -> Score:
    """Compare predicted purchases with the foundry's."""
    best = (data.cost_matrix * data.decisions).sum(axis=1)
    off = data.forward.distance_to_feasible(predicted, data.signals)
    return Score(
        float(fl.metrics.pooled_r2(data.decisions, predicted)),
        100.0 * float(np.mean((data.cost_matrix * predicted).sum(axis=1) / best - 1.0)),
        100.0 * float(np.mean(off / data.signals[:, 7])),
    )


def binding_rows(data: fl.Decisions) -> dict[str, tuple[np.ndarray, int]]:
    """Return the rows ``a'x <= b`` of the recipe that bind, and on how many days each does."""
    orders = data.signals[:, 7] / ORDER
    found = {}
    for name, (shares, least, most) in RECIPE.items():
        amounts = data.decisions @ np.array(shares)
        for side, limit, sign in (("at least", least, -1.0), ("at most", most, 1.0)):
            if np.isfinite(limit):
                days = int((np.abs(amounts / (limit * orders) - 1.0) < BINDS).sum())
                if days:
                    found[f"{name} {side}"] = (sign * np.array(shares), days)
    return found


def compare_rows(model: fl.RegionRegressor, data: fl.Decisions) -> dict[str, tuple[float, int]]:
    """Return, for each row that binds on some days, the angle of the nearest facet and the days.

    Purchases always sum to the order, and a row that binds on nearly all days is an equality as
    well. The others are known up to multiples of the equalities: facets are given orthogonal to
    them, and the rows of the recipe are made so.
    """
    rows = binding_rows(data)
    enough = ALWAYS * len(data)
    always = [normal for normal, days in rows.values() if days >= enough]
    equalities = np.linalg.qr(np.column_stack([np.ones(7), *always]))[0]
    normals = np.array([facet.normal for facet in model.facets_])
    found = {}
    for name, (normal, days) in rows.items():
        if days < enough:
            rest = normal - equalities @ (equalities.T @ normal)
            cosine = float((normals @ rest).max() / np.linalg.norm(rest))
            found[name] = (float(np.degrees(np.arccos(min(cosine, 1.0)))), days)
    return found


# %%
# Fit and compare
# ---------------
# The regressors are those of scikit-learn, tuned by 5-fold cross-validation on the same days.


def run(quick: bool = False) -> Results:
    """Print the scores and the rows that were recovered; return both."""
    sizes = (60, 150) if quick else (50, 150, 500)
    test = observe(100 if quick else 500, seed=1)
    scores = {n_days: compare(observe(n_days), test, quick) for n_days in sizes}
    # The rows of one region can be read; the default may have chosen another kind.
    train = observe(sizes[-1])
    facets = fl.RegionRegressor(fl.Facets(), cost=train.cost, random_state=0)
    facets.fit(train.signals, train.decisions)
    rows = compare_rows(facets, train)
    print_table(
        f"rows of the recipe, {len(train)} days",
        ("", "binds on", "nearest facet", ""),
        [
            (name, f"{days} days", f"{angle:.2f}°", "recovered" if angle < SAME else "")
            for name, (angle, days) in sorted(rows.items(), key=lambda item: -item[1][1])
        ],
    )
    angles = {name: angle for name, (angle, _) in rows.items()}
    return Results(scores, angles, {name: days for name, (_, days) in rows.items()})


def compare(train: fl.Decisions, test: fl.Decisions, quick: bool) -> dict[str, Score]:
    """Fit all models to the same days; print and return their scores."""
    hypothesis = fl.Facets() if quick else None
    ours = fl.RegionRegressor(hypothesis, cost=train.cost, random_state=0)
    models = {OURS: ours, **regressors(train.signals.shape[1], quick)}
    scores = {}
    for name in steps(list(models), f"{len(train)} days"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # widths at the ends of their range
            models[name].fit(train.signals, train.decisions)
        scores[name] = score(test, models[name].predict(test.signals))
    print_table(
        f"{len(train)} days",
        ("", "R²", "cost", "exchanged"),
        [
            (name, f"{each.r2:.4f}", f"{each.cost:+.3f} %", f"{each.off:.3f} %")
            for name, each in scores.items()
        ],
    )
    return scores


# %%
# What comes out
# --------------
# Silicon is dear, so that its least amount binds on nearly every day and is learned as an equality.
# Iron, manganese and aluminium bind often, and their rows come out to the last digit. Copper binds
# on one day in fourteen, and then bin 5 is nearly always empty: what copper there is in bin 5 can
# hardly be seen in the purchases, and the row stays open. Magnesium never binds.


def draw(results: Results) -> Any:
    """Draw the error by the number of days, and how well each row was found."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9.0, 3.8), layout="constrained")
    errors, rows = figure.subplots(1, 2)
    days = list(results.scores)
    for name in results.scores[days[0]]:
        color = {"color": "C3", "lw": 2.5} if name == OURS else {}
        unexplained = [max(1.0 - results.scores[n][name].r2, 1e-8) for n in days]
        errors.plot(days, unexplained, "o-", label=name, **color)
    errors.set(yscale="log", xlabel="days observed", ylabel="1 - pooled R²")
    errors.legend(fontsize=8)
    # The rows that bind most often first; an angle of zero is drawn as very little.
    often = sorted(results.angles, key=lambda name: results.binds[name])
    labels = [f"{name}\n({results.binds[name]} days)" for name in often]
    rows.barh(labels, [max(results.angles[name], 1e-4) for name in often], color="C3")
    rows.set(xscale="log", xlim=(1e-5, 180.0), xlabel="angle to the nearest facet (degrees)")
    rows.set_title("rows of the recipe (days on which they bind)", fontsize=9)
    return figure


if __name__ == "__main__":
    main("blending_with_hidden_recipes", run, draw)
