"""The data sets and the methods that the tables compare, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import feaslearn as fl
from benchmarks.common.regressors import tuned_regressors
from experiments.frame.models import CORRECTED, algorithm_2, fit_and_measure, region_model
from experiments.frame.printed_smoothing import PrintedSmoothing
from feaslearn import baselines, datasets, trainers

DATASETS: dict[str, Callable[..., fl.Decisions]] = {
    "power5": datasets.make_power5,
    "ieee14": datasets.make_ieee14,
    "power5, lines of 1.6": partial(datasets.make_power5, line_capacity=1.6),
    "ieee14, lines of 1.8": partial(datasets.make_ieee14, line_capacity=1.8),
    "l1 ball, n=5": datasets.make_l1_ball,
    "l1 ball, n=2": partial(datasets.make_l1_ball, n=2, low=-1.0),
    "ellipsoid": partial(datasets.make_ellipsoid, n=2),
}
#: Rows that neither a fit nor a table sees: on them, a best row is chosen.
N_VALIDATION = 200
#: Regressors of scikit-learn, each tuned by its own cross-validation.
REGRESSORS = (
    "ridge",
    "random forest",
    "extra trees",
    "gradient boosting",
    "nearest neighbours",
    "MLP",
    "Gaussian process",
)


def build(
    method: str,
    data: fl.Decisions,
    seed: int,
    *,
    convention: str = CORRECTED,
    loss: str = "predictability",
    p: int | str = 3,
    max_iter: int = 500,
    epsilon: float = 1.0,
    seconds: float = 60.0,
) -> Any:
    """Return a model of a method, not fitted.

    Parameters
    ----------
    method : str
        Its name.
    data : Decisions
        What it will see: the cost and the number of signals are read from it.
    seed : int
        The seed of the method.
    convention, loss : str
        How a region is trained.
    p : int or "auto"
        Dimension of the primitive set.
    max_iter : int
        Iterations of Algorithms 1 and 2.
    epsilon : float
        First weight of the slacks in Algorithm 2.
    seconds : float
        Time limit of a solver.

    Returns
    -------
    regressor
        The model.
    """
    if method in REGRESSORS:
        return tuned_regressors(data.signals.shape[1])[method]().set_params(n_jobs=1)
    if method == "linear policy":
        return baselines.LinearPolicy()
    if method == "k-means":
        return baselines.NearestVertices(p, data.cost, random_state=seed)
    affine = fl.Affine(fl.Simplex(p))
    parts: dict[str, tuple[Any, Any]] = {
        "algorithm 1": (affine, trainers.GradientDescent(max_iter=max_iter, n_starts=1)),
        "algorithm 2": (affine, algorithm_2(convention, max_iter, epsilon)),
        "algorithm 2, printed": (affine, PrintedSmoothing(max_iter, convention == CORRECTED)),
        "algorithm 2, ball": (fl.Affine(fl.L2Ball(p)), algorithm_2(convention, max_iter)),
        "annealing, ball": (fl.Affine(fl.L2Ball(p)), trainers.Annealing()),
        "convex, simplex": (fl.Scaled(fl.Simplex(p)), "auto"),
        "convex, l1 ball": (fl.Scaled(fl.L1Ball(p)), "auto"),
        "global": (affine, trainers.Global(max_seconds=seconds)),
        "annealing": (affine, trainers.Annealing()),
        "minkowski": (fl.Minkowski("auto"), "auto"),
        "facets": (fl.Facets(), "auto"),
        "balance and box": (fl.Facets(max_facets=0), "auto"),
        "default": (None, "auto"),
    }
    if method == "mixed-integer":
        binary = fl.Affine(fl.Simplex(p, binary=True))
        parts[method] = (binary, trainers.MixedInteger(max_seconds=seconds))
    hypothesis, trainer = parts[method]
    return region_model(hypothesis, data, convention, loss, trainer, seed)


def measure(
    seed: int,
    *,
    data: str,
    n_train: int,
    n_test: int,
    method: str,
    noise: float = 0.0,
    signal_noise: float = 0.0,
    **options: Any,
) -> dict[str, Any]:
    """Draw a data set, fit a method to its first rows and measure it on others.

    Parameters
    ----------
    seed : int
        The seed of the data and of the method.
    data, method : str
        Their names.
    n_train, n_test : int
        How many rows.
    noise, signal_noise : float
        Standard deviation of the noise on decisions and on signals, test rows included.
    **options
        Further arguments of `build`.

    Returns
    -------
    dict
        What `fit_and_measure` says, and the loss of the returned decisions on further rows.
    """
    make = DATASETS[data]
    extra = {"signal_noise": signal_noise} if signal_noise else {}
    seen = n_train + n_test
    drawn = make(seen + N_VALIDATION, noise=noise, random_state=seed, **extra)
    train, test, further = drawn[:n_train], drawn[n_train:seen], drawn[seen:]
    model = build(method, drawn, seed, **options)
    values = fit_and_measure(model, train, test)
    return {**values, "validation": fl.evaluate(model, further).returned.mean}


#: The functions whose code decides what `measure` returns.
HELPERS = (build, fit_and_measure, region_model, algorithm_2)
