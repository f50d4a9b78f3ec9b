"""From checked data to trained parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from feaslearn.data import SHARD_ROWS
from feaslearn.hypotheses.constrained import constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.regressor.checks import FitData
from feaslearn.runs.fingerprint import fingerprint
from feaslearn.trainers import Auto, Trained, Trainer
from feaslearn.trainers.automatic import (
    choose_hypothesis,
    choose_trainer,
    linear_policy,
)
from feaslearn.trainers.contest import FOLDS, ChoiceInterrupted
from feaslearn.trainers.far_rows import (
    LEFT_OUT,
    far_rows,
    follows_far_rows,
    named,
    told_of,
    without_far_rows,
)
from feaslearn.trainers.measuring import measured
from feaslearn.trainers.running import carried_out
from feaslearn.trainers.size_choice import choose_size

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

Details = dict[str, float]


def train(
    model: RegionRegressor, data: FitData, priced: bool, trainer: Trainer | str
) -> tuple[Hypothesis, Trained]:
    """Choose what "auto" leaves open, and train; without costs, only the linear policy.

    Returns
    -------
    hypothesis : Hypothesis
        What was trained: a copy, so that parameters set later do not reach into a fitted model.
    trained : Trained
        Its parameters.
    """
    rows = data.minimized(model.sense == "max")
    given = priced and model.hypothesis is not None
    hypothesis = clone(model.hypothesis) if given else linear_policy()
    threads = int(effective_n_jobs(model.n_jobs))
    if data.known is not None:
        hypothesis = constrained(hypothesis, data.known.shape)
    objective = Objective(data.loss, hypothesis, rows, threads)
    fit = _Fit(trainer, choose=priced and not given)
    seeded = model.random_state is not None
    trained = carried_out(fit.outer, objective, data.random, fit.train, seeded)
    if fit.choose and rows.n_rows < 2 * FOLDS:
        trained.result.warnings.append(
            f"a hypothesis is chosen from {2 * FOLDS} samples on; these are {rows.n_rows}, "
            "so the linear policy was fitted"
        )
    far = _far_rows(objective, data, trainer, trained.result.details)
    trained.result.warnings.extend([*data.warnings, *far])
    return without_known(fit.hypothesis), trained


class _Fit:
    """Chooses what is open and trains, all within one run."""

    def __init__(self, trainer: Trainer | str, choose: bool) -> None:
        self.trainer, self.choose = trainer, choose
        #: Whose limits hold for all of it.
        self.outer = trainer if isinstance(trainer, Trainer) else Auto()
        self.hypothesis: Hypothesis = linear_policy()

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the hypothesis and its size, each in half of the time left; then train."""
        try:
            near = without_far_rows(objective)
            if self.choose:
                chosen = choose_hypothesis(_half(near, "hypothesis"), random, self.trainer)
                objective, near = objective.of(chosen), near.of(chosen)
            sized = choose_size(_half(near, "size").learned(), random)
            objective = objective.of(sized.hypothesis)
        except ChoiceInterrupted as found:
            self.hypothesis = found.hypothesis
            last = measured(self.outer, objective.of(found.hypothesis), found.theta, "interrupted")
            last.result.warnings.append(
                "the choice of a hypothesis was interrupted: this is the best of those that were "
                "tried, fitted to a part of the samples"
            )
            return last
        self.hypothesis = objective.hypothesis
        # Under a time limit, a choice that was cut short may be another one when the run goes on.
        part = objective.within(f"training {fingerprint(self.hypothesis)}")
        return choose_trainer(self.trainer, objective).train(part, random)


def _far_rows(objective: Objective, data: FitData, trainer: object, details: Details) -> list[str]:
    """Name rows that squared losses follow, or that the search left out; of many rows, see some.

    Norms that resist them, in a search that takes all rows into account, need no word.
    """
    squared = follows_far_rows(objective.loss)
    if getattr(trainer, "robust", False) or not (squared or LEFT_OUT in details):
        return []
    step = -(-data.rows.n_rows // SHARD_ROWS)
    rows = data.rows.every(step)
    if objective.known is not None:
        rows = rows._replace(features=objective.known.split(rows.features)[0])
    found = far_rows(rows)
    if found is None:
        return []
    places = step * found.places
    numbers = places if data.numbers is None else data.numbers[places]
    return [told_of(found, squared, named(numbers))]


def _half(objective: Objective, name: str) -> Objective:
    """Return the objective for a choice, which may take half of the time that is left."""
    return objective.within(name).limited(objective.run.clock.left / 2.0)
