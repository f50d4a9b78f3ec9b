"""What "auto" means: the trainer of a hypothesis, and the hypothesis of a data set."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, shards
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses import Affine, Blend, Facets, Scaled
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.sets import Box, Simplex
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.blending import Blending
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facet_learning import FacetLearning
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.mixed_integer import MixedInteger
from feaslearn.trainers.trainer import Trainer, returned_loss

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

FOLDS = 5
#: Facet regions, grown on different splits, in the blend that "auto" takes where facets win.
MEMBERS = 8


def choose_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself, or for "auto" the first that serves the objective."""
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
    return next(each for each in served if not each.mismatches(objective))


def linear_policy() -> Hypothesis:
    """Return the class of regions that are a single point b(s)."""
    return Affine(Simplex(1))


def candidates(n: int) -> list[Hypothesis]:
    """Return the hypotheses that "auto" tries on n decisions, the simplest first."""
    return [linear_policy(), Scaled(Simplex(n)), Scaled(Box(n)), Facets()]


def choose_hypothesis(
    objective: Objective, random: np.random.Generator, trainer: Trainer | str = "auto"
) -> Hypothesis:
    """Choose a hypothesis by the cross-validated loss of the returned decisions.

    Of those within one per cent of the best, the simplest. The hypothesis of ``objective`` itself
    does not count, nor do those that the trainer does not serve. With too few samples for the
    folds, the simplest is taken.
    """
    tried = [
        replace(objective, hypothesis=hypothesis)
        for hypothesis in candidates(objective.n_decisions)
    ]
    served = [each for each in tried if not choose_trainer(trainer, each).mismatches(each)]
    whole = Shard(*(np.concatenate(parts) for parts in zip(*objective.shards, strict=True)))
    n_samples = len(whole.weights)
    if n_samples < 2 * FOLDS or len(served) < 2:
        return (served or tried)[0].hypothesis
    fold = random.permutation(n_samples) % FOLDS
    losses = [_left_out_loss(each, whole, fold, random, trainer) for each in served]
    for each, loss in zip(served, losses, strict=True):
        logger.info("%r: cross-validated loss %.6g", each.hypothesis, loss)
    rounding = 1e-12 * float(whole.weights @ np.nan_to_num(whole.decisions**2).sum(axis=1))
    good = np.flatnonzero(np.array(losses) <= 1.01 * min(losses) + rounding)
    chosen = served[int(good[0])].hypothesis
    if isinstance(chosen, Facets) and trainer == "auto":
        # Facets grown on several splits, blended, are steadier than any one of them.
        return Blend([Facets() for _ in range(MEMBERS)])
    return chosen


def _left_out_loss(
    objective: Objective,
    whole: Shard,
    fold: NDArray[np.intp],
    random: np.random.Generator,
    trainer: Trainer | str,
) -> float:
    """Train on all folds but one, measure on that one, and add up."""
    total = 0.0
    for left_out in range(FOLDS):
        inner = replace(objective, shards=_rows(whole, fold != left_out))
        outer = replace(objective, shards=_rows(whole, fold == left_out))
        trained = _quick_trainer(trainer, inner).train(inner, random)
        if trained.result.status == "interrupted":
            # There is no model yet that could be returned.
            raise KeyboardInterrupt
        total += returned_loss(outer, trained.theta)
    return total


def _quick_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself; for "auto" one that is good enough to compare hypotheses."""
    if isinstance(objective.hypothesis, Facets) and trainer == "auto":
        return FacetLearning(n_starts=1)
    return choose_trainer(trainer, objective)


def _rows(whole: Shard, chosen: NDArray[np.bool_]) -> list[Shard]:
    return list(shards(Shard(*(np.ascontiguousarray(array[chosen]) for array in whole))))
