"""How many columns an affine image has where that is left open: ``Affine(Simplex("auto"))``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses import Affine
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective
from feaslearn.sets import Simplex
from feaslearn.trainers.ridge_choice import choose_ridge
from feaslearn.trainers.sample_order import ordered
from feaslearn.trainers.some_samples import some_samples
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import DataStart

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

#: Numbers of columns that are tried.
SIZES = (1, 2, 3, 5, 9, 13)


def open_size(hypothesis: Hypothesis) -> bool:
    """Say whether the number of columns is left to the fit."""
    return (
        isinstance(hypothesis, Affine)
        and isinstance(hypothesis.primitive, Simplex)
        and hypothesis.primitive.open_size
    )


def with_size(hypothesis: Hypothesis, p: int) -> Hypothesis:
    """Return the hypothesis with p columns, if their number is open; otherwise itself."""
    if not open_size(hypothesis):
        return hypothesis
    return Affine(Simplex(p, hypothesis.primitive.binary))


def choose_size(objective: Objective, random: np.random.Generator) -> Objective:
    """Choose an open number of columns by the cross-validated loss of annealing.

    Each number has its own ridge, see `choose_ridge`; all see the same folds. The smallest within
    one standard error of the best is taken. Too few samples for the folds get one column.
    """
    if not open_size(objective.hypothesis):
        return objective
    some = some_samples(ordered(objective), random)
    standard = Standardization.of(some).apply(some)
    seed = int(random.integers(2**63))
    losses: list[Array] = []
    for p in SIZES:
        tried = replace(standard, hypothesis=with_size(Affine(Simplex("auto")), p))
        tried = tried.within(f"{p} columns")
        choice = choose_ridge(tried, DataStart(), np.random.default_rng(seed))
        if objective.run.late() and losses:
            break  # the paths of this one were cut short
        losses.append(choice.losses)
        logger.info("%d columns: cross-validated loss %.6g", p, choice.losses.mean())
    p = SIZES[simplest_within_error(losses)]
    return replace(objective, hypothesis=with_size(objective.hypothesis, p))


def simplest_within_error(columns: Sequence[Array]) -> int:
    """Return the first of several that is within one standard error of the best.

    ``columns`` hold the losses of the same folds, the simplest model first.
    """
    best = min(range(len(columns)), key=lambda j: columns[j].mean())
    for j, column in enumerate(columns[:best]):
        worse = column - columns[best]
        if worse.mean() <= worse.std() / np.sqrt(len(worse)):
            return j
    return best
