"""From checked data to trained parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from joblib import effective_n_jobs
from sklearn.base import clone

from feaslearn.data import shards
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.regressor.checks import FitData
from feaslearn.trainers import Trained
from feaslearn.trainers.automatic import (
    FOLDS,
    choose_hypothesis,
    choose_trainer,
    linear_policy,
)

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor


def train(model: RegionRegressor, data: FitData, priced: bool) -> tuple[Hypothesis, Trained]:
    """Choose what "auto" leaves open, and train; without costs, only the linear policy.

    Returns
    -------
    hypothesis : Hypothesis
        What was trained: a copy, so that parameters set later do not reach into a fitted model.
    trained : Trained
        Its parameters.
    """
    rows = data.rows
    if model.sense == "max":
        rows = rows._replace(costs=-rows.costs)
    given = priced and model.hypothesis is not None
    hypothesis = clone(model.hypothesis) if given else linear_policy()
    threads = int(effective_n_jobs(model.n_jobs))
    objective = Objective(data.loss, hypothesis, list(shards(rows)), threads)
    if priced and not given:
        chosen = choose_hypothesis(objective, data.random, model.trainer)
        objective = replace(objective, hypothesis=chosen)
    trained = choose_trainer(model.trainer, objective).train(objective, data.random)
    if priced and not given and len(rows.weights) < 2 * FOLDS:
        trained.result.warnings.append(
            f"a hypothesis is chosen from {2 * FOLDS} samples on; these are {len(rows.weights)}, "
            "so the linear policy was fitted"
        )
    return objective.hypothesis, trained
