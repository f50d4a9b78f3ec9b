"""Dispatch behind a congested grid: learn what a grid allows from what it was seen to do.

An operator dispatches generators at least cost. We see the price of every generator, the load of
eight zones and the dispatch of some hundred past hours, and nothing of the grid: neither lines nor
limits. From these we learn the feasible region, and predict the dispatch of other days under other
prices. The grids are the 39-bus and the 118-bus case of PGLib-OPF in the variant "api", whose loads
are so high that lines bind; the loads follow the eight weather zones of ERCOT in 2024, hour by hour
(``data/README.md``); the price of each generator is that of the case times a number between 0.7 and
1.3, drawn anew for every hour. Every fourth day is for testing, and no hour of it is trained on.

Beside the learned region stand seven regressors of scikit-learn, each tuned by 5-fold
cross-validation on the same training hours, and the dispatch that would be cheapest if there were
no lines at all. Costs are compared with the true optimum of each hour, and "MW off" says how much
power has to move before the grid can carry a predicted dispatch, in percent of the load: a dispatch
that costs less than the optimum is always one that the grid cannot carry.

Run ``python examples/dispatch_behind_a_congested_grid.py`` (about ten minutes on an idle processor;
``--quick`` takes seconds and shows the same on fewer hours and fewer models). It needs the extras
``cases`` and ``plot``.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import feaslearn as fl

HERE = Path(__file__).parent
CASES = ("case39_epri", "case118_ieee")
SIZES = (200, 1000)
OURS, NO_LINES = "learned region", "as if without lines"


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


def observe(case: str, n_train: int, n_test: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return a grid, and what was seen of it on training days and on test days."""
    shares = np.loadtxt(HERE / "data" / "ercot_zone_loads.csv", delimiter=",", skiprows=1)
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


def regressors(n_signals: int, quick: bool) -> dict[str, Any]:
    """Return tuned regressors of scikit-learn; in quick mode those that are tuned in a second."""
    kernel = RBF(np.ones(n_signals)) + WhiteKernel(1e-2)
    trees = {"min_samples_leaf": [1, 3], "max_features": [0.3, 1.0]}
    grids: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "ridge": (Ridge(), {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0]}),
        "nearest neighbours": (
            KNeighborsRegressor(),
            {"n_neighbors": [3, 5, 10, 20], "weights": ["uniform", "distance"]},
        ),
    }
    if not quick:
        grids |= {
            "random forest": (RandomForestRegressor(random_state=0), trees),
            "extra trees": (ExtraTreesRegressor(random_state=0), trees),
            "gradient boosting": (
                MultiOutputRegressor(GradientBoostingRegressor(random_state=0)),
                {"estimator__max_depth": [2, 3]},
            ),
            "neural network": (
                MLPRegressor(max_iter=2000, early_stopping=True, random_state=0),
                {"hidden_layer_sizes": [(64,), (128, 64)], "alpha": [1e-4, 1e-2]},
            ),
            "Gaussian process": (
                GaussianProcessRegressor(kernel, normalize_y=True, random_state=0),
                {"alpha": [1e-10]},  # the kernel has a noise of its own, which is fitted
            ),
        }
    searches = {}
    for name, (estimator, grid) in grids.items():
        pipeline = make_pipeline(StandardScaler(), estimator)
        step = pipeline.steps[-1][0]
        searches[name] = GridSearchCV(pipeline, {f"{step}__{key}": grid[key] for key in grid}, cv=5)
    return searches


def without_lines(grid: Any, data: Any) -> np.ndarray:
    """Return the dispatch that would be cheapest if the lines did not matter."""
    total = data.decisions.sum(axis=1)
    balance = fl.problem.AffineRows([0.0], [[1.0]])
    n = len(grid.generators)
    program = fl.problem.LinearProgram(
        np.ones((1, n)), balance, balance, grid.lower, grid.upper, n_decisions=n
    )
    return program.solve(total[:, None], data.cost_matrix)


def score(data: Any, predicted: np.ndarray, seconds: float) -> Score:
    """Compare predictions with the true problem."""
    load = data.decisions.sum(axis=1)
    best = (data.cost_matrix * data.decisions).sum(axis=1)
    off = data.forward.distance_to_feasible(predicted, data.signals, norm="l1") / load
    return Score(
        r2=float(fl.metrics.pooled_r2(data.decisions, predicted)),
        cost=100.0 * float(np.mean((data.cost_matrix * predicted).sum(axis=1) / best - 1.0)),
        off=100.0 * float(off.mean()),
        carried=float(np.mean(off < 1e-3)),
        seconds=seconds,
    )


def compare(case: str, n_train: int, n_test: int, quick: bool) -> dict[str, Score]:
    """Fit all models on the same hours; return their scores on the test hours."""
    grid, train, test = observe(case, n_train, n_test)
    # By default the hypothesis is chosen by cross-validation; one of its members is quicker.
    hypothesis = fl.Facets() if quick else None
    ours = fl.RegionRegressor(hypothesis, cost=train.cost, random_state=0)
    scores = {}
    for name, model in {OURS: ours, **regressors(train.signals.shape[1], quick)}.items():
        with warnings.catch_warnings():
            # Kernel widths at the ends of their range and signals unlike all that were seen.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
            began = time.process_time()
            model.fit(train.signals, train.decisions)
            seconds = time.process_time() - began
            scores[name] = score(test, model.predict(test.signals), seconds)
        print(line(name, scores[name]), flush=True)
    scores[NO_LINES] = score(test, without_lines(grid, test), 0.0)
    print(line(NO_LINES, scores[NO_LINES]), flush=True)
    return scores


def line(name: str, result: Score) -> str:
    """Return one line of the table."""
    return (
        f"  {name:<20}{result.r2:8.4f}{result.cost:+9.3f} %{result.off:8.2f} %"
        f"{100.0 * result.carried:8.0f} %{result.seconds:8.1f} s"
    )


def run(
    quick: bool = False, cases: tuple[str, ...] = CASES, sizes: tuple[int, ...] = SIZES
) -> dict[tuple[str, int], dict[str, Score]]:
    """Print the tables; return the scores of each grid and number of training hours."""
    results = {}
    for case in cases:
        for n_train in (100,) if quick else sizes:
            print(f"\n{case} (api), {n_train} training hours")
            print(f"  {'':<20}{'R²':>8}{'cost':>11}{'MW off':>10}{'carried':>10}{'fit':>10}")
            results[case, n_train] = compare(case, n_train, 40 if quick else 500, quick)
    return results


def draw(results: dict[tuple[str, int], dict[str, Score]], path: Path) -> None:
    """Draw R² and the power that must move: one column for each grid and number of hours."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 2.6 * len(results), 5.0), layout="constrained")
    panels = figure.subplots(2, len(results), sharex="row", sharey=True, squeeze=False)
    for column, ((case, n_train), scores) in enumerate(results.items()):
        names = list(scores)[::-1]
        colors = ["C3" if name == OURS else "0.6" for name in names]
        accuracy, power = panels[:, column]
        # What is worse than the mean of the data is drawn as zero, and no power as very little.
        accuracy.barh(names, [max(scores[name].r2, 0.0) for name in names], color=colors)
        power.barh(names, [max(scores[name].off, 1e-3) for name in names], color=colors)
        accuracy.set(title=f"{case}\n{n_train} hours", xlabel="pooled R² on test days", xlim=(0, 1))
        power.set(xlabel="power that must move\n(% of load)", xscale="log")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the tables and write the picture beside this file."""
    results = run("--quick" in sys.argv[1:])
    path = HERE / "pictures" / "dispatch_behind_a_congested_grid.png"
    path.parent.mkdir(exist_ok=True)
    draw(results, path)
    print(f"\npicture: {path}")


if __name__ == "__main__":
    main()
