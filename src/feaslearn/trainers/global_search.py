"""The bilinear program of a free affine map, to global optimality."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import Problems, TooManyVerticesError
from feaslearn.hypotheses import Affine
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.results import Status
from feaslearn.runs import Clock
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.trainers.bilinear_program import BilinearProgram
from feaslearn.trainers.bilinear_solvers import SOLVERS, Ended, make_solver
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.mixed_integer.found import Found
from feaslearn.trainers.mixed_integer.listed_samples import ListedSamples
from feaslearn.trainers.mixed_integer.mixed_integer import bounded_result, check_gap
from feaslearn.trainers.mixed_integer.node_program import NodeProgram
from feaslearn.trainers.mixed_integer.starts import improved, starts
from feaslearn.trainers.running import Given
from feaslearn.trainers.trainer import Trained, Trainer

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

#: The solver looks for losses below the best one by less than this, relative to it.
SLACK = 1e-6
#: A loss below this share of the square of the decisions' scale is zero.
ZERO = 1e-9


class Global(Trainer):
    r"""The bilinear program itself, solved with a lower bound by SCIP or Gurobi.

    .. math::
        \min_{A, b, z, \lambda} \sum_i w_i \|x_i - A(s_i) z_i - b(s_i)\|
        \quad \text{s.t.} \quad z_i \text{ optimal for } A(s_i)'c_i \text{ in } Z

    Optimality is written by strong duality, so that only :math:`A z` multiplies unknowns. It takes
    any convex set without semidefinite cones and both losses, and is for small problems: its size
    grows with the samples. Heuristics give the solver a loss to beat. What it finds is measured by
    the losses of this library, which see ties exactly: where the optimum needs a tie that the
    solver meets only to its tolerance, the loss stays above the lower bound and the gap says so.

    Parameters
    ----------
    solver : {"auto", "scip", "gurobi"}, default="auto"
        What solves it; "auto" is SCIP where it is installed, otherwise Gurobi.
    max_seconds : float, default=60.0
        Limit on the wall time; None for none. The best parameters so far are returned.
    tol : float, default=1e-3
        Relative gap between loss and lower bound at which the search ends.
    radius : float, default=3.0
        The search is limited to entries of A and b of at most this, with decisions measured from
        their mean in units of the largest distance from it, and features in units of their largest
        value. The lower bound holds for regions within that limit.
    n_starts : int, default=10
        Starts of the heuristics.
    checkpoint : path-like, default=None
        File that keeps finished starts of the descent; the solver itself begins again.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(10, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.Global(),
    ...     random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.status
    'optimal'
    """

    def __init__(
        self,
        solver: str = "auto",
        max_seconds: float | None = 60.0,
        tol: float = 1e-3,
        radius: float = 3.0,
        n_starts: int = 10,
        checkpoint: Given = None,
    ) -> None:
        self.solver = solver
        self.max_seconds = max_seconds
        self.tol = tol
        self.radius = radius
        self.n_starts = n_starts
        self.checkpoint = checkpoint

    def check(self, problems: Problems) -> None:
        """Refuse parameters that are none."""
        super().check(problems)
        check_gap(self.tol, problems)
        if self.solver not in SOLVERS:
            known = ", ".join(map(repr, SOLVERS))
            problems.add(f"solver is {self.solver!r}, expected one of {known}")
        if not isinstance(self.radius, Real) or not 0.0 < float(self.radius) < np.inf:
            problems.add(f"radius is {self.radius!r}, expected a positive number")
        starts_ = self.n_starts
        if not isinstance(starts_, Integral) or isinstance(starts_, bool) or starts_ < 1:
            problems.add(f"n_starts is {starts_!r}, expected a whole number of at least 1")

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that is not a free affine image of a convex set, or another loss."""
        problems = []
        hypothesis, loss = objective.hypothesis, objective.loss
        if not isinstance(hypothesis, Affine):
            problems.append(
                f"{hypothesis!r} is not Affine (Convex trains Scaled, MixedInteger trains Ternary, "
                "FacetLearning trains Facets, Blending trains Blend)"
            )
        elif isinstance(hypothesis.primitive, PrimitiveSet) and hypothesis.primitive.discrete:
            problems.append(f"{hypothesis.primitive!r} is binary (MixedInteger serves it)")
        elif _semidefinite(hypothesis.primitive):
            problems.append(
                f"{hypothesis.primitive!r} has semidefinite cones, which SCIP and Gurobi do not "
                "take (AdaptiveSmoothing and GradientDescent serve it)"
            )
        if type(loss) not in (Predictability, Suboptimality):
            problems.append(
                f"{loss!r} is neither Predictability nor Suboptimality (GradientDescent serves it)"
            )
        return problems

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Search for the best parameters and a lower bound."""
        objective = objective.limited(self.max_seconds)
        clock = objective.run.clock
        # A missing package is reported before any work.
        program_solver = make_solver(self.solver)
        best, value = self._heuristics(objective, random, clock)
        program = BilinearProgram(objective, program_solver, float(self.radius))
        status: Status = "optimal"
        bound = 0.0
        if value > ZERO * program.unit and not clock.out():
            cutoff = value * (1.0 + SLACK)
            try:
                theta, ended = program.solve(cutoff, clock.left, self.tol)
            except KeyboardInterrupt:
                theta, ended = None, Ended(None, 0.0, finished=False)
                status = "interrupted"
            bound = min(ended.bound, value)
            if theta is not None:
                best, value = _better(objective, theta, best, value, clock)
            if value - bound > 1.1 * self.tol * value and status == "optimal":
                status = "stalled" if ended.finished else "time limit"
        elif value > ZERO * program.unit:
            status = objective.run.ended()
        return bounded_result(self, objective, Found(best, status, bound, 1, {}), clock)

    def _heuristics(
        self, objective: Objective, random: np.random.Generator, clock: Clock
    ) -> tuple[Array, float]:
        """Return parameters to beat, and their loss."""
        descent = GradientDescent(n_starts=self.n_starts, max_iter=100)
        descended = descent.search(objective.within("descent"), random)
        if descended.result.status == "interrupted":
            clock.interrupt()
        best = descended.theta
        value = objective.value(best)
        for theta in _listed_starts(objective, random, self.n_starts, clock):
            reached = objective.value(theta)
            if reached < value:
                best, value = theta, reached
        logger.debug("Global: the solver has to beat %.6g", value)
        return best, value


def _semidefinite(primitive: object) -> bool:
    if not isinstance(primitive, PrimitiveSet):
        return False
    return any(cone.kind == "semidefinite" for cone in primitive.conic_form().cones)


def _listed(objective: Objective) -> ListedSamples | None:
    """Return the samples with the vertices of Z as its points, where they can be listed."""
    squared = objective.loss.norm != "l2" or objective.loss.squared
    if not isinstance(objective.loss, Predictability) or not squared:
        return None
    try:
        return ListedSamples.of(objective)
    except TooManyVerticesError:
        return None


def _listed_starts(
    objective: Objective, random: np.random.Generator, count: int, clock: Clock
) -> Iterator[Array]:
    samples = _listed(objective)
    if samples is None:
        return
    program = NodeProgram(samples, clock)
    for beta in starts(samples, objective, random, count):
        yield samples.theta(improved(samples, program, beta, clock.out)[1])
        if clock.out():
            return


def _better(
    objective: Objective, theta: Array, best: Array, value: float, clock: Clock
) -> tuple[Array, float]:
    """Return the better of two, the first also with its predictions moved off near ties."""
    tried, samples = [theta], _listed(objective)
    if samples is not None:
        beta = samples.beta(theta)
        tried.append(
            samples.theta(improved(samples, NodeProgram(samples, clock), beta, clock.out)[1])
        )
    for each in tried:
        reached = objective.value(each)
        if reached < value:
            best, value = each, reached
    return best, value
