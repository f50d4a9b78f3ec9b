"""Algorithm 1 of the paper: gradient descent on the exact loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.hypotheses import MapHypothesis, Ternary
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.trainers.backtracking import NoStep, backtrack, first_size
from feaslearn.trainers.iterative import IterativeTrainer
from feaslearn.trainers.running import Given
from feaslearn.trainers.starts import Start
from feaslearn.trainers.walk import Callback, Iterate

#: A loss below this share of the one at the start is rounding errors.
NEGLIGIBLE = 1e-15

Array = NDArray[np.float64]


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
        How many starts; ``n_jobs`` of the estimator walks several at a time, with the same result.
    start : Start or array-like, default=None
        Where searches begin: a strategy of ``feaslearn.trainers.starts``, or parameters such as
        ``theta_`` of another model. By default around the linear policy.
    callback : callable, default=None
        Called with the iteration and the `Iterate`; a true answer stops the search.
    checkpoint : path-like, default=None
        File that keeps finished starts: a fit that was killed resumes from them.

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

    def __init__(
        self,
        max_iter: int = 500,
        max_seconds: float | None = None,
        tol: float = 1e-9,
        n_starts: int = 5,
        start: Start | ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: Given = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.n_starts = n_starts
        self.start = start
        self.callback = callback
        self.checkpoint = checkpoint

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that has no gradient; every loss is served."""
        return no_gradient_in(objective)

    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        """Take one backtracked gradient step, back into the class where it leaves it."""
        theta, value, gradient = iterate.theta, iterate.value, iterate.gradient
        start = iterate.memory.get("start", value)
        if not gradient.any() or value <= NEGLIGIBLE * start:
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
    if isinstance(objective.hypothesis, Ternary):
        return [f"{objective.hypothesis!r} has whole numbers in it (MixedInteger trains it)"]
    if isinstance(objective.hypothesis, MapHypothesis):
        return []
    return [
        f"{objective.hypothesis!r} has no gradient in its parameters (FacetLearning trains "
        "Facets, Blending trains Blend)"
    ]
