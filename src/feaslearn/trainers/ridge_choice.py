"""How strong the ridge of annealing is, and how many columns: cross-validation on paths."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block, Samples
from feaslearn.runs import OutOfTime
from feaslearn.tolerances import SAME_TOL, SQUARE_ROUNDING
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge, polish
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.out_of_fold import folds_of
from feaslearn.trainers.starts import Policy, linear_policy_of, start_at_decisions

logger = logging.getLogger("feaslearn")

#: Strengths that are tried, the strongest first. None at all is not among them: where samples can
#: be explained exactly, the last refit drops the ridge by itself.
RIDGES = (1.0, 0.4, 0.2, 0.1, 0.05, 0.02)
#: The strength where there are too few samples to choose one.
COMMON_RIDGE = 0.1
FOLDS = 5
#: Shapes of the ridge that are tried: see `Ridge`.
FLOORS = (0.001, 1.0)
#: Temperatures of a path's first fit, and of those that continue from the one before.
FIRST, NEXT = (0.4, 0.13, 0.04), (0.13, 0.03)
#: Quasi-Newton steps at each of them.
STEPS = 20
#: A path ends after two strengths in a row that are so many times worse than the best.
HOPELESS = 1.5


class Choice(NamedTuple):
    """A ridge, the left-out loss of each fold with it, and parameters fitted without the first."""

    ridge: Ridge
    losses: Array
    theta: Array | None = None


@dataclass
class _Fold:
    """One fold: rows to fit, rows to measure, and where its path stands."""

    inner: Objective
    outer: Objective
    policy: Policy
    theta: Array
    index: int
    first: bool = True


def choose_ridge(
    objective: Objective,
    random: np.random.Generator,
    strengths: Sequence[float] = RIDGES,
    floors: Sequence[float] = FLOORS,
) -> Choice:
    """Choose strength and shape of the ridge by the left-out loss of returned decisions."""
    if objective.n_features <= 2:
        floors = floors[:1]  # one direction has one shape
    paths = [[Ridge(strength, floor) for strength in strengths] for floor in floors]
    folds = _folds(objective, random)
    common = Choice(min(paths[0], key=lambda r: abs(r.strength - COMMON_RIDGE)), np.zeros(1))
    if folds is None:
        return common
    tried: list[Choice] = []
    rounding = SQUARE_ROUNDING * float(np.mean([(fold.policy.spread**2).sum() for fold in folds]))
    for path in paths:
        moved = [replace(fold) for fold in folds]
        before = least = np.inf
        for ridge in path:
            try:
                losses = np.array(objective.each(partial(_next_fit, ridge=ridge), moved))
            except OutOfTime:
                break
            tried.append(Choice(ridge, losses, moved[0].theta))
            now, least = losses.mean(), min(choice.losses.mean() for choice in tried)
            if least <= rounding or min(before, now) > HOPELESS * least:
                break
            before = now
        if objective.run.late() or least <= rounding:
            break
    if not tried:
        return common
    best = min(tried, key=lambda choice: float(choice.losses.mean()))
    logger.info("%s: cross-validated loss %.6g", best.ridge, best.losses.mean())
    return best


def _folds(objective: Objective, random: np.random.Generator) -> list[_Fold] | None:
    """Split the samples, and begin the path of each fold."""
    rows = objective.load()
    if len(rows.weights) < 2 * FOLDS:
        return None
    fold = folds_of([rows], FOLDS, random)
    if len(np.unique(fold)) < FOLDS:
        return None
    seeds = random.integers(2**63, size=FOLDS)
    found = []
    for index, seed in enumerate(seeds):
        inner, outer = (
            replace(objective, samples=_rows(rows, chosen), n_jobs=1)
            for chosen in (fold != index, fold == index)
        )
        theta = start_at_decisions(inner, np.random.default_rng(seed))
        found.append(_Fold(inner, outer, linear_policy_of(inner), theta, index))
    return found


def _rows(rows: Block, chosen: Mask) -> Samples:
    """Return some of the rows, with weights that add up to one."""
    return Samples.of(rows.rows(chosen).normalized())


def _next_fit(fold: _Fold, ridge: Ridge) -> float:
    """Move a fold along its path to a weaker ridge; return its left-out loss."""
    inner = fold.inner
    problem, theta = AnnealedObjective(inner, fold.policy, ridge), fold.theta
    if problem.scale > 0.0:
        for temperature in FIRST if fold.first else NEXT:
            inner.run.check_time()
            theta = problem.descend(theta, temperature, STEPS, SAME_TOL)[0]
    inner.run.check_time()
    polished = polish(problem, theta)
    fold.theta, fold.first = theta, False
    return float(fold.outer.value(polished))
