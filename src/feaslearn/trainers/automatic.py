"""What "auto" means: the trainer of a hypothesis, and the hypothesis of a data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses import Affine, Blend, Facets, Minkowski, Scaled
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.sets import Box, Simplex
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.blending import Blending
from feaslearn.trainers.contest import FOLDS, Contest
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.mixed_integer import MixedInteger
from feaslearn.trainers.running import Given, train_once
from feaslearn.trainers.trainer import Trained, Trainer, measured

Array = NDArray[np.float64]

#: Decisions times features from which on Minkowski sums have constant scales.
MANY_SCALES = 40
#: A learned polytope is tried where the best region keeps this share of the linear policy's loss.
UNEXPLAINED = 0.1
#: Fewest and most vertices of that polytope; between them, two for each decision.
VERTICES = (4, 12)


def choose_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself, or for "auto" the first that serves the objective."""
    if isinstance(trainer, Auto):
        trainer = "auto"
    if isinstance(trainer, Trainer):
        return trainer
    if trainer != "auto":
        raise UnsupportedError(
            f"trainer={trainer!r} is not known; use 'auto' or one of feaslearn.trainers"
        )
    served = (
        *(Convex(), FacetLearning(), Blending(), MixedInteger()),
        *(Annealing(), GradientDescent()),
    )
    learned = objective.learned()
    refusals = []
    for each in served:
        mismatches = each.mismatches(learned)
        if not mismatches:
            return each
        refusals.append(f"{type(each).__name__}: {'; '.join(mismatches)}")
    raise UnsupportedError(
        f"no trainer serves {learned.hypothesis!r} with {learned.loss!r}\n    "
        + "\n    ".join(refusals)
    )


def linear_policy() -> Hypothesis:
    """Return the class of regions that are a single point b(s)."""
    return Affine(Simplex(1))


def candidates(n: int, k: int) -> list[Hypothesis]:
    """Return what "auto" tries on n decisions and k features, the simplest first."""
    return [linear_policy(), Scaled(Simplex(n)), Scaled(Box(n)), minkowski(n, k), Facets()]


def polytope(n: int) -> Affine:
    """Return the polytopes that "auto" tries where noise hides the facets."""
    return Affine(Simplex(int(np.clip(2 * n, *VERTICES))))


def minkowski(n: int, k: int) -> Minkowski:
    """Return the sums that "auto" tries: where affine scales would take long, constant ones."""
    return Minkowski("auto", scale="affine" if n * k <= MANY_SCALES else "constant")


class Choice(NamedTuple):
    """A hypothesis, and the best model of the choice: its hypothesis and parameters."""

    hypothesis: Hypothesis
    incumbent: tuple[Hypothesis, Array] | None = None


def choose_hypothesis(
    objective: Objective, random: np.random.Generator, trainer: Trainer | str = "auto"
) -> Choice:
    """Choose a hypothesis by the cross-validated loss of the returned decisions.

    Of those about as good as the best, the simplest; a blend of facets and Minkowski sums where it
    is clearly better than both. Where all of them
    leave much unexplained, polytopes of a few learned vertices are tried too. The hypothesis of
    ``objective`` itself does not count, nor do those that the trainer does not serve. With too few
    samples for the folds, the simplest is taken. Those that the time of the objective's run was too
    short for do not count either.
    """
    trainer = "auto" if isinstance(trainer, Auto) else trainer
    n, k = objective.n_decisions, objective.learned().n_features
    tried = [objective.of(hypothesis) for hypothesis in candidates(n, k)]
    served = [each for each in tried if _serves(trainer, each)]
    n_samples = objective.n_samples
    if n_samples < 2 * FOLDS or len(served) < 2:
        return Choice(without_known((served or tried)[0].hypothesis))

    def fit(inner: Objective) -> Trained:
        return train_once(_quick_trainer(trainer, inner), inner, random, thorough=False)

    contest = Contest(objective, random, fit)
    if contest.n_folds < FOLDS:
        return Choice(without_known(served[0].hypothesis))
    with ProgressBar("Choice of a hypothesis", len(served)) as bar:
        for done, each in enumerate(served):
            bar.update(done, repr(without_known(each.hypothesis)))
            try:
                contest.add(each)
            except OutOfTime:  # even the simplest was not tried on all folds
                return Choice(without_known(each.hypothesis))
        learned = objective.of(polytope(n))
        affordable = n * k <= MANY_SCALES and _serves(trainer, learned)
        if affordable and contest.unexplained() > UNEXPLAINED:
            contest.add(learned)
    chosen = contest.simplest()
    if trainer != "auto" or not isinstance(chosen, Facets | Minkowski):
        return Choice(chosen, contest.best)
    if contest.worth_blending():
        chosen = Blend([Facets(), minkowski(n, k)])
    return Choice(chosen, contest.best)


def measured_incumbent(
    incumbent: tuple[Hypothesis, Array], objective: Objective, trainer: Trainer
) -> tuple[Hypothesis, Trained]:
    """Return the best model of a choice that came to the deadline, measured on all samples."""
    hypothesis, theta = incumbent
    last = measured(trainer, objective.normalized().of(hypothesis), theta, objective.run.ended())
    last.result.warnings.append(
        "the choice of a hypothesis and its fit came to the deadline: this is the best of those "
        "that were tried, fitted to a part of the samples"
    )
    return hypothesis, last


def _serves(trainer: Trainer | str, objective: Objective) -> bool:
    """Say whether the trainer, or for "auto" any, can train an objective."""
    try:
        return not choose_trainer(trainer, objective).mismatches(objective.learned())
    except UnsupportedError:
        return False


def _quick_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself; for "auto" one that is good enough to compare hypotheses."""
    if isinstance(without_known(objective.hypothesis), Facets) and trainer == "auto":
        return FacetLearning()
    return choose_trainer(trainer, objective)


class Auto(Trainer):
    """The first trainer that serves the hypothesis, as ``trainer="auto"``, with limits.

    With ``hypothesis=None`` or an open size, the limits hold for that choice and the training
    together. A choice that comes to the deadline returns the best model that it tried.

    Parameters
    ----------
    max_seconds : float, default=None
        Limit on the wall time of the whole fit.
    checkpoint : path-like, default=None
        File that keeps finished folds, members and starts: a fit that was killed resumes from
        them, and ends with the same parameters, bit for bit on one machine, as if it had never
        stopped. The piece that was interrupted is begun again. The file is written after each
        piece and removed at the end of a completed fit; one that is ended by a time limit, a
        callback or Ctrl-C leaves it, and ``max_seconds`` counts anew. The file of other data, or
        of another hypothesis, loss, trainer or ``random_state``, is refused.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Scaled(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.Auto(max_seconds=60.0))
    >>> model.fit(data.signals, data.decisions).result_.status
    'optimal'
    """

    uses_known = True

    def __init__(self, max_seconds: float | None = None, checkpoint: Given = None) -> None:
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what no trainer serves."""
        return self._chosen(objective).mismatches(objective.learned())

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Let the chosen trainer train."""
        return self._chosen(objective).train(objective, random)

    @staticmethod
    def _chosen(objective: Objective) -> Trainer:

        return choose_trainer("auto", objective)
