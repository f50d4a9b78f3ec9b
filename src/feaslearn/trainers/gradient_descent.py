"""Algorithm 1 of the paper: gradient descent on the exact loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses import MapHypothesis, Ternary
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.trainers.iterative import Callback, Iterate, IterativeTrainer

#: Share of the predicted decrease that a step must keep (Armijo's rule).
SUFFICIENT = 1e-4
#: The first step moves the parameters by this share of their length: a longer one can throw all
#: columns but one out of reach for good.
FIRST_STEP = 0.1
#: A loss below this share of the one at the start is rounding errors.
NEGLIGIBLE = 1e-15
#: A step that was halved this often and still does not help never will.
HALVINGS = 60

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
        Starts around the linear policy.
    noise : float, default=1.0
        Spread of the starts, in units of the linear policy's residuals.
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

    def __init__(
        self,
        max_iter: int = 500,
        max_seconds: float | None = None,
        tol: float = 1e-9,
        n_starts: int = 5,
        noise: float = 1.0,
        callback: Callback | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.n_starts = n_starts
        self.noise = noise
        self.callback = callback

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that has no gradient; every loss is served."""
        if isinstance(objective.hypothesis, Ternary):
            return [f"{objective.hypothesis!r} has whole numbers in it (MixedInteger trains it)"]
        if isinstance(objective.hypothesis, MapHypothesis):
            return []
        return [
            f"{objective.hypothesis!r} has no gradient in its parameters (FacetLearning trains "
            "Facets, Blending trains Blend)"
        ]

    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        """Take one backtracked gradient step, back into the class where it leaves it."""
        theta, value, gradient = iterate.theta, iterate.value, iterate.gradient
        length = float(np.linalg.norm(gradient))
        start = iterate.memory.get("start", value)
        if length == 0.0 or value <= NEGLIGIBLE * start:
            return replace(iterate, finished="converged")
        first = FIRST_STEP * (float(np.linalg.norm(theta)) or 1.0) / length
        size = iterate.memory.get("step", first)
        for halving in range(HALVINGS):
            tried = _nearest(objective, theta - size * gradient)
            promised = float(gradient @ (theta - tried))
            if promised <= 0.0:
                # Nowhere to go: from the start of the step, or because it has become too short.
                return replace(iterate, finished="stalled" if halving else "converged")
            reached, slope = objective.value_and_gradient(tried)
            if reached <= value - SUFFICIENT * promised:
                done: Status | None = "converged" if value - reached <= self.tol * value else None
                return Iterate(tried, reached, slope, {"start": start, "step": 2.0 * size}, done)
            size /= 2.0
        return replace(iterate, finished="stalled")


def _nearest(objective: Objective, theta: Array) -> Array:
    """Return the parameters of the class nearest to ``theta``: a scale is not negative."""
    hypothesis = objective.maps()
    return hypothesis.theta_of(hypothesis.maps(theta, objective.n_decisions, objective.n_features))
