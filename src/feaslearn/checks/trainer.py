"""Check of a trainer: its result is reproducible and matches its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from sklearn.base import clone

from feaslearn.checks.cases import (
    Find,
    changed_parameters,
    lost_in_a_clone,
    raise_findings,
    violating,
)
from feaslearn.data import Block, Samples
from feaslearn.exceptions import Problems
from feaslearn.hypotheses import Affine, Hypothesis
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Loss, Objective, Predictability
from feaslearn.results import Status
from feaslearn.sets import Simplex
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers import Trained, Trainer
from feaslearn.trainers.returned_decisions import returned_loss

#: Properties by name, each with what looks for cases that violate it.
PROPERTIES: dict[str, Find] = {}


@dataclass(frozen=True)
class TrainerCases:
    """A trainer, what it is to minimise, and what it finds."""

    trainer: Trainer
    objective: Objective
    seed: int

    def train(self) -> Trained:
        """Return what a fresh copy of the trainer finds."""
        copy: Trainer = clone(self.trainer)
        return copy.train(self.objective, np.random.default_rng(self.seed))

    @cached_property
    def trained(self) -> Trained:
        """What it finds."""
        return self.train()


def check_trainer(
    trainer: Trainer,
    hypothesis: Hypothesis | None = None,
    loss: Loss | None = None,
    *,
    n_decisions: int = 2,
    random_state: int = 0,
) -> None:
    """Check that a trainer keeps every promise that the estimator relies on.

    It is asked to learn from 40 samples of a region that moves with one feature. What it returns
    must be what it says it is, the same each time, and no worse than a region of one point.

    Parameters
    ----------
    trainer : Trainer
        The trainer. Give it small limits, such as ``max_iter=50``: it is run three times.
    hypothesis : Hypothesis, default=None
        A class that it serves; default ``Affine(Simplex(3))``.
    loss : Loss, default=None
        A loss that it serves; default ``Predictability()``.
    n_decisions : int, default=2
        How many decisions the samples have.
    random_state : int, default=0
        Seed of the samples and of the trainer.

    Raises
    ------
    CheckError
        If a property is violated. The error lists all that are, each with a case that shows it.

    See Also
    --------
    check_loss : The same for a loss.
    check_primitive_set : The same for a primitive set.

    Examples
    --------
    >>> from feaslearn import Minkowski
    >>> from feaslearn.checks import check_trainer
    >>> from feaslearn.trainers import Convex
    >>> check_trainer(Convex(), Minkowski.box(2))
    """
    hypothesis = Affine(Simplex(3)) if hypothesis is None else hypothesis
    block = _samples(n_decisions, np.random.default_rng(random_state))
    objective = Objective(Predictability() if loss is None else loss, hypothesis, Samples.of(block))
    cases = TrainerCases(trainer, objective, random_state)
    # A trainer that refuses has no result to check.
    raise_findings(trainer, {"it serves what it is checked on": _served}, cases)
    raise_findings(trainer, PROPERTIES, cases)


def _samples(n: int, rng: np.random.Generator) -> Block:
    """Return decisions of a simplex that moves with one feature, with a little noise."""
    count, truth = 40, Affine(Simplex(n + 1))
    features = np.column_stack([np.ones(count), rng.uniform(size=count)])
    costs = rng.normal(size=(count, n))
    theta = rng.normal(size=truth.layout(n, 2).size)
    decisions = truth.predict(theta, features, costs) + 0.01 * rng.normal(size=(count, n))
    return Block(features, costs, decisions, np.full(count, 1.0 / count))


def _served(cases: TrainerCases) -> Iterator[str]:
    block = cases.objective.first
    bare = Objective(
        cases.objective.loss, cases.objective.hypothesis, Samples.of(block.rows(block.weights < 0))
    )
    yield from cases.trainer.mismatches(bare)
    problems = Problems()
    cases.trainer.check(problems)
    yield from problems.messages


@violating(PROPERTIES, "parameters survive a clone and a training")
def _parameters(cases: TrainerCases) -> Iterator[str]:
    yield from lost_in_a_clone(cases.trainer)
    used = clone(cases.trainer)
    used.train(cases.objective, np.random.default_rng(cases.seed))
    yield from changed_parameters(cases.trainer, used, "by training")


@violating(PROPERTIES, "theta fits the hypothesis")
def _fitting(cases: TrainerCases) -> Iterator[str]:
    theta = np.asarray(cases.trained.theta)
    if theta.shape != (cases.objective.size,):
        yield f"theta has shape {theta.shape}, the hypothesis has {cases.objective.size} parameters"
    elif not np.isfinite(theta).all():
        yield "theta holds values that are not finite"


@violating(PROPERTIES, "the result is true")
def _honest(cases: TrainerCases) -> Iterator[str]:
    theta, result = cases.trained.theta, cases.trained.result
    if result.status not in get_args(Status):
        yield f"status={result.status!r} is not one of {', '.join(map(repr, get_args(Status)))}"
    reported = {"objective": result.objective, "returned_loss": result.returned_loss}
    true = {
        "objective": cases.objective.value(theta),
        "returned_loss": returned_loss(cases.objective, theta),
    }
    for name, value in reported.items():
        if not abs(value - true[name]) <= SAME_TOL * max(1.0, abs(true[name])):
            yield f"{name} is {value:.9g}, but that of its parameters is {true[name]:.9g}"
    bound = result.lower_bound
    if bound is not None and bound > true["objective"] + SAME_TOL * max(1.0, abs(bound)):
        yield f"lower_bound={bound:.9g} is above the loss {true['objective']:.9g}"


@violating(PROPERTIES, "the same seed gives the same region")
def _repeatable(cases: TrainerCases) -> Iterator[str]:
    first, second = cases.trained.theta, cases.train().theta
    if not np.array_equal(first, second):
        yield f"two runs with the same seed differ by up to {np.abs(first - second).max():.2g}"


@violating(PROPERTIES, "the samples stay as they are")
def _gentle(cases: TrainerCases) -> Iterator[str]:
    block = cases.objective.first
    kept = Block(*(array.copy() for array in block))
    cases.train()
    for name, before, after in zip(Block._fields, kept, block, strict=True):
        if not np.array_equal(before, after):
            yield f"training changed the {name} of the samples"


@violating(PROPERTIES, "something is learned")
def _learning(cases: TrainerCases) -> Iterator[str]:
    hypothesis, block = cases.objective.hypothesis.as_maps(), cases.objective.first
    if hypothesis is None:
        return
    n, k = block.decisions.shape[1], block.features.shape[1]
    p = hypothesis.latent(n).dimension
    offset = np.zeros((k, n))
    offset[0] = block.decisions.mean(axis=0)
    point = cases.objective.value(hypothesis.theta_of(Maps(np.zeros((k, n, p)), offset)))
    found = cases.objective.value(cases.trained.theta)
    if found > point:
        yield f"its training loss is {found:.4g}, that of the mean decision alone {point:.4g}"
