"""What "auto" means: the trainer of a hypothesis, and the hypothesis of a data set."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses import Affine, Blend, Facets, Minkowski, Scaled
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.sets import Box, Simplex
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.auto import Auto
from feaslearn.trainers.blending import Blending, best_weights
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facet_learning import FacetLearning
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.mixed_integer import MixedInteger
from feaslearn.trainers.out_of_fold import out_of_fold
from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.running import train_once
from feaslearn.trainers.trainer import Trainer, loss_of_decisions

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

FOLDS = 5
#: Facet regions, grown on different splits, in the blend that "auto" takes where facets win.
MEMBERS = 8
#: Of hypotheses that are this much worse than the best, the simplest is taken.
AS_GOOD = 0.01
#: Decisions times features from which on Minkowski sums have constant scales.
MANY_SCALES = 40
#: A blend of facets and Minkowski sums must be this much better than either.
WORTH_BLENDING = 0.03


class ChoiceInterrupted(KeyboardInterrupt):
    """The user ended the choice of a hypothesis; the best so far has parameters already."""

    def __init__(self, hypothesis: Hypothesis, theta: Array) -> None:
        super().__init__("the choice of a hypothesis was interrupted")
        self.hypothesis, self.theta = hypothesis, theta


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
    return next(each for each in served if not each.mismatches(learned))


def linear_policy() -> Hypothesis:
    """Return the class of regions that are a single point b(s)."""
    return Affine(Simplex(1))


def candidates(n: int, k: int) -> list[Hypothesis]:
    """Return what "auto" tries on n decisions and k features, the simplest first."""
    return [linear_policy(), Scaled(Simplex(n)), Scaled(Box(n)), minkowski(n, k), Facets()]


def minkowski(n: int, k: int) -> Minkowski:
    """Return the sums that "auto" tries: where affine scales would take long, constant ones."""
    return Minkowski("auto", scale="affine" if n * k <= MANY_SCALES else "constant")


def choose_hypothesis(
    objective: Objective, random: np.random.Generator, trainer: Trainer | str = "auto"
) -> Hypothesis:
    """Choose a hypothesis by the cross-validated loss of the returned decisions.

    Of those about as good as the best, the simplest; facets of several splits where facets are
    best, and with them Minkowski sums where a blend of both is clearly better. The hypothesis of
    ``objective`` itself does not count, nor do those that the trainer does not serve. With too few
    samples for the folds, the simplest is taken. Those that the time of the objective's run was too
    short for do not count either.

    Raises
    ------
    ChoiceInterrupted
        If the user presses Ctrl-C when a hypothesis has been tried.
    """
    trainer = "auto" if isinstance(trainer, Auto) else trainer
    k = objective.learned().n_features
    tried = [objective.of(hypothesis) for hypothesis in candidates(objective.n_decisions, k)]
    served = [
        each for each in tried if not choose_trainer(trainer, each).mismatches(each.learned())
    ]
    whole = objective.whole()
    n_samples = len(whole.weights)
    if n_samples < 2 * FOLDS or len(served) < 2:
        return without_known((served or tried)[0].hypothesis)
    fold = random.permutation(n_samples) % FOLDS
    guesses, losses = _compared(served, fold, random, trainer, whole)
    rounding = 1e-12 * float(whole.weights @ np.nan_to_num(whole.decisions**2).sum(axis=1))
    good = np.flatnonzero(losses <= (1.0 + AS_GOOD) * losses.min() + rounding)
    chosen = without_known(served[int(good[0])].hypothesis)
    if trainer != "auto" or not isinstance(chosen, Facets | Minkowski):
        return chosen
    # Facets grown on several splits, blended, are steadier than any one of them.
    facets: list[Hypothesis] = [Facets() for _ in range(MEMBERS)]
    if len(guesses) < len(served):
        return Blend(facets) if isinstance(chosen, Facets) else chosen
    pair = np.array(guesses[-2:])
    blended = np.einsum("t,tij->ij", best_weights(pair, whole), pair)
    if (
        loss_of_decisions(objective.loss, blended, whole)
        < (1.0 - WORTH_BLENDING) * losses.min() - rounding
    ):
        return Blend([*facets, minkowski(objective.n_decisions, k)])
    return Blend(facets) if isinstance(chosen, Facets) else chosen


def _compared(
    served: list[Objective],
    fold: NDArray[np.intp],
    random: np.random.Generator,
    trainer: Trainer | str,
    whole: Shard,
) -> tuple[list[Array], Array]:
    """Return the left-out decisions of each hypothesis and their losses, as far as time allows."""
    guesses: list[Array] = []
    losses: list[float] = []
    best: tuple[Hypothesis, Array] | None = None
    with ProgressBar("Choice of a hypothesis", len(served)) as bar:
        for index, each in enumerate(served):
            hypothesis = without_known(each.hypothesis)
            try:
                guess, theta = _left_out(each.within(f"{index}"), fold, random, trainer)
            except KeyboardInterrupt:
                if best is None:
                    raise
                raise ChoiceInterrupted(*best) from None
            if each.run.late() and guesses:
                break  # what was cut short says nothing about the hypothesis
            guesses.append(guess)
            losses.append(loss_of_decisions(each.loss, guess, whole))
            logger.info("%r: cross-validated loss %.6g", hypothesis, losses[-1])
            bar.update(len(losses), repr(hypothesis))
            if losses[-1] == min(losses):
                best = hypothesis, theta
    return guesses, np.array(losses)


def _left_out(
    objective: Objective,
    fold: NDArray[np.intp],
    random: np.random.Generator,
    trainer: Trainer | str,
) -> tuple[Array, Array]:
    """Return decisions for each fold, by a model trained on all others, and the last such model."""
    last = np.zeros(0)

    def fit(inner: Objective) -> Array:
        nonlocal last
        trained = train_once(_quick_trainer(trainer, inner), inner, random, thorough=False)
        if trained.result.status == "interrupted":
            raise KeyboardInterrupt
        last = trained.theta
        return last

    return out_of_fold(objective, fold, fit), last


def _quick_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself; for "auto" one that is good enough to compare hypotheses."""
    if isinstance(without_known(objective.hypothesis), Facets) and trainer == "auto":
        return FacetLearning(n_starts=1)
    return choose_trainer(trainer, objective)
