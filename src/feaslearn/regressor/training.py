"""From checked data to trained parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from feaslearn.data import (
    Block,
)
from feaslearn.data.diagnostics import outlying_decisions
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.constrained import constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.losses.kernels import SQUARED_L2
from feaslearn.messages import list_first, row_number
from feaslearn.regressor.checks import FEW_ROWS, FitData, check_observed
from feaslearn.runs.checkpoint import fingerprint
from feaslearn.trainers import Auto, Convex, Trained, Trainer
from feaslearn.trainers.automatic import (
    Choice,
    choose_hypothesis,
    choose_trainer,
    linear_policy,
    trained_or_incumbent,
)
from feaslearn.trainers.contest import FOLDS, subsample
from feaslearn.trainers.ridge_choice import choose_size
from feaslearn.trainers.running import carried_out

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

Indices = NDArray[np.intp]

#: Rows that a message names.
NAMED = 5


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
    given = priced and model.hypothesis is not None
    hypothesis = clone(model.hypothesis) if given else linear_policy()
    if data.known is not None:
        hypothesis = constrained(hypothesis, data.known.shape)
    threads = int(effective_n_jobs(model.n_jobs))
    objective = Objective(data.loss, hypothesis, data.samples, threads)
    fit = _Fit(trainer, choose=priced and not given)
    seeded = model.random_state is not None
    trained = carried_out(fit.outer, objective, data.random, fit.train, seeded)
    check_observed(data.samples)
    if not data.samples.in_memory:
        trained.result.details["passes over the data"] = float(data.samples.passes)
    trained.result.warnings.extend(
        [*fit.warnings(data.samples.n_samples), *data.warnings, *_outliers(objective, data, fit)]
    )
    return without_known(fit.hypothesis), trained


class _Fit:
    """Chooses what is open and trains, all within one run."""

    def __init__(self, trainer: Trainer | str, choose: bool) -> None:
        self.trainer, self.choose = trainer, choose
        #: Whose limits hold for all of it.
        self.outer = trainer if isinstance(trainer, Trainer) else Auto()
        self.hypothesis: Hypothesis = linear_policy()
        #: On how many samples of chunks the hypothesis was chosen.
        self._chosen_from = 0

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the hypothesis; then train it, or take the best of the choice at the deadline."""
        chosen = Choice(objective.hypothesis)
        if self.choose:
            chosen = self._choose(objective, random)
            objective = objective.of(chosen.hypothesis)

        def train() -> Trained:
            return self._sized(objective, random)

        incumbent, trained = trained_or_incumbent(train, chosen, objective, self.outer)
        self.hypothesis = self.hypothesis if incumbent is None else incumbent
        return trained

    def warnings(self, n_samples: int) -> list[str]:
        """Return what is to be said about the choice of the hypothesis."""
        if not self.choose:
            return []
        if self._chosen_from:
            part = f"on {self._chosen_from} of {n_samples} samples, "
            return [
                f"the hypothesis was chosen {part if self._chosen_from < n_samples else ''}among "
                "those that can be fitted from chunks"
            ]
        if n_samples < 2 * FOLDS:
            return [
                f"a hypothesis is chosen from {2 * FOLDS} samples on; these are {n_samples}, "
                "so the linear policy was fitted"
            ]
        return []

    def _choose(self, objective: Objective, random: np.random.Generator) -> Choice:
        """Choose the hypothesis; for chunks, on some samples and among those Convex trains."""
        if objective.samples.in_memory:
            return choose_hypothesis(objective.within("hypothesis"), random, self.trainer)
        objective.samples.summary(objective.run.check_time)
        some = subsample(objective, random).within("hypothesis")
        self._chosen_from = some.n_samples
        return choose_hypothesis(some, random, Convex())

    def _sized(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose an open number of columns; then train."""
        sized = choose_size(objective.within("size").learned(), random)
        objective = objective.of(sized.hypothesis)
        self.hypothesis = objective.hypothesis
        # Under a time limit, a choice that was cut short may be another one when the run goes on.
        part = objective.within(f"training {fingerprint(self.hypothesis)}")
        self.trainer = choose_trainer(self.trainer, objective)
        return self.trainer.train(_readable(self.trainer, part), random)


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
            objective = replace(objective, samples=objective.samples.loaded())
    return objective


def _outliers(objective: Objective, data: FitData, fit: _Fit) -> list[str]:
    """Return the warning that names outliers, if there is one; of many rows, some are looked at."""
    rows, step = data.samples.spread(), data.samples.step()
    if objective.known is not None:
        rows = rows._replace(features=objective.known.split(rows.features)[0])

    def named(places: Indices) -> str:
        if not data.samples.in_memory:
            return f"{len(places)} of {len(rows.weights)} samples that were looked at"
        numbers = step * places if data.numbers is None else data.numbers[step * places]
        return list_first([f"row {row_number(i)}" for i in numbers[:NAMED]], len(numbers))

    return outlier_warning(objective.loss, fit.trainer, fit.choose, rows, named)


def outlier_warning(
    loss: Loss, trainer: Trainer | str, choose: bool, rows: Block, named: Callable[[Indices], str]
) -> list[str]:
    """Return the warning about outliers that bias a fit, if there is one.

    Robust fits, and norms that resist outliers in a search that does so too, need no word, unless
    the hypothesis was to be chosen: outliers hide which one is better.
    """
    squared = isinstance(loss, Predictability | Suboptimality) and loss.norm_code() == SQUARED_L2
    resists = not squared and not choose and getattr(trainer, "resists_outliers", False)
    if resists or getattr(trainer, "robust", False):
        return []
    found = outlying_decisions(rows)
    if found is None:
        return []
    advice = (
        "Squared losses follow such rows: take them out if they are errors, or use a norm that "
        "resists them, as in loss=Predictability('l1')"
        if squared
        else "They may bias the search: take them out if they are errors"
    )
    return [
        f"{named(found.places)}: decisions at least {found.times:.0f} times as far from their "
        f"median as usual ones. {advice}"
    ]
