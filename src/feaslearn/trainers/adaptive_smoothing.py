"""Algorithm 2 of the paper: gradient descent on a loss that is smoothed less and less."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.hypotheses import MapHypothesis
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.parameters import POSITIVE, Constraints
from feaslearn.tolerances import DESCENT_ROUNDING
from feaslearn.trainers.gradient_descent import (
    NoStep,
    Step,
    backtrack,
    first_size,
    no_gradient_in,
)
from feaslearn.trainers.iterative import Callback, Iterate, IterativeTrainer
from feaslearn.trainers.running import Given
from feaslearn.trainers.smoothed_objective import Smoothed, SmoothedObjective
from feaslearn.trainers.starts import Start

#: No step is longer than this many times the one before it.
LONGEST = 10.0


@dataclass
class SmoothedIterate(Iterate):
    """An iterate of Algorithm 2: with the smoothed loss, its weight and its slacks.

    ``step`` is the size that the next step tries first, None for the first of all, and ``start``
    the smoothed loss of the first iterate.
    """

    problem: SmoothedObjective | None = None
    epsilon: float = 1.0
    found: Smoothed | None = None
    step: float | None = None
    start: float = field(default=np.inf)


class AdaptiveSmoothing(IterativeTrainer):
    r"""Gradient steps on a loss with slack, which becomes dearer as the search goes on.

    .. math:: \min_\theta \sum_i w_i \min_{\gamma, z, \lambda} \left[ \|\gamma_i\|^2
              + \epsilon \|\gamma_{s1,i}\|^2 + \epsilon \|\gamma_{s2,i}\|^2 \right]

    The slacks :math:`\gamma_s` loosen the region and the optimality of its decisions, which makes
    the loss smooth; at a fixed :math:`\epsilon` it never rises. It is doubled when the mean
    squared slack changes by less than :math:`0.01 / 10^{\log_2 \epsilon + 1}` of the scale of the
    data. Each term carries the weight 1/N, which the paper leaves out of the second and third.
    Steps are taken in standardised features; their size is tried from the change of the gradient
    (Barzilai and Borwein) and halved until Armijo's rule holds.

    Compiled kernels solve the inner problem where they serve the set: simplices, boxes, balls,
    hypersimplices, polytopes whose vertices can be listed, and products of those without L2 balls.
    Other sets, among them larger polytopes and those with second-order cones, go through CVXPY,
    which is slower by orders of magnitude.

    Parameters
    ----------
    max_iter : int, default=1000
        Steps from each start.
    max_seconds : float, default=None
        Limit on the wall time of the whole search.
    tol : float, default=1e-9
        A relative decrease below this ends the work at one epsilon.
    n_starts : int, default=1
        How many starts; ``n_jobs`` of the estimator walks several at a time, with the same result.
    start : Start or array-like, default=None
        Where searches begin: a strategy of ``feaslearn.trainers.starts``, or parameters such as
        ``theta_`` of another model. By default around the linear policy.
    epsilon : float, default=1.0
        The first weight of the slacks.
    max_epsilon : float, default=2**20
        The last one: a walk that is done with it has converged.
    normalize_cost : bool, default=True
        Divide each cost by its length inside the smoothed loss, so that the unit of money does not
        matter. Suboptimality has a parameter of its own for that, which then counts.
    compiled : bool, default=True
        Whether kernels solve the inner problem where they serve the set; otherwise all of it goes
        through CVXPY, as in the paper, to the same value.
    callback : callable, default=None
        Called with the iteration and the `Iterate`; a true answer stops the search.
    checkpoint : path-like, default=None
        File that keeps finished starts: a fit that was killed resumes from them.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Algorithm 2.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.AdaptiveSmoothing(),
    ...     random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.objective < 1e-6
    True
    """

    def __init__(
        self,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-9,
        n_starts: int = 1,
        start: Start | ArrayLike | None = None,
        epsilon: float = 1.0,
        max_epsilon: float = 2.0**20,
        normalize_cost: bool = True,
        compiled: bool = True,
        callback: Callback | None = None,
        checkpoint: Given = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.n_starts = n_starts
        self.start = start
        self.epsilon = epsilon
        self.max_epsilon = max_epsilon
        self.normalize_cost = normalize_cost
        self.compiled = compiled
        self.callback = callback
        self.checkpoint = checkpoint

    parameter_constraints: ClassVar[Constraints] = {"epsilon": POSITIVE, "max_epsilon": POSITIVE}

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what has no gradient, sets that are not convex, and losses that are not squared."""
        problems = no_gradient_in(objective)
        hypothesis, loss = objective.hypothesis, objective.loss
        if isinstance(hypothesis, MapHypothesis):
            primitive = hypothesis.latent(objective.n_decisions)
            if primitive.discrete:
                problems.append(f"{primitive!r} is not convex (MixedInteger trains it)")
        if not isinstance(loss, Predictability | Suboptimality):
            problems.append(f"{loss!r} has no smoothed program (GradientDescent trains any loss)")
        elif loss.norm != "l2" or not loss.squared:
            problems.append(
                f"{loss!r} is not a squared l2 loss, such as {type(loss).__name__}() "
                "(GradientDescent trains any norm)"
            )
        return problems

    def init(self, objective: Objective, theta: Array) -> SmoothedIterate:
        """Evaluate the smoothed loss at the start."""
        problem = SmoothedObjective(objective, self.normalize_cost, self.compiled)
        found = problem.evaluate(theta, self.epsilon)
        return self._iterate(
            objective,
            SmoothedIterate(
                theta,
                found.value,
                found.gradient,
                problem=problem,
                epsilon=float(self.epsilon),
                found=found,
                start=found.value,
            ),
        )

    def step(self, objective: Objective, iterate: Iterate) -> SmoothedIterate:
        """Take one backtracked step, and double epsilon where the slack has settled."""
        if not isinstance(iterate, SmoothedIterate) or iterate.problem is None:
            raise AssertionError("not an iterate of this method")
        problem, epsilon, before = iterate.problem, iterate.epsilon, iterate.found
        if before is None:
            raise AssertionError("an iterate without a smoothed loss")
        if before.value <= DESCENT_ROUNDING * iterate.start and iterate.loss <= DESCENT_ROUNDING:
            return replace(iterate, finished="converged")

        def evaluate(theta: Array) -> tuple[float, Smoothed]:
            found = problem.evaluate(theta, epsilon)
            return found.value, found

        taken: Step[Smoothed] | NoStep = NoStep(stationary=True)
        if before.gradient.any():
            size = iterate.step or first_size(objective, iterate.theta, before.gradient)
            taken = backtrack(
                objective, iterate.theta, before.value, before.gradient, size, evaluate
            )
        if isinstance(taken, NoStep):
            return self._dearer(objective, iterate)
        after = taken.found
        following = replace(
            iterate,
            theta=taken.theta,
            value=after.value,
            gradient=after.gradient,
            found=after,
            step=_next_size(iterate, taken),
        )
        decreased = before.value - after.value > self.tol * before.value
        settled = problem.slack_change(before, after) < 0.01 / 10.0 ** (np.log2(epsilon) + 1.0)
        if settled or not decreased:
            return self._dearer(objective, following)
        return self._iterate(objective, following)

    def _dearer(self, objective: Objective, iterate: SmoothedIterate) -> SmoothedIterate:
        """Double epsilon at the same parameters; the search is over where it was the last."""
        if iterate.problem is None or 2.0 * iterate.epsilon > self.max_epsilon:
            return self._iterate(objective, replace(iterate, finished="converged"))
        epsilon = 2.0 * iterate.epsilon
        found = iterate.problem.evaluate(iterate.theta, epsilon)
        step = None if iterate.step is None else iterate.step / 2.0
        return self._iterate(
            objective,
            replace(
                iterate,
                epsilon=epsilon,
                value=found.value,
                gradient=found.gradient,
                found=found,
                step=step,
            ),
        )

    def _iterate(self, objective: Objective, iterate: SmoothedIterate) -> SmoothedIterate:
        """Add the training loss, and what the history keeps."""
        if iterate.found is None:
            raise AssertionError("an iterate without a smoothed loss")
        record = {
            "smoothed_loss": iterate.found.value,
            "slack_primal": iterate.found.slack_primal,
            "slack_dual": iterate.found.slack_dual,
            "epsilon": iterate.epsilon,
        }
        return replace(iterate, training_loss=objective.value(iterate.theta), record=record)


def _next_size(iterate: SmoothedIterate, taken: Step[Smoothed]) -> float:
    """Return the size that the next step tries: what the change of the gradient suggests."""
    move, turn = taken.theta - iterate.theta, taken.found.gradient - iterate.gradient
    curvature = float(move @ turn)
    longest = LONGEST * taken.size
    return min(float(move @ move) / curvature, longest) if curvature > 0.0 else longest
