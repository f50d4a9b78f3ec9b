"""The two conventions that every table prints, and how a model is fitted and measured."""

from __future__ import annotations

import time
from typing import Any

import feaslearn as fl
from feaslearn.trainers import AdaptiveSmoothing

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


def region_model(
    hypothesis: Any,
    data: fl.Decisions,
    convention: str,
    loss: str = "predictability",
    trainer: Any = "auto",
    seed: int = 0,
) -> fl.RegionRegressor:
    """Return a model that is not fitted.

    "As published", the region may depend on all signals, φ = (1, s), and costs are raw.
    "Corrected", it depends on the signals that do not enter the cost, and each cost is divided by
    its length.
    """
    published = convention == PUBLISHED
    losses = {
        "predictability": fl.Predictability(),
        "suboptimality": fl.Suboptimality(normalize_cost=not published),
    }
    return fl.RegionRegressor(
        hypothesis,
        cost=data.cost,
        features="all" if published else "non-cost",
        loss=losses[loss],
        trainer=trainer,
        random_state=seed,
    )


def algorithm_2(convention: str, max_iter: int, epsilon: float = 1.0) -> AdaptiveSmoothing:
    """Return the paper's Algorithm 2 with one start."""
    return AdaptiveSmoothing(
        max_iter=max_iter, epsilon=epsilon, normalize_cost=convention != PUBLISHED
    )


def fit_and_measure(model: Any, train: fl.Decisions, test: fl.Decisions) -> dict[str, Any]:
    """Fit a model and return its losses on the test rows, in the paper's unit of money.

    Parameters
    ----------
    model : regressor
        A model with or without a region.
    train, test : Decisions
        What it learns from, and what it is measured on.

    Returns
    -------
    dict
        Mean squared losses, the training loss, and the processor seconds of the fit.
    """
    began = time.process_time()
    model.fit(train.signals, train.decisions)
    seconds = time.process_time() - began
    measured = fl.evaluate(model, test, normalize_cost=False, losses="all")
    result = getattr(model, "result_", None)
    values: dict[str, Any] = {
        name: None if mean is None else mean.mean
        for name in COLUMNS
        if name not in ("train", "seconds")
        for mean in (getattr(measured, name),)
    }
    if values["predictability"] is None:
        # A model without a region has one decision to return, and its distance is the loss.
        values["predictability"] = values["returned"]
    if result is None:
        values["train"] = fl.evaluate(model, train).returned.mean
    else:
        values["train"], values["status"] = result.objective, result.status
        values["lower_bound"], values["tied_share"] = result.lower_bound, result.tied_share
    values["seconds"] = seconds
    return values


def warm_up() -> None:
    """Compile the kernels once, so that no cell counts it among its seconds."""
    data = fl.datasets.make_switch(20, random_state=0)
    for loss in LOSSES:
        for trainer in (algorithm_2(CORRECTED, 2), fl.trainers.GradientDescent(max_iter=2)):
            model = region_model(fl.Affine(fl.Simplex(2)), data, CORRECTED, loss, trainer)
            fit_and_measure(model, data, data)
    fit_and_measure(fl.RegionRegressor(cost=data.cost, random_state=0), data, data)
