"""From checked data to trained parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from feaslearn.arrays import Indices
from feaslearn.data import Block, Samples
from feaslearn.data.diagnostics import outlying_decisions
from feaslearn.exceptions import TimeLimitError, UnsupportedError
from feaslearn.hypotheses.constrained import Constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.messages import list_first, row_number
from feaslearn.regressor.checks import FEW_ROWS, FitData, check_observed
from feaslearn.results import OUT_OF_TIME
from feaslearn.runs import OutOfTime, one_blas_thread
from feaslearn.trainers import Convex, Objective, Trained, Trainer
from feaslearn.trainers.minkowski_fit import choose_scale
from feaslearn.trainers.out_of_fold import subsample
from feaslearn.trainers.selection import (
    LEAST_ROWS,
    Selection,
    choose_trainer,
    ended_early,
    linear_policy,
    select,
)

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor


#: Rows that a message names.
NAMED = 5


def train(
    model: RegionRegressor, data: FitData, priced: bool, trainer: Trainer | str
) -> tuple[Hypothesis, Trained]:
    """Choose what "auto" leaves open and train a copy; without costs, the linear policy."""
    choose = priced and model.hypothesis is None
    hypothesis = linear_policy() if choose or not priced else clone(model.hypothesis)
    if data.known is not None:
        hypothesis = Constrained(hypothesis, data.known.shape)
    threads = int(effective_n_jobs(model.n_jobs))
    objective = Objective(hypothesis, data.samples, threads)
    objective = objective.limited(model.max_seconds)
    selection = Selection(without_known(hypothesis))
    try:
        with one_blas_thread():
            if choose:
                selection = _select(objective, data.random, trainer)
            objective = objective.of(selection.hypothesis)
            hypothesis, trained = _train(objective, data.random, trainer, selection)
    except OutOfTime:
        if objective.run.interrupted:
            raise
        raise TimeLimitError(
            f"max_seconds={model.max_seconds!r} was over before there was any model. Allow more "
            "time, or fit to fewer samples or a smaller hypothesis"
        ) from None
    check_observed(data.samples)
    if not data.samples.in_memory:
        trained.result.details["passes over the data"] = float(data.samples.passes)
    trained.result.details.update(selection.details)
    objective = objective.of(without_known(hypothesis))
    outliers = _outliers(objective, data, choose_trainer(trainer, objective))
    trained.result.warnings.extend([*selection.warnings, *data.warnings, *outliers])
    return without_known(hypothesis), trained


def _select(objective: Objective, random: np.random.Generator, trainer: Trainer | str) -> Selection:
    """Select the hypothesis; for chunks, on some samples and among those Convex trains."""
    if objective.samples.in_memory:
        selection = select(objective, random, trainer)
        if objective.n_samples >= LEAST_ROWS:
            return selection
        note = (
            f"a hypothesis is selected from {LEAST_ROWS} samples on; these are "
            f"{objective.n_samples}, so the linear policy was fitted"
        )
        return selection._replace(warnings=[note])
    objective.samples.summary(objective.run.check_time)
    some = subsample(objective, random)
    count, part = some.n_samples, ""
    if count < objective.n_samples:
        part = f"on {count} of {objective.n_samples} samples, "
    selection = select(some, random, Convex())
    note = f"the hypothesis was selected {part}among those that can be fitted from chunks"
    return selection._replace(trained=None, warnings=[*selection.warnings, note])


def _train(
    objective: Objective,
    random: np.random.Generator,
    trainer: Trainer | str,
    selection: Selection,
) -> tuple[Hypothesis, Trained]:
    """Train what was given or selected; at the deadline return what the selection has trained."""
    if selection.trained is not None:
        return objective.hypothesis, selection.trained
    incumbent = selection.incumbent
    try:
        if incumbent is not None:
            objective.run.check_time()
        objective = objective.of(choose_scale(objective.learned()))
        chosen = choose_trainer(trainer, objective)
        trained = chosen.train(_readable(chosen, objective), random)
    except OutOfTime:
        if incumbent is None:
            raise
        return incumbent[0], ended_early(selection, objective, trainer)
    if incumbent is not None and trained.result.status in OUT_OF_TIME:
        last = ended_early(selection, objective, trainer)
        if last.result.objective < trained.result.objective:
            return incumbent[0], last
    return objective.hypothesis, trained


def _readable(trainer: Trainer, objective: Objective) -> Objective:
    """Return samples as the trainer goes through them; refuse chunks where it needs memory."""
    if objective.samples.in_memory:
        return objective
    reasons = trainer.chunk_mismatches(objective)
    if reasons:
        raise UnsupportedError(f"RegionRegressor: {'; '.join(reasons)}")
    if trainer.chunks == "sums":
        objective.samples.summary(objective.run.check_time)
        objective = objective.normalized()
        if objective.n_samples <= FEW_ROWS:
            # So few are read once and stay in memory.
            objective = replace(objective, samples=Samples.of(objective.samples.load()))
    return objective


def _outliers(objective: Objective, data: FitData, trainer: Trainer) -> list[str]:
    """Return the warning that names outliers, if there is one; of many rows, some are checked."""
    rows, step = data.samples.spread(), data.samples.step()
    if objective.known is not None:
        rows = rows._replace(features=objective.known.split(rows.features)[0])

    def named(indices: Indices) -> str:
        if not data.samples.in_memory:
            return f"{len(indices)} of {len(rows.weights)} samples that were checked"
        numbers = step * indices if data.numbers is None else data.numbers[step * indices]
        return list_first([f"row {row_number(i)}" for i in numbers[:NAMED]], len(numbers))

    return outlier_warning(trainer, rows, named)


def outlier_warning(trainer: Trainer, rows: Block, named: Callable[[Indices], str]) -> list[str]:
    """Return the warning about outliers that bias a fit, if there is one."""
    if getattr(trainer, "robust", "auto") not in ("auto", False):
        return []
    found = outlying_decisions(rows)
    if found is None:
        return []
    return [
        f"{named(found.indices)}: decisions at least {found.times:.0f} times as far from their "
        "median as usual ones. The squared loss follows such rows: take them out if they are errors"
    ]
