"""Hypotheses compared by their guesses at samples that they were not trained on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses import Facets, Minkowski
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime
from feaslearn.tolerances import ROUNDING, divisors
from feaslearn.trainers.blending import best_weights
from feaslearn.trainers.out_of_fold import folds_of, out_of_fold
from feaslearn.trainers.returned_decisions import loss_of_decisions
from feaslearn.trainers.trainer import Trained

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

FOLDS = 5
#: Of hypotheses that are this much worse than the best, the simplest is taken.
AS_GOOD = 0.01
#: A blend of facets and Minkowski sums must be this much better than either.
WORTH_BLENDING = 0.03

#: Samples on which the ridge is chosen and starts are compared, where there are more.
MOST_SAMPLES = 20_000


class Contest:
    """Cross-validated guesses of hypotheses on the same folds, and their losses.

    Parameters
    ----------
    objective : Objective
        The samples.
    random : Generator
        Draws the folds.
    fit : callable
        Trains an objective for a part of the samples.
    """

    def __init__(
        self,
        objective: Objective,
        random: np.random.Generator,
        fit: Callable[[Objective], Trained],
    ) -> None:
        self._objective, self._fit = objective, fit
        self._whole = whole = objective.load()
        self._fold = folds_of([whole], FOLDS, random)
        #: Fewer where there are few different samples.
        self.n_folds = len(np.unique(self._fold))
        self._rounding = ROUNDING * float(whole.weights @ np.nan_to_num(whole.decisions**2).sum(1))
        self._guesses: dict[Hypothesis, Array] = {}
        self._losses: dict[Hypothesis, float] = {}
        #: The best hypothesis so far, with parameters for a part of the samples.
        self.best: tuple[Hypothesis, Array] | None = None

    def add(self, objective: Objective) -> None:
        """Let one more hypothesis guess the decisions of each fold, if there is time for it."""
        run = objective.run
        if self._guesses and run.late():
            return
        hypothesis = without_known(objective.hypothesis)
        try:
            guess, theta = self._left_out(objective.within(f"{len(self._guesses)}"))
        except KeyboardInterrupt:
            if self.best is None:
                raise
            run.clock.interrupt()
            return
        except OutOfTime:
            if self.best is None:
                raise
            return
        if self._guesses and run.late():
            return  # what was cut short says nothing about the hypothesis
        loss = loss_of_decisions(objective.loss, guess, self._whole)
        logger.info("%r: cross-validated loss %.6g", hypothesis, loss)
        if loss < min(self._losses.values(), default=np.inf):
            self.best = hypothesis, theta
        self._guesses[hypothesis], self._losses[hypothesis] = guess, loss

    def unexplained(self) -> float:
        """Return the least loss as a share of that of the first hypothesis."""
        first = max(next(iter(self._losses.values())), self._rounding)
        return min(self._losses.values()) / float(divisors(first))

    def simplest(self) -> Hypothesis:
        """Return the first hypothesis that is about as good as the best."""
        most = (1.0 + AS_GOOD) * min(self._losses.values()) + self._rounding
        return next(each for each, loss in self._losses.items() if loss <= most)

    def worth_blending(self) -> bool:
        """Tell whether facets and Minkowski sums together are clearly better than all others."""
        pair = [guess for each, guess in self._guesses.items() if _blends(each)]
        if len(pair) < 2:
            return False
        blended = np.einsum("t,tij->ij", best_weights(np.array(pair), self._whole), pair)
        loss = loss_of_decisions(self._objective.loss, blended, self._whole)
        return loss < (1.0 - WORTH_BLENDING) * min(self._losses.values()) - self._rounding

    def _left_out(self, objective: Objective) -> tuple[Array, Array]:
        """Return decisions for each fold, by a model of all others, and the last such model."""
        last = np.zeros(0)

        def fit(inner: Objective) -> Array:
            nonlocal last
            trained = self._fit(inner)
            if trained.result.status == "interrupted":
                raise KeyboardInterrupt
            last = trained.theta
            return last

        return out_of_fold(objective, self._fold, fit), last


def _blends(hypothesis: Hypothesis) -> bool:
    return isinstance(hypothesis, Facets | Minkowski)


# A part of the samples, where that is enough to choose by.


def subsample(objective: Objective, random: np.random.Generator) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part.

    Of samples that are not in memory the part is, and few of them are taken whole.
    """
    return replace(objective, samples=objective.samples.subsample(MOST_SAMPLES, random))
