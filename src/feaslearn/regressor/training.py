"""From checked data to trained parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from feaslearn.data import SHARD_ROWS, Shard
from feaslearn.data.diagnostics import outlying_decisions
from feaslearn.hypotheses.constrained import constrained, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.kernels.norms import SQUARED_L2
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.messages import list_first, row_number
from feaslearn.regressor.checks import FitData
from feaslearn.runs.fingerprint import fingerprint
from feaslearn.trainers import Auto, Trained, Trainer
from feaslearn.trainers.automatic import (
    Choice,
    choose_hypothesis,
    choose_trainer,
    linear_policy,
    trained_or_incumbent,
)
from feaslearn.trainers.contest import FOLDS
from feaslearn.trainers.running import carried_out
from feaslearn.trainers.size_choice import choose_size

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
    trained.result.warnings.extend([*data.warnings, *_outliers(objective, data, fit)])
    return without_known(fit.hypothesis), trained


class _Fit:
    """Chooses what is open and trains, all within one run."""

    def __init__(self, trainer: Trainer | str, choose: bool) -> None:
        self.trainer, self.choose = trainer, choose
        #: Whose limits hold for all of it.
        self.outer = trainer if isinstance(trainer, Trainer) else Auto()
        self.hypothesis: Hypothesis = linear_policy()

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the hypothesis; then train it, or take the best of the choice at the deadline."""
        chosen = Choice(objective.hypothesis)
        if self.choose:
            chosen = choose_hypothesis(objective.within("hypothesis"), random, self.trainer)
            objective = objective.of(chosen.hypothesis)

        def train() -> Trained:
            return self._sized(objective, random)

        incumbent, trained = trained_or_incumbent(train, chosen, objective, self.outer)
        self.hypothesis = self.hypothesis if incumbent is None else incumbent
        return trained

    def _sized(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose an open number of columns; then train."""
        sized = choose_size(objective.within("size").learned(), random)
        objective = objective.of(sized.hypothesis)
        self.hypothesis = objective.hypothesis
        # Under a time limit, a choice that was cut short may be another one when the run goes on.
        part = objective.within(f"training {fingerprint(self.hypothesis)}")
        self.trainer = choose_trainer(self.trainer, objective)
        return self.trainer.train(part, random)


def _outliers(objective: Objective, data: FitData, fit: _Fit) -> list[str]:
    """Return the warning that names outliers, if there is one; of many rows, some are looked at."""
    step = -(-data.rows.n_rows // SHARD_ROWS)
    rows = data.rows.every(step)
    if objective.known is not None:
        rows = rows._replace(features=objective.known.split(rows.features)[0])

    def named(places: Indices) -> str:
        numbers = step * places if data.numbers is None else data.numbers[step * places]
        return list_first([f"row {row_number(i)}" for i in numbers[:NAMED]], len(numbers))

    return outlier_warning(objective.loss, fit.trainer, fit.choose, rows, named)


def outlier_warning(
    loss: Loss, trainer: Trainer | str, choose: bool, rows: Shard, named: Callable[[Indices], str]
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
