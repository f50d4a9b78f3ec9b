"""Descent steps that Armijo's rule accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective

Array = NDArray[np.float64]
Found = TypeVar("Found")

#: Share of the predicted decrease that a step must keep (Armijo's rule).
SUFFICIENT = 1e-4
#: The first step moves the parameters by this share of their length: a longer one can throw all
#: columns but one out of reach for good.
FIRST_STEP = 0.1
#: A step that was halved this often and still does not help never will.
HALVINGS = 60


class Step(NamedTuple, Generic[Found]):
    """An accepted step: new parameters, their value, the size taken, what else was found there."""

    theta: Array
    value: float
    size: float
    found: Found


class NoStep(NamedTuple):
    """No step helps; ``stationary`` if not even its direction is left in the class."""

    stationary: bool


def first_size(objective: Objective, theta: Array, gradient: Array) -> float:
    """Return the size of a first step along a gradient that is not zero.

    The length of the parameters is counted from the mean decision, so that moving all decisions
    changes nothing.
    """
    hypothesis, k, n = objective.maps(), objective.n_features, objective.n_decisions
    seen, total = objective.total(_observed)
    mean = np.vstack([total / np.where(seen > 0.0, seen, 1.0), np.zeros((k - 1, n))])
    p = hypothesis.latent(n).dimension
    away = theta - hypothesis.theta_of(Maps(np.zeros((k, n, p)), mean))
    return FIRST_STEP * (float(np.linalg.norm(away)) or 1.0) / float(np.linalg.norm(gradient))


def _observed(shard: Shard) -> tuple[Array, Array]:
    """Return the weight of all observations of each decision, and their weighted sum."""
    seen = ~np.isnan(shard.decisions)
    return shard.weights @ seen, shard.weights @ np.where(seen, shard.decisions, 0.0)


def backtrack(
    objective: Objective,
    theta: Array,
    value: float,
    gradient: Array,
    size: float,
    evaluate: Callable[[Array], tuple[float, Found]],
) -> Step[Found] | NoStep:
    """Halve a gradient step until it keeps a share of the decrease it promises.

    Parameters
    ----------
    objective : Objective
        Names the class, into which each step is brought back.
    theta, value, gradient : ndarray, float, ndarray
        Where the step begins.
    size : float
        The size tried first.
    evaluate : callable
        Returns the value at new parameters, and whatever else is found there.

    Returns
    -------
    Step or NoStep
        The first size that helps, or none.

    Raises
    ------
    OutOfTime
        If the time is up before one is found.
    """
    for halving in range(HALVINGS):
        tried = nearest_in_class(objective, theta - size * gradient)
        promised = float(gradient @ (theta - tried))
        if promised <= 0.0:
            # Nowhere to go: from the start of the step, or because it has become too short.
            return NoStep(stationary=halving == 0)
        if halving:
            objective.run.check_time()
        reached, found = evaluate(tried)
        if reached <= value - SUFFICIENT * promised:
            return Step(tried, reached, size, found)
        size /= 2.0
    return NoStep(stationary=False)


def nearest_in_class(objective: Objective, theta: Array) -> Array:
    """Return the parameters of the class nearest to ``theta``: a scale is not negative."""
    hypothesis = objective.maps()
    return hypothesis.theta_of(hypothesis.maps(theta, objective.n_decisions, objective.n_features))
