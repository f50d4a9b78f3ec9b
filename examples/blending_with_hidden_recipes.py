"""Blending with hidden recipes: recover what a foundry must keep to from what it buys.

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

What to expect: silicon is dear, so that its least amount binds on nearly every day and is learned
as an equality. Iron, manganese and aluminium bind often, and their rows come out to the last digit.
Copper binds on one day in fourteen, and then bin 5 is nearly always empty: what copper there is in
bin 5 can hardly be seen in the purchases, and the row stays open. Magnesium never binds.

Run ``python examples/blending_with_hidden_recipes.py`` (``--quick`` for fewer days). It needs the
extra ``plot``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import feaslearn as fl

HERE = Path(__file__).parent
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
OURS = "learned region"


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


def foundry() -> fl.problem.LinearProgram:
    """Return the foundry's problem; its signals are seven prices and the size of the order."""
    rows = np.vstack([np.ones(7), *(shares for shares, _, _ in RECIPE.values())])

    def limits(which: int) -> fl.problem.AffineRows:
        values = np.array([ORDER, *(row[which] for row in RECIPE.values())])
        has_limit = np.isfinite(values)
        slope = np.zeros((len(values), 8))
        slope[has_limit, 7] = values[has_limit] / ORDER
        return fl.problem.AffineRows(np.where(has_limit, 0.0, values), slope)

    return fl.problem.LinearProgram(rows, limits(1), limits(2), LOWER, UPPER, n_decisions=7)


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


def models(quick: bool) -> dict[str, Any]:
    """Return the model of this package and tuned regressors of scikit-learn."""
    hypothesis = fl.Facets() if quick else None
    tuned = {
        "ridge": (Ridge(), {"ridge__alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0]}),
        "nearest neighbours": (
            KNeighborsRegressor(weights="distance"),
            {"kneighborsregressor__n_neighbors": [3, 5, 10]},
        ),
        "random forest": (
            RandomForestRegressor(n_estimators=30 if quick else 100, random_state=0),
            {"randomforestregressor__max_features": [0.3, 1.0]},
        ),
    }
    return {
        OURS: fl.RegionRegressor(hypothesis, cost=list(range(7)), random_state=0),
        **{
            name: GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=5)
            for name, (model, grid) in tuned.items()
        },
    }


def score(data: fl.Decisions, predicted: np.ndarray) -> Score:
    """Compare predicted purchases with the foundry's."""
    best = (data.cost_matrix * data.decisions).sum(axis=1)
    off = data.forward.distance_to_feasible(predicted, data.signals, norm="l1")
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


def run(quick: bool = False) -> Results:
    """Print the scores and the rows that were recovered; return both."""
    sizes = (60, 150) if quick else (50, 150, 500)
    test = observe(100 if quick else 500, seed=1)
    scores: dict[int, dict[str, Score]] = {}
    for n_days in sizes:
        train = observe(n_days)
        print(f"\n{n_days} days{'R²':>22}{'cost':>12}{'exchanged':>12}")
        scores[n_days] = {}
        for name, model in models(quick).items():
            model.fit(train.signals, train.decisions)
            result = scores[n_days][name] = score(test, model.predict(test.signals))
            print(f"  {name:<20}{result.r2:9.4f}{result.cost:+10.3f} %{result.off:10.3f} %")
    # The rows of one region can be read; the default may have chosen a blend of several.
    facets = fl.RegionRegressor(fl.Facets(), cost=train.cost, random_state=0)
    facets.fit(train.signals, train.decisions)
    rows = compare_rows(facets, train)
    print(f"\nrow of the recipe     binds on   nearest facet, {len(train)} days")
    for name, (angle, days) in sorted(rows.items(), key=lambda item: -item[1][1]):
        verdict = "recovered" if angle < SAME else ""
        print(f"  {name:<20}{days:>5} days{angle:>10.2f}° {verdict}")
    angles = {name: angle for name, (angle, _) in rows.items()}
    return Results(scores, angles, {name: days for name, (_, days) in rows.items()})


def draw(results: Results, path: Path) -> None:
    """Draw the error by the number of days, and the angles of the rows by the days they bind."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    errors, rows = figure.subplots(1, 2)
    days = list(results.scores)
    for name in results.scores[days[0]]:
        color = {"color": "C3", "lw": 2.5} if name == OURS else {}
        unexplained = [max(1.0 - results.scores[n][name].r2, 1e-8) for n in days]
        errors.plot(days, unexplained, "o-", label=name, **color)
    errors.set(xscale="log", yscale="log", xlabel="days observed", ylabel="1 - pooled R²")
    errors.legend(fontsize=8)
    rows.scatter(
        [results.binds[name] for name in results.angles],
        [max(angle, 1e-4) for angle in results.angles.values()],
        color="C3",
    )
    for name, angle in results.angles.items():
        place = (results.binds[name], max(angle, 1e-4))
        rows.annotate(name, place, (4, 4), textcoords="offset points", fontsize=8)
    rows.set(
        xscale="log",
        yscale="log",
        xlabel="days on which the row binds",
        ylabel="angle to the nearest facet (degrees)",
    )
    rows.margins(0.2)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print everything and write the picture."""
    results = run("--quick" in sys.argv[1:])
    path = HERE / "pictures" / "blending_with_hidden_recipes.png"
    path.parent.mkdir(exist_ok=True)
    draw(results, path)
    print(f"\npicture: {path}")


if __name__ == "__main__":
    main()
