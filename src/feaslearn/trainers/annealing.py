"""The trainer of affine images: a smooth stand-in for the loss, cooled step by step."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError
from feaslearn.hypotheses import Affine
from feaslearn.parameters import (
    NOT_NEGATIVE,
    POSITIVE,
    Constraints,
    Either,
    Integer,
    Number,
)
from feaslearn.results import OUT_OF_TIME, Status
from feaslearn.runs import OutOfTime
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge, polish
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.out_of_fold import subsample
from feaslearn.trainers.ridge_choice import FLOORS, RIDGES, choose_ridge
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import (
    linear_policy_of,
    start_at_decisions,
)
from feaslearn.trainers.trainer import Trained, Trainer, measure

logger = logging.getLogger("feaslearn")

#: Temperatures of a start.
TEMPERATURES = 5
#: The run on all samples begins at most as warm as this: it starts from a good fit.
COOL = 0.03


@dataclass(eq=False, repr=False)
class Annealing(Trainer):
    r"""Quasi-Newton steps on a smooth loss that is cooled down to the exact one.

    .. math:: \min_\theta \sum_i w_i \|A_i z_\tau(A_i'c_i) + b_i - x_i\|^2
              + \lambda \|\theta - \theta_0\|_W^2

    A smooth minimiser :math:`z_\tau` stands for the minimiser over Z: for a simplex, weights
    :math:`\propto e^{-q_k/\tau}` on its columns. The temperature :math:`\tau` falls from
    ``warmest`` to ``coldest``, in units of the residuals of the linear policy and for costs of
    length one; then parameters are fitted once more by least squares with the minimisers held,
    if that helps. The ridge pulls toward the linear policy :math:`\theta_0` in standardised
    features; its strength and its shape are chosen by cross-validation. Columns that no decision
    uses are drawn back to the policy by the ridge. Of all starts, the one whose *returned*
    decisions fit best (with the ridge) is kept; the linear policy itself takes part, and one that
    explains every sample ends the search.

    Sets: simplices, boxes, balls, hypersimplices,
    polytopes whose vertices can be enumerated, and products of those. With more than 20 000
    samples, a random part of them chooses the ridge and the start, and the last run is on all.

    Parameters
    ----------
    max_iter : int, default=200
        Quasi-Newton steps from each start, over all temperatures.
    tol : float, default=1e-9
        A relative decrease below this ends the work at one temperature.
    n_starts : int, default=4
        How many starts; ``n_jobs`` of the estimator runs several at a time, with the same result.
    ridge : "auto" or float, default="auto"
        Strength of the ridge, relative to the mean squared loss; 0 for none.
    ridge_floor : "auto" or float, default="auto"
        Shape of the ridge, in (0, 1]. With 1 all directions of the signal are alike; near 0, the
        ridge is strong in those directions in which the linear policy hardly moves, so that
        columns respond to what the decisions respond to on the whole. See `Ridge`.
    warmest, coldest : float, default=0.4 and 0.01
        First and last temperature.

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

    #: The ridge of a start, and the parameters that it begins at, none for drawn ones.
    chosen = Ridge(0.0)
    given = np.zeros(0)
    chunks = "sums"

    max_iter: int = 200
    tol: float = 1e-9
    n_starts: int = 4
    ridge: Literal["auto"] | float = "auto"
    ridge_floor: Literal["auto"] | float = "auto"
    warmest: float = 0.4
    coldest: float = 0.01

    parameter_constraints: ClassVar[Constraints] = {
        "max_iter": Integer(0),
        "n_starts": Integer(1),
        "tol": Number(0.0),
        "warmest": POSITIVE,
        "coldest": POSITIVE,
        "ridge": Either("auto", NOT_NEGATIVE),
        "ridge_floor": Either("auto", Number(0.0, 1.0, above=True)),
    }

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that is not `Affine`, and a set without a smooth minimiser."""
        hypothesis = objective.hypothesis
        if not isinstance(hypothesis, Affine):
            return [f"{hypothesis!r} is not Affine (Convex trains Minkowski, FacetLearning Facets)"]
        if hypothesis.latent(objective.n_decisions).code() is None:
            return [f"{hypothesis.primitive!r} has no smooth minimiser in closed form"]
        return []

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Choose the ridge, run every start, and end on all samples."""
        clock = objective.run
        some = subsample(objective, random)
        if some.n_samples == objective.n_samples:
            objective = some
        run = copy(self)
        run.chosen, incumbent = self._choose(some, random)
        if incumbent is not None and objective.run.late():
            run.given, run.n_starts = incumbent, 1
        trained = run._run_starts(some, random)  # noqa: SLF001 (of the same class)
        if some is not objective and objective.run.late():
            measure(objective, trained)
        elif some is not objective:
            run.given, run.n_starts = trained.theta, 1
            run.warmest = min(self.warmest, COOL)
            before = trained.result.n_iter
            trained = run._run_starts(objective, random)  # noqa: SLF001 (of the same class)
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
        # Folds begin at decisions: parameters that were fitted before have seen all their rows.
        choice = choose_ridge(standard.apply(objective), random, strengths, floors)
        theta = None if choice.theta is None else standard.revert(objective, choice.theta)
        return choice.ridge, theta

    # All starts.

    def _run_starts(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Run every start in standardised features, and keep the best iterate of all."""
        standardization = Standardization.of(objective)
        seeds = random.integers(2**63, size=self.n_starts)
        thetas = [
            self._begin(objective, standardization, np.random.default_rng(seed)) for seed in seeds
        ]
        standard = standardization.apply(objective)
        starts = self._multistart(standard, thetas)
        best = best_start(starts)
        if best is None or best.theta is None:
            raise SolverError("no start has a finite loss: take another start")
        status = next(
            (start.status for start in starts if start.status in OUT_OF_TIME), best.status
        )
        theta = standardization.revert(objective, best.theta)
        steps, seconds = sum(start.steps for start in starts), objective.run.seconds
        result = self.result_of(objective, theta, status, n_iter=steps, seconds=seconds)
        return Trained(theta, result)

    def _begin(
        self, objective: Objective, into: Standardization, random: np.random.Generator
    ) -> Array:
        """Return the parameters of one start, for standardised features."""
        # Of many, a part of the samples, the same for all starts, says where to begin.
        objective = subsample(objective, np.random.default_rng(0))
        if not len(self.given):
            return start_at_decisions(into.apply(objective), random)
        return into.convert(objective, self.given)

    def _multistart(self, objective: Objective, thetas: list[Array]) -> list[StartRun]:
        """Run every start until something ends it, on several threads where that is allowed."""
        starts = [StartRun() for _ in thetas]
        over = threading.Event()

        def one(objective: Objective, index: int) -> StartRun:
            start = starts[index]
            self._run_start(objective, thetas[index], start, over)
            logger.info(
                "%s: start %d of %d: %s, loss %.6g",
                *(type(self).__name__, index + 1, self.n_starts, start.status, start.loss),
            )
            return start

        threads = min(objective.n_jobs, len(thetas))
        try:
            if threads == 1:
                for index in range(len(thetas)):
                    start = one(objective, index)
                    if start.status in OUT_OF_TIME or start.exact:
                        break
                return starts
            alone = replace(objective, n_jobs=1)
            with ThreadPoolExecutor(threads) as pool:
                try:
                    jobs = [pool.submit(one, alone, index) for index in range(len(thetas))]
                    for job in jobs:
                        job.result()
                finally:
                    over.set()
        except KeyboardInterrupt:
            if best_start(starts) is None:
                raise
            objective.run.interrupt()
            starts[0].status = "interrupted"
        return starts

    def _run_start(
        self, objective: Objective, theta: Array, start: StartRun, over: threading.Event
    ) -> None:
        """Go through the temperatures from one start until something ends it; record what did."""
        policy = linear_policy_of(subsample(objective, np.random.default_rng(0)))
        problem = AnnealedObjective(objective, policy, self.chosen)
        if not problem.scale > 0.0:  # the linear policy explains everything
            theta = problem.center
        finished = not problem.scale > 0.0
        share = max(1, int(self.max_iter) // TEMPERATURES)
        temperatures = np.geomspace(self.warmest, self.coldest, TEMPERATURES)
        for stage in range(self.max_iter + 1):
            exact = finished and problem.explained(theta)
            self._offer(problem, theta, exact, start)
            logger.debug("%s: temperature %d, loss %.6g", type(self).__name__, stage, start.loss)
            late = objective.run.late()
            if late or over.is_set() or finished:
                start.exact = exact
                start.status = "interrupted" if over.is_set() else "converged"
                start.status = objective.run.ended() if late else start.status
                return
            if stage == self.max_iter:
                return
            try:
                if stage < TEMPERATURES:
                    temperature = float(temperatures[stage])
                    theta, _, steps = problem.descend(theta, temperature, share, self.tol)
                else:
                    theta, steps, finished = self._end(problem, theta), 1, True
            except OutOfTime:
                start.status = objective.run.ended()
                return
            start.steps += steps

    def _offer(
        self, problem: AnnealedObjective, theta: Array, exact: bool, start: StartRun
    ) -> None:
        """Record parameters in their start, which keeps them if they are the best."""
        loss = problem.objective.value(theta)
        loss += 0.0 if exact else problem.penalty(theta)
        if loss < start.loss:
            start.theta, start.loss = theta.copy(), loss

    def _end(self, problem: AnnealedObjective, theta: Array) -> Array:
        """Polish on the exact loss; return the linear policy where that fits as well."""
        theta = polish(problem, theta)
        if not problem.explained(theta) and problem.merit(problem.center) <= problem.merit(theta):
            return problem.center
        return theta


# One start: what is recorded of it, and its best parameters.


@dataclass(eq=False)
class StartRun:
    """What happened from one start, and the iterate of least loss."""

    status: Status = "iteration limit"
    theta: Array | None = None
    loss: float = np.inf
    steps: int = 0
    exact: bool = False


def best_start(starts: list[StartRun]) -> StartRun | None:
    """Return the start of least loss, the first of several; None if none has an iterate."""
    # The first exact one comes before all others, which need not have been run then.
    begun = [start for start in starts if start.theta is not None]
    begun = [start for start in begun if start.exact][:1] or begun
    return min(begun, key=lambda start: start.loss) if begun else None
