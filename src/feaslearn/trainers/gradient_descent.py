"""Algorithm 1 of the paper: gradient descent on the exact loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.tolerances import DESCENT_ROUNDING
from feaslearn.trainers.iterative import Callback, Iterate, IterativeTrainer
from feaslearn.trainers.starts import Start

Found = TypeVar("Found")

#: Share of the predicted decrease that a step must keep (Armijo's rule).
SUFFICIENT = 1e-4
#: The first step moves the parameters by this share of their length: a longer one can throw all
#: columns but one out of reach for good.
FIRST_STEP = 0.1
#: A step that was halved this often and still does not help never will.
HALVINGS = 60


@dataclass(eq=False, repr=False)
class GradientDescent(IterativeTrainer):
    r"""Gradient steps :math:`\theta \leftarrow \theta - \eta \nabla \ell(\theta)`, Armijo's rule.

    The gradient of the exact loss in closed form, for both losses and every set. The loss of a
    polyhedral set is not smooth, and this method stalls in poor local minima as the paper says;
    it is here because the paper has it. Steps are taken in standardised features.

    Parameters
    ----------
    max_iter : int, default=500
        Steps from each start.
    max_seconds : float, default=None
        Limit on the wall time of the whole search.
    tol : float, default=1e-9
        Stop when the relative decrease of the objective falls below this.
    n_starts : int, default=5
        How many starts; ``n_jobs`` of the estimator runs several at a time, with the same result.
    start : Start or array-like, default=None
        Where searches begin: a strategy of ``feaslearn.trainers.starts``, or parameters such as
        ``theta_`` of another model. By default around the linear policy.
    callback : callable, default=None
        Called with the iteration and the `Iterate`; a true answer stops the search.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Algorithm 1.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.GradientDescent(),
    ...     random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.objective < 0.1
    True
    """

    max_iter: int = 500
    max_seconds: float | None = None
    tol: float = 1e-9
    n_starts: int = 5
    start: Start | ArrayLike | None = None
    callback: Callback | None = None

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that has no gradient; every loss is served."""
        return no_gradient_in(objective)

    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        """Take one backtracked gradient step, back into the class where it leaves it."""
        theta, value, gradient = iterate.theta, iterate.value, iterate.gradient
        start = iterate.memory.get("start", value)
        if not gradient.any() or value <= DESCENT_ROUNDING * start:
            return replace(iterate, finished="converged")
        size = iterate.memory.get("step") or first_size(objective, theta, gradient)
        taken = backtrack(objective, theta, value, gradient, size, objective.value_and_gradient)
        if isinstance(taken, NoStep):
            return replace(iterate, finished="converged" if taken.stationary else "stalled")
        reached, slope = taken.value, taken.found
        done: Status | None = "converged" if value - reached <= self.tol * value else None
        return Iterate(
            taken.theta, reached, slope, {"start": start, "step": 2.0 * taken.size}, done
        )


def no_gradient_in(objective: Objective) -> list[str]:
    """Name a hypothesis that has no gradient in its parameters."""
    if objective.hypothesis.integer_parameters:
        return [f"{objective.hypothesis!r} has integers in it (MixedInteger trains it)"]
    if objective.hypothesis.as_maps() is not None:
        return []
    return [
        f"{objective.hypothesis!r} has no gradient in its parameters (FacetLearning trains Facets)"
    ]


# Descent steps that Armijo's rule accepts.


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
    """Return the size of a first step along a gradient that is not zero."""
    # The length of the parameters is counted from the mean decision, so that moving all decisions
    # changes nothing.
    hypothesis, k, n = objective.maps(), objective.n_features, objective.n_decisions
    seen, total = objective.samples.sum(_observed, objective.n_jobs)
    mean = np.vstack([total / np.where(seen > 0.0, seen, 1.0), np.zeros((k - 1, n))])
    p = hypothesis.latent(n).dimension
    away = theta - hypothesis.theta_of(Maps(np.zeros((k, n, p)), mean))
    return FIRST_STEP * (float(np.linalg.norm(away)) or 1.0) / float(np.linalg.norm(gradient))


def _observed(block: Block) -> tuple[Array, Array]:
    """Return the weight of all observations of each decision, and their weighted sum."""
    seen = ~np.isnan(block.decisions)
    return block.weights @ seen, block.weights @ np.where(seen, block.decisions, 0.0)


def backtrack(
    objective: Objective,
    theta: Array,
    value: float,
    gradient: Array,
    size: float,
    evaluate: Callable[[Array], tuple[float, Found]],
) -> Step[Found] | NoStep:
    """Halve a gradient step until it keeps a share of the decrease it promises."""
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
