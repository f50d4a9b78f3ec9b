"""Our trainer for affine images: a smooth stand-in for the loss, cooled step by step."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.hypotheses import Affine
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.parameters import NOT_NEGATIVE, POSITIVE, Constraints, Either, Number
from feaslearn.results import Status
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge, polish
from feaslearn.trainers.iterative import Callback, Iterate, IterativeTrainer
from feaslearn.trainers.out_of_fold import subsample
from feaslearn.trainers.ridge_choice import FLOORS, RIDGES, choose_ridge
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import DataStart, GivenStart, Start, linear_policy_of
from feaslearn.trainers.trainer import Trained, measure

#: Temperatures of a start.
TEMPERATURES = 5
#: The run on all samples begins at most as warm as this: it starts from a good fit.
COOL = 0.03


@dataclass(eq=False, repr=False)
class Annealing(IterativeTrainer):
    r"""Quasi-Newton steps on a smooth loss that is cooled down to the exact one.

    .. math:: \min_\theta \sum_i w_i \|A_i z_\tau(A_i'c_i) + b_i - x_i\|^2
              + \lambda \|\theta - \theta_0\|_W^2

    A smooth minimiser :math:`z_\tau` stands for the minimiser over Z: for a simplex, weights
    :math:`\propto e^{-q_k/\tau}` on its columns. The temperature :math:`\tau` falls from
    ``warmest`` to ``coldest``, in units of the residuals of the linear policy and for costs of
    length one; then parameters are fitted once more by least squares with the minimisers held,
    if that helps. The ridge pulls toward the linear policy :math:`\theta_0` in standardised
    features; its strength and its shape are chosen by cross-validation. Columns that no decision
    uses are drawn back to the policy by the ridge; without one, they are moved to the samples that
    are explained worst, and kept there if that fits better. Of all starts, the one whose *returned*
    decisions fit best (with the ridge) is kept; the linear policy itself takes part, and one that
    explains every sample ends the search.

    Both losses in every norm are served. Suboptimality, which is continuous, takes the place of
    the smooth loss after the last temperature. Sets: simplices, boxes, balls, hypersimplices,
    polytopes whose vertices can be enumerated, and products of those. With more than 20 000
    samples, a random part of them chooses the ridge and the start, and the last run is on all.

    Parameters
    ----------
    max_iter : int, default=200
        Quasi-Newton steps from each start, over all temperatures.
    max_seconds : float, default=None
        Limit on the wall time of the whole search.
    tol : float, default=1e-9
        A relative decrease below this ends the work at one temperature.
    n_starts : int, default=4
        How many starts; ``n_jobs`` of the estimator runs several at a time, with the same result.
    start : Start or array-like, default=None
        A strategy of ``feaslearn.trainers.starts``, or parameters such as ``theta_`` of another
        model. By default the linear policy moved to observed decisions.
    ridge : "auto" or float, default="auto"
        Strength of the ridge, relative to the mean squared loss; 0 for none.
    ridge_floor : "auto" or float, default="auto"
        Shape of the ridge, in (0, 1]. With 1 all directions of the signal are alike; near 0, the
        ridge is strong in those directions in which the linear policy hardly moves, so that
        columns respond to what the decisions respond to on the whole. See `Ridge`.
    warmest, coldest : float, default=0.4 and 0.01
        First and last temperature. To refine a model given as ``start``, begin cooler.
    callback : callable, default=None
        Called with the number of temperatures seen and the `Iterate`; a true answer stops the
        search.

    References
    ----------
    Rose, "Deterministic annealing for clustering, compression, classification, regression, and
    related optimization problems", Proceedings of the IEEE 86(11), 1998.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.Annealing(),
    ...     random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.objective < 1e-9
    True
    """

    #: The ridge of a start.
    chosen = Ridge(0.0)

    max_iter: int = 200
    max_seconds: float | None = None
    tol: float = 1e-9
    n_starts: int = 4
    start: Start | ArrayLike | None = None
    ridge: Literal["auto"] | float = "auto"
    ridge_floor: Literal["auto"] | float = "auto"
    warmest: float = 0.4
    coldest: float = 0.01
    callback: Callback | None = None

    parameter_constraints: ClassVar[Constraints] = {
        "warmest": POSITIVE,
        "coldest": POSITIVE,
        "ridge": Either("auto", NOT_NEGATIVE),
        "ridge_floor": Either("auto", Number(0.0, 1.0, above=True)),
    }

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that is not `Affine`, a set without a smooth minimiser, a new loss."""
        problems = []
        hypothesis = objective.hypothesis
        if not isinstance(hypothesis, Affine):
            problems.append(
                f"{hypothesis!r} is not Affine (Convex trains Scaled, FacetLearning Facets, "
                "MixedInteger Ternary)"
            )
        elif hypothesis.latent(objective.n_decisions).code() is None:
            problems.append(
                f"{hypothesis.primitive!r} has no smooth minimiser in closed form "
                "(GradientDescent and AdaptiveSmoothing train any set)"
            )
        if not isinstance(objective.loss, Predictability | Suboptimality):
            problems.append(f"{objective.loss!r} is not known (GradientDescent trains any loss)")
        return problems

    def _strategy(self) -> Start:
        return DataStart() if self.start is None else super()._strategy()

    def init(self, objective: Objective, theta: Array) -> AnnealedIterate:
        """Evaluate the smooth loss at the start; where the linear policy is exact, be done."""
        policy = linear_policy_of(subsample(objective, np.random.default_rng(0)))
        problem = AnnealedObjective(objective, policy, self.chosen)
        if not problem.scale > 0.0:
            nothing = np.zeros(len(theta))
            return self._iterate(
                AnnealedIterate(problem.center, 0.0, nothing, problem=problem), "converged"
            )
        found = problem.evaluate(theta, self.warmest)
        return self._iterate(AnnealedIterate(theta, *found, problem=problem), None)

    def step(self, objective: Objective, iterate: Iterate) -> AnnealedIterate:
        """Go through one temperature; after the last, polish on the exact loss."""
        assert isinstance(iterate, AnnealedIterate)
        problem, stage = iterate.problem, iterate.stage
        share = max(1, int(self.max_iter) // TEMPERATURES)
        if stage < TEMPERATURES:
            theta, value, slope, steps = problem.descend(
                iterate.theta, self._temperature(stage), share, self.tol
            )
            following = replace(iterate, theta=theta, value=value, gradient=slope, steps=steps)
            return self._iterate(replace(following, stage=stage + 1), None)
        theta, steps = self._exact(problem, iterate.theta, share)
        theta = self._reinitialized(problem, theta, share)
        if not problem.explained(theta) and problem.merit(problem.center) <= problem.merit(theta):
            theta = problem.center
        return self._iterate(replace(iterate, theta=theta, steps=steps), "converged")

    def _exact(self, problem: AnnealedObjective, theta: Array, share: int) -> tuple[Array, int]:
        """Return parameters improved on the exact loss, and how many steps that took."""
        steps = 1
        if not isinstance(problem.objective.loss, Predictability):
            theta, _, _, steps = problem.descend(theta, None, share, self.tol)
        return polish(problem, theta), steps

    def _reinitialized(self, problem: AnnealedObjective, theta: Array, share: int) -> Array:
        """Give columns that no decision uses another chance; keep that if it fits better."""
        # With a ridge, columns left unused are a choice: reviving them made test losses worse.
        if problem.metric.any() or problem.explained(theta):
            return theta
        unused = unused_columns(problem, theta)
        if not unused.any():
            return theta
        tried = reinitialize(problem, theta, unused)
        for stage in range(TEMPERATURES // 2, TEMPERATURES):
            tried = problem.descend(tried, self._temperature(stage), share, self.tol)[0]
        tried = self._exact(problem, tried, share)[0]
        return tried if problem.merit(tried) < problem.merit(theta) else theta

    def _temperature(self, stage: int) -> float:
        """Return one of the temperatures, from the warmest on."""
        return float(np.geomspace(self.warmest, self.coldest, TEMPERATURES)[stage])

    def _iterate(self, iterate: AnnealedIterate, finished: Status | None) -> AnnealedIterate:
        """Add the training loss, the ridge, and what the history keeps."""
        problem, theta = iterate.problem, iterate.theta
        temperature = self._temperature(max(iterate.stage - 1, 0))
        bare = finished is not None and problem.explained(theta)
        return replace(
            iterate,
            training_loss=problem.objective.value(theta),
            penalty=0.0 if bare else problem.penalty(theta),
            record={"annealed_loss": iterate.value, "temperature": temperature},
            finished=finished,
            exact=bare,
        )

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the ridge, run every start, and end on all samples."""
        objective = objective.limited(self.max_seconds)
        clock = objective.run.clock
        some = subsample(objective, random)
        if some.n_samples == objective.n_samples:
            objective = some
        run = copy(self)
        run.max_seconds = None  # the clock of the objective counts for all parts together
        run.chosen, incumbent = self._choose(some, random)
        if incumbent is not None and objective.run.late():
            run.start, run.n_starts = GivenStart(incumbent), 1
        trained = IterativeTrainer.search(run, some, random)
        if some is not objective and objective.run.late():
            measure(objective, trained)
        elif some is not objective and trained.result.status != "stopped by callback":
            run.start, run.n_starts = GivenStart(trained.theta), 1
            run.warmest = min(self.warmest, COOL)
            before = trained.result.n_iter
            trained = IterativeTrainer.search(run, objective, random)
            trained.result.n_iter += before
        trained.result.trainer = repr(self)
        trained.result.seconds = clock.seconds
        trained.result.details["ridge"] = run.chosen.strength
        trained.result.details["floor of the ridge"] = run.chosen.floor
        return trained

    def _choose(
        self, objective: Objective, random: np.random.Generator
    ) -> tuple[Ridge, Array | None]:
        """Return the ridge, what is open of it by cross-validation, and parameters of one fold."""
        strengths = RIDGES if self.ridge == "auto" else (float(self.ridge),)
        floors = FLOORS if self.ridge_floor == "auto" else (float(self.ridge_floor),)
        if strengths == (0.0,) or len(strengths) * len(floors) == 1:
            return Ridge(strengths[0], floors[0]), None
        standard = Standardization.of(objective)
        # Parameters that were fitted before have seen the rows of all folds.
        start = self._strategy() if self._strategy().standardized else DataStart()
        choice = choose_ridge(standard.apply(objective), start, random, strengths, floors)
        theta = None if choice.theta is None else standard.revert(objective, choice.theta)
        return choice.ridge, theta


@dataclass(kw_only=True)
class AnnealedIterate(Iterate):
    """An iterate of annealing: with its smooth objective, and how many temperatures it saw."""

    problem: AnnealedObjective
    stage: int = 0


# Columns on which no decision depends, and where they could be of use.


def unused_columns(problem: AnnealedObjective, theta: Array) -> Mask:
    """Say which columns of A no returned decision of the training rows depends on."""
    objective = problem.objective
    n, k = objective.n_decisions, objective.n_features
    maps, primitive = objective.maps().maps(theta, n, k), objective.maps().latent(n)

    def one(block: Block) -> Array:
        q = np.einsum("inp,in->ip", maps.at(block.features)[0], block.costs)
        return np.asarray(np.abs(primitive.argmin(q)).max(axis=0, initial=0.0))

    used = np.max(list(objective.samples.map(one, objective.n_jobs)), axis=0)
    return np.asarray(used == 0.0)


def reinitialize(problem: AnnealedObjective, theta: Array, unused: Mask) -> Array:
    """Return parameters whose unused columns go through decisions that are explained worst."""
    objective = problem.objective
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    some = subsample(objective, np.random.default_rng(0))
    features, costs, decisions, weights = some.load()
    maps = hypothesis.maps(theta, n, k)
    offset = "b" in hypothesis.layout(n, k).shapes
    # The policy, or what stands for it: all columns of the centre are the same.
    start = np.zeros((k, n)) if offset else hypothesis.maps(problem.center, n, k).A[:, :, 0]
    around = features @ (maps.b + start)
    A = maps.A.copy()
    left = _squares(hypothesis.predict(theta, features, costs) - decisions)
    for column in np.flatnonzero(unused):
        worst = int(np.argmax(weights * left))
        move = np.nan_to_num(decisions[worst] - around[worst])
        A[:, :, column] = start
        A[0, :, column] += move
        left = np.minimum(left, _squares(around + move - decisions))
    return hypothesis.theta_of(Maps(A, maps.b))


def _squares(residuals: Array) -> Array:
    """Return the squared length of each row; what was not observed does not count."""
    return np.asarray(np.nansum(residuals**2, axis=1))
