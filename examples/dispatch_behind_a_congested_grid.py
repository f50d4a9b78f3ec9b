"""
Dispatch behind a congested grid
================================

*Learn what a grid allows from what it was seen to do.*

An operator dispatches generators at least cost. We see the price of every generator, the load of
eight zones and the dispatch of some hundred past hours, and nothing of the grid: neither lines nor
limits. From these we learn the feasible region, and predict the dispatch of other days under other
prices.

The grids are the 39-bus and the 118-bus case of PGLib-OPF in the variant "api", whose loads are so
high that lines bind. The loads follow the eight weather zones of ERCOT in 2024, hour by hour
(``data/SOURCES.md``); the price of each generator is that of the case times a number between 0.7
and 1.3, drawn anew for every hour. Every fourth day is for testing: no hour of it is trained on.

The full run takes most of an hour on an idle processor, mostly for tuning the regressors it is
compared with; ``--quick`` takes seconds and shows the same on fewer hours and fewer models. It
needs the extras ``cases`` and ``plot``.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import feaslearn as fl
from example_tools import DATA, OURS, main, print_table, regressors, steps

CASES = ("case39_epri", "case118_ieee")
SIZES = (200, 1000)
NO_LINES = "as if without lines"

# %%
# What is observed
# ----------------
# ``make_dcopf`` solves the linear (DC) optimal power flow of each hour and returns what an outsider
# sees: prices and zone loads as signals, the power of each generator as decisions.


def observe(case: str, n_train: int, n_test: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return a grid, and what was seen of it on training days and on test days."""
    shares = np.loadtxt(DATA / "ercot_zone_loads.csv", delimiter=",", skiprows=1)
    is_test = np.arange(len(shares)) // 24 % 4 == 3
    random = np.random.default_rng(seed)
    train = random.permutation(np.flatnonzero(~is_test))[:n_train]
    test = random.permutation(np.flatnonzero(is_test))[:n_test]
    grid = fl.datasets.DcGrid(case, variant="api")
    zone = (grid.buses - 1) % 8
    highest = np.bincount(zone, weights=grid.loads, minlength=8)
    has_load = highest > 0.0  # the 39-bus grid has no load in the sixth zone
    loads = (shares * highest)[np.concatenate([train, test])][:, has_load]
    data = fl.datasets.make_dcopf(grid, loads=loads, zones=8, random_state=seed)
    return grid, data[:n_train], data[n_train:]


# %%
# What is measured
# ----------------
# Beside the learned region stand regressors of scikit-learn, each tuned by 5-fold cross-validation
# on the same training hours, and the dispatch that would be cheapest if there were no lines at all.
# A prediction that costs less than the true optimum is one that the grid cannot carry, so that cost
# alone says little; "must move" is the power that has to be shifted between generators before the
# grid can carry it.


class Score(NamedTuple):
    """How the predictions of a model on the test hours are.

    ``r2`` is pooled over all generators; ``cost`` is the mean cost above the optimum and ``off``
    the mean power that must move before the grid can carry the dispatch, both in percent (of the
    optimal cost, of the load); ``carried`` is the share of hours in which that is less than 0.1 %;
    ``seconds`` is the processor time of the fit, with the tuning.
    """

    r2: float
    cost: float
    off: float
    carried: float
    seconds: float


def score(data: Any, predicted: np.ndarray, seconds: float) -> Score:
    """Compare predictions with the true problem."""
    load = data.decisions.sum(axis=1)
    best = (data.cost_matrix * data.decisions).sum(axis=1)
    off = data.forward.distance_to_feasible(predicted, data.signals) / load
    return Score(
        r2=float(fl.metrics.pooled_r2(data.decisions, predicted)),
        cost=100.0 * float(np.mean((data.cost_matrix * predicted).sum(axis=1) / best - 1.0)),
        off=100.0 * float(off.mean()),
        carried=float(np.mean(off < 1e-3)),
        seconds=seconds,
    )


def without_lines(grid: Any, data: Any) -> np.ndarray:
    """Return the dispatch that would be cheapest if the lines did not matter."""
    total = data.decisions.sum(axis=1)
    balance = fl.datasets.AffineRows([0.0], [[1.0]])
    n = len(grid.generators)
    program = fl.datasets.LinearProgram(
        np.ones((1, n)), balance, balance, grid.lower, grid.upper, n_decisions=n
    )
    return program.solve(total[:, None], data.cost_matrix)


# %%
# Fit and compare
# ---------------
# One line fits the learned region: ``RegionRegressor(cost=...)`` chooses its hypothesis by
# cross-validation. Quick mode takes one of the candidates, facets, which is quicker.


def compare(case: str, n_train: int, n_test: int, quick: bool, seed: int = 0) -> dict[str, Score]:
    """Fit all models on the same hours; return their scores on the test hours."""
    grid, train, test = observe(case, n_train, n_test, seed)
    hypothesis = fl.Facets() if quick else None
    ours = fl.RegionRegressor(hypothesis, cost=train.cost, random_state=seed)
    models = {OURS: ours, **regressors(train.signals.shape[1], quick)}
    scores = {}
    for name in steps(list(models), f"{case}, {n_train} hours"):
        with warnings.catch_warnings():
            # Kernel widths at the ends of their range and signals unlike all that were seen.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
            began = time.process_time()
            models[name].fit(train.signals, train.decisions)
            seconds = time.process_time() - began
            scores[name] = score(test, models[name].predict(test.signals), seconds)
    scores[NO_LINES] = score(test, without_lines(grid, test), 0.0)
    return scores


def run(
    quick: bool = False, cases: tuple[str, ...] = CASES, sizes: tuple[int, ...] = SIZES
) -> dict[tuple[str, int], dict[str, Score]]:
    """Print the tables; return the scores of each grid and number of training hours."""
    results = {}
    for case in cases:
        for n_train in sizes[:1] if quick else sizes:
            scores = compare(case, n_train, 40 if quick else 500, quick)
            results[case, n_train] = scores
            print_table(
                f"{case} (api), {n_train} training hours",
                ("", "R²", "cost", "must move", "carried", "fit"),
                [
                    (
                        name,
                        f"{each.r2:.4f}",
                        f"{each.cost:+.3f} %",
                        f"{each.off:.2f} %",
                        f"{100.0 * each.carried:.0f} %",
                        f"{each.seconds:.1f} s",
                    )
                    for name, each in scores.items()
                ],
            )
    return results


# %%
# What comes out
# --------------
# On 200 hours the learned region is far ahead in both respects, and what would be cheapest without
# lines is far off: the lines decide. ``examples/README.md`` has the full run. With 100 hours it is
# still ahead in R², but at 118 buses as much power must move as with the regressors.


def draw(results: dict[tuple[str, int], dict[str, Score]]) -> Any:
    """Draw R² and the power that must move: one column for each grid and number of hours."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    figure = plt.figure(figsize=(2.0 + 2.6 * len(results), 5.0), layout="constrained")
    panels = figure.subplots(2, len(results), sharex="row", sharey=True, squeeze=False)
    for column, ((case, n_train), scores) in enumerate(results.items()):
        names = list(scores)[::-1]
        colors = ["C3" if name == OURS else "0.6" for name in names]
        accuracy, power = panels[:, column]
        # What is worse than the mean of the data is drawn as zero, and no power as very little.
        accuracy.barh(names, [max(scores[name].r2, 0.0) for name in names], color=colors)
        power.barh(names, [max(scores[name].off, 1e-3) for name in names], color=colors)
        accuracy.set(title=f"{case}\n{n_train} hours", xlabel="pooled R² on test days", xlim=(0, 1))
        power.set(xlabel="power that must move\n(% of load)", xscale="log", xlim=(1e-3, 1e2))
        power.xaxis.set_minor_formatter(NullFormatter())
    return figure


if __name__ == "__main__":
    main("dispatch_behind_a_congested_grid", run, draw)
