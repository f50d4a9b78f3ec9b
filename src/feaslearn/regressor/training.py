"""From checked data to trained parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from feaslearn.data import Decisions, Shard, shards
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.constrained import constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective, Validation
from feaslearn.regressor.checks import FitData
from feaslearn.trainers import Trained
from feaslearn.trainers.automatic import (
    FOLDS,
    choose_hypothesis,
    choose_trainer,
    linear_policy,
)
from feaslearn.trainers.size_choice import choose_size

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
    watched = validation_of(model, data)
    if data.known is not None:
        hypothesis = constrained(hypothesis, data.known.shape)
    objective = Objective(data.loss, hypothesis, list(shards(rows)), threads, watched)
    if priced and not given:
        chosen = choose_hypothesis(objective, data.random, model.trainer)
        objective = objective.of(chosen)
    objective = objective.of(choose_size(objective.learned(), data.random).hypothesis)
    trained = choose_trainer(model.trainer, objective).train(objective, data.random)
    if priced and not given and len(rows.weights) < 2 * FOLDS:
        trained.result.warnings.append(
            f"a hypothesis is chosen from {2 * FOLDS} samples on; these are {len(rows.weights)}, "
            "so the linear policy was fitted"
        )
    trained.result.warnings.extend(data.warnings)
    return without_known(objective.hypothesis), trained


def validation_of(model: RegionRegressor, data: FitData) -> Validation | None:
    """Return the samples on which the trainer is watched, if it has any."""
    given: Decisions | None = getattr(model.trainer, "validation", None)
    if given is None:
        return None
    width, n = model.n_features_in_, data.rows.decisions.shape[1]
    if given.signals.shape[1] != width or given.decisions.shape[1] != n:
        raise DataError(
            f"validation has {given.signals.shape[1]} signals and {given.decisions.shape[1]} "
            f"decisions; the samples have {width} and {n}"
        )
    costs = given.cost_matrix if data.cost is None else data.cost.evaluate(given.signals)
    sign = -1.0 if model.sense == "max" else 1.0
    seen = ~np.isnan(given.decisions).all(axis=1)
    columns = data.features.transform(given.signals)
    if data.known is not None:
        columns = np.hstack([columns, data.known.at(given.signals).columns()])
    arrays = (columns, sign * costs, given.decisions)
    features, prices, decisions = (np.require(a, requirements=["C", "W"]) for a in arrays)
    rows = Shard(features, prices, decisions, seen / max(1, seen.sum()))
    return Validation(rows, given, sign)
