"""The data sets and the methods that the tables compare, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import feaslearn as fl
from benchmarks.common.regressors import tuned_regressors
from experiments.frame.models import (
    CORRECTED,
    algorithm_2,
    fit_and_measure,
    learned_losses,
    ours,
    predictions,
    problem,
    returned_loss,
)
from feaslearn import paper

DATASETS: dict[str, Callable[..., paper.Data]] = {
    "power5": paper.datasets.make_power5,
    "ieee14": paper.datasets.make_ieee14,
    "power5, lines of 1.6": partial(paper.datasets.make_power5, line_capacity=1.6),
    "ieee14, lines of 1.8": partial(paper.datasets.make_ieee14, line_capacity=1.8),
    "l1 ball, n=5": paper.datasets.make_l1_ball,
    "l1 ball, n=2": partial(paper.datasets.make_l1_ball, n=2, low=-1.0),
    "ellipsoid": partial(paper.datasets.make_ellipsoid, n=2),
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


#: What this library learns by its defaults, from the dimension p.
OURS: dict[str, Callable[[Any], Any]] = {
    "annealing": lambda p: fl.Affine(fl.Simplex(p)),
    "annealing, ball": lambda p: fl.Affine(fl.L2Ball(p)),
    "minkowski": lambda _: fl.Minkowski("auto"),
    "facets": lambda _: fl.Facets(),
    "balance and box": lambda _: fl.Facets(max_facets=0),
    "default": lambda _: None,
}


def fit(
    method: str,
    train: paper.Data,
    seed: int,
    *,
    convention: str = CORRECTED,
    loss: str = "predictability",
    p: int | str = 3,
    max_iter: int = 500,
    epsilon: float = 1.0,
    seconds: float = 60.0,
) -> Any:
    """Fit a method.

    Parameters
    ----------
    method : str
        Its name.
    train : Data
        What it learns from.
    seed : int
        The seed of the method.
    convention, loss : str
        How a region of the paper is trained.
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
    model
        The fitted model, as `Fit` returns it.
    """
    if method in REGRESSORS:
        model = tuned_regressors(train.signals.shape[1])[method]().set_params(n_jobs=1)
        return model.fit(train.signals, train.decisions)
    if method in OURS:
        return ours(OURS[method](p), train, seed)
    if method == "linear policy":
        return paper.baselines.linear_policy(train)
    if method == "k-means":
        return paper.baselines.nearest_vertices(train, p, seed)
    if method == "convex, simplex":
        return paper.convex(problem(paper.Scaled(fl.Simplex(p)), train, convention, loss))
    if method == "convex, l1 ball":
        return paper.convex(problem(paper.Scaled(fl.L1Ball(p)), train, convention, loss))
    if method == "mixed-integer":
        binary = paper.Affine(fl.Simplex(p, binary=True))
        posed = problem(binary, train, convention, loss)
        return paper.mixed_integer(posed, max_seconds=seconds, seed=seed)
    Z = fl.L2Ball(p) if method == "algorithm 2, ball" else fl.Simplex(p)
    posed = problem(paper.Affine(Z), train, convention, loss)
    if method == "global":
        return paper.bilinear(posed, max_seconds=seconds, seed=seed)
    if method == "algorithm 1":
        return paper.algorithm1(posed, n_starts=1, max_iter=max_iter, seed=seed)
    options: dict[str, Any] = {"max_iter": max_iter, "epsilon": epsilon, "seed": seed}
    if method == "algorithm 2, printed":
        options |= {"printed": True, "weighted": convention == CORRECTED}
    elif method not in ("algorithm 2", "algorithm 2, ball"):
        raise ValueError(f"no method is called {method!r}")
    return algorithm_2(posed, convention, **options)


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
        Further arguments of `fit`.

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
    model, values = fit_and_measure(lambda rows: fit(method, rows, seed, **options), train, test)
    return {**values, "validation": returned_loss(model, further)}


#: The functions whose code decides what `measure` returns.
HELPERS = (
    fit,
    fit_and_measure,
    learned_losses,
    ours,
    predictions,
    returned_loss,
    problem,
    algorithm_2,
)
