"""The two conventions that every table prints, and how a method is fitted and measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import feaslearn as fl
from feaslearn import paper

PUBLISHED, CORRECTED = "as published", "corrected"
CONVENTIONS = (PUBLISHED, CORRECTED)
LOSSES = ("predictability", "suboptimality")

#: What a table shows, in the order of the paper's columns.
COLUMNS = {
    "train": "train",
    "predictability": "ℓp_θ",
    "true_predictability": "ℓp",
    "suboptimality": "ℓsub_θ",
    "true_suboptimality": "ℓsub",
    "returned": "returned decision",
    "seconds": "seconds",
}

#: From training data to a fitted model: a `paper.Found`, a `fl.RegionRegressor`, a policy of
#: `paper.baselines` or a regressor of scikit-learn.
Fit = Callable[[paper.Data], Any]


def problem(
    region: Any, data: paper.Data, convention: str, loss: str = "predictability"
) -> paper.Problem:
    """Return the training problem of a class of regions.

    "As published", the region may depend on all signals, φ = (1, s), and costs are raw.
    "Corrected", it depends on the signals that do not enter the cost, and each cost is divided by
    its length.
    """
    published = convention == PUBLISHED
    losses = {
        "predictability": paper.Predictability(),
        "suboptimality": paper.Suboptimality(normalize_cost=not published),
    }
    features = "all" if published else "non-cost"
    return paper.Problem.of(region, data, losses[loss], features=features)


def algorithm_2(posed: paper.Problem, convention: str, **options: Any) -> paper.Found:
    """Run Algorithm 2 from one start, on costs as the convention has them."""
    return paper.algorithm2(posed, normalize_cost=convention != PUBLISHED, **options)


def ours(hypothesis: Any, data: paper.Data, seed: int) -> fl.RegionRegressor:
    """Fit this library's estimator, with its defaults, to data whose costs are signals."""
    model = fl.RegionRegressor(hypothesis, cost=list(data.cost_columns), random_state=seed)
    return model.fit(data.signals, data.decisions)


def predictions(model: Any, data: paper.Data) -> np.ndarray:
    """Return the decisions of any fitted model."""
    of_arrays = isinstance(model, fl.RegionRegressor) or hasattr(model, "get_params")
    return np.asarray(model.predict(data.signals if of_arrays else data))


def returned_loss(model: Any, data: paper.Data) -> float:
    """Return the mean squared distance of the returned decisions to those observed."""
    return paper.evaluate(predictions(model, data), data).returned


def fit_and_measure(fit: Fit, train: paper.Data, test: paper.Data) -> tuple[Any, dict[str, Any]]:
    """Fit a model and measure its losses on the test rows, in the paper's unit of money.

    Parameters
    ----------
    fit : callable
        Returns a model, with or without a region.
    train, test : Data
        What it learns from, and what it is measured on.

    Returns
    -------
    model
        The fitted model.
    dict
        Mean squared losses, the training loss, and the processor seconds of the fit.
    """
    began = time.process_time()
    model = fit(train)
    seconds = time.process_time() - began
    is_found, is_ours = isinstance(model, paper.Found), isinstance(model, fl.RegionRegressor)
    measured = paper.evaluate(model if is_found else predictions(model, test), test)
    values: dict[str, Any] = {
        name: getattr(measured, name) for name in COLUMNS if name not in ("train", "seconds")
    }
    if is_ours:
        values |= learned_losses(model, test)
    elif not is_found:
        # A model without a region has one decision to return, and its distance is the loss.
        values["predictability"] = values["returned"]
    result: Any = model.result_ if is_ours else model
    if is_found or is_ours:
        values["train"], values["status"] = result.objective, result.status
        values["lower_bound"] = result.lower_bound
        values["tied_share"] = (
            result.tied_share if is_ours else result.problem.tied_share(result.theta)
        )
    else:
        values["train"] = returned_loss(model, train)
    values["seconds"] = seconds
    return model, values


def learned_losses(model: fl.RegionRegressor, test: paper.Data) -> dict[str, float]:
    """Return the losses of the observed decisions under a region of this library."""
    rows = fl.Decisions.from_arrays(test.signals, test.decisions, list(test.cost_columns))
    near, cheap = [], []
    for s, x, c in zip(test.signals, test.decisions, test.costs, strict=True):
        region = model.region(s)
        excess = max(0.0, float(c @ (x - region.minimize(c))))
        near.append(region.optimal_face(c).distance(x) ** 2)
        cheap.append(region.distance(x) ** 2 + excess**2)
    return {
        "returned": fl.evaluate(model, rows).returned.mean,
        "predictability": float(np.mean(near)),
        "suboptimality": float(np.mean(cheap)),
    }


def warm_up() -> None:
    """Compile the kernels once, so that no cell counts it among its seconds."""
    data = paper.datasets.make_l1_ball(20, n=2, low=-1.0, random_state=0)
    for loss in LOSSES:
        posed = problem(paper.Affine(fl.Simplex(2)), data, CORRECTED, loss)
        for algorithm in (paper.algorithm1, paper.algorithm2):
            fit_and_measure(lambda _, run=algorithm, of=posed: run(of, max_iter=2), data, data)
    fit_and_measure(lambda train: ours(None, train, 0), data, data)
