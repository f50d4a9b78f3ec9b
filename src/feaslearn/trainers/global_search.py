"""The bilinear program of a free affine map, to global optimality."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.hypotheses import Affine
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.parameters import POSITIVE, Constraints, Either, Integer
from feaslearn.results import Status
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.bilinear import SOLVERS, BilinearSolver, Ended, make_solver
from feaslearn.tolerances import ACCEPT_TOL, ZERO_LOSS
from feaslearn.trainers.annealing import COOL, Annealing
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.mixed_integer.mixed_integer import GAP, bounded_result
from feaslearn.trainers.mixed_integer.node_program import Found
from feaslearn.trainers.trainer import Trained, Trainer

logger = logging.getLogger("feaslearn")


@dataclass(eq=False, repr=False)
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

    solver: str = "auto"
    max_seconds: float | None = 60.0
    tol: float = 1e-3
    radius: float = 3.0
    n_starts: int = 10

    parameter_constraints: ClassVar[Constraints] = {
        "tol": GAP,
        "solver": Either(*SOLVERS),
        "radius": POSITIVE,
        "n_starts": Integer(1),
    }

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a hypothesis that is not a free affine image of a convex set, or another loss."""
        problems = []
        hypothesis, loss = objective.hypothesis, objective.loss
        if not isinstance(hypothesis, Affine):
            problems.append(
                f"{hypothesis!r} is not Affine (Convex trains Scaled, MixedInteger trains Ternary, "
                "FacetLearning trains Facets)"
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
        best, value = self._heuristics(objective, random)
        program = BilinearProgram(objective, program_solver, float(self.radius))
        status: Status = "optimal"
        bound = 0.0
        if value > ZERO_LOSS * program.unit and not clock.out():
            cutoff = value * (1.0 + ACCEPT_TOL)
            try:
                theta, ended = program.solve(cutoff, clock.left, self.tol)
            except KeyboardInterrupt:
                theta, ended = None, Ended(None, 0.0, finished=False)
                status = "interrupted"
            bound = min(ended.bound, value)
            if theta is not None:
                # Near ties that the solver meets only to its tolerance, the exact loss is larger.
                cool = Annealing(n_starts=1, start=theta, ridge=0.0, warmest=COOL)
                thetas = [best, theta, *_annealed(objective, cool, random)]
                best, value = _least(objective, thetas)
            if value - bound > 1.1 * self.tol * value and status == "optimal":
                status = "stalled" if ended.finished else "time limit"
        elif value > ZERO_LOSS * program.unit:
            status = objective.run.ended()
        return bounded_result(self, objective, Found(best, status, bound, 1, {}))

    def _heuristics(self, objective: Objective, random: np.random.Generator) -> tuple[Array, float]:
        """Return parameters to beat, and their loss."""
        descent = GradientDescent(n_starts=self.n_starts, max_iter=100)
        found = descent.search(objective, random).theta
        annealing = Annealing(n_starts=self.n_starts, ridge=0.0)
        best = _least(objective, [found, *_annealed(objective, annealing, random)])
        logger.debug("Global: the solver has to beat %.6g", best[1])
        return best


def _semidefinite(primitive: object) -> bool:
    if not isinstance(primitive, PrimitiveSet):
        return False
    return any(cone.kind == "semidefinite" for cone in primitive.conic_form().cones)


def _annealed(objective: Objective, trainer: Annealing, random: np.random.Generator) -> list[Array]:
    """Return where annealing ends, if it serves the set and there is time."""
    if trainer.mismatches(objective) or objective.run.late():
        return []
    return [trainer.search(objective, random).theta]


def _least(objective: Objective, thetas: list[Array]) -> tuple[Array, float]:
    """Return the parameters of least loss, the first of several, and that loss."""
    values = [objective.value(theta) for theta in thetas]
    best = int(np.argmin(values))
    return thetas[best], values[best]


# The training problem of a free affine map, with its products of unknowns.


class BilinearProgram:
    r"""Every sample's optimality conditions, with one map for all of them.

    .. math::
        \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
        & x_i + \gamma_i = A(s_i) z_i + b(s_i), \quad Hz_i - h \in K, \\
        & A(s_i)'c_i = H'\lambda_i, \quad \lambda_i \in K^*, \quad
          c_i'(x_i + \gamma_i - b(s_i)) \le \lambda_i'h

    Only :math:`A z` multiplies unknowns. Suboptimality has an excess cost
    :math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h` instead of the last row. Decisions are measured
    from their mean, in units of the largest distance from it, and features in units of their
    largest value; in these, entries of A and b are at most ``radius``.
    """

    def __init__(self, objective: Objective, solver: BilinearSolver, radius: float) -> None:
        hypothesis = objective.maps()
        self._whole = whole = objective.load()
        self._solver, self._hypothesis, self._loss = solver, hypothesis, objective.loss
        n, k = whole.decisions.shape[1], whole.features.shape[1]
        primitive = hypothesis.latent(n)
        self._form, p = primitive.conic_form(), primitive.dimension
        self._priced = isinstance(self._loss, Suboptimality)
        self.middle = np.nan_to_num(np.nanmean(whole.decisions, axis=0))
        self.scale = float(np.nanmax(np.abs(whole.decisions - self.middle))) or 1.0
        self._units = np.abs(whole.features).max(axis=0)
        self._units[self._units == 0.0] = 1.0
        self._costs = self._loss.unit_costs(whole.costs)
        limits = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self.A = self._variables((k, n, p), -radius, radius)
        free = 0.0 if primitive.absorbs_offset else radius
        self.b = self._variables((k, n), -free, free)
        self._cost: Any = 0.0
        for i in range(len(whole.weights)):
            self._cost = self._cost + float(whole.weights[i]) * self._sample(i)

    def _variables(
        self, shape: tuple[int, ...], low: float | Array, high: float | Array
    ) -> NDArray[Any]:
        made = np.empty(shape, dtype=object)
        lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        for at in np.ndindex(*shape):
            made[at] = self._solver.variable(float(lows[at]), float(highs[at]))
        return made

    def _sample(self, i: int) -> Any:
        """Add the rows of a sample; return its loss."""
        whole, form, add = self._whole, self._form, self._solver.add
        phi, c = whole.features[i] / self._units, self._costs[i]
        x = (whole.decisions[i] - self.middle) / self.scale
        A, b = np.einsum("k,knp->np", phi, self.A), phi @ self.b
        z = self._variables(self._low.shape, self._low, self._high)
        multipliers = self._variables((len(form.h),), -np.inf, np.inf)
        self._in_cone(form.H @ z - form.h, dual=False)
        self._in_cone(multipliers, dual=True)
        for j in range(len(z)):
            add(c @ A[:, j] - form.H[:, j] @ multipliers == 0.0)
        hidden = np.isnan(x)
        image = self._variables(x.shape, -np.inf, np.inf)
        for row in range(len(x)):
            add(A[row] @ z + b[row] - image[row] == 0.0)
        bound = multipliers @ form.h
        if not self._priced:
            add(c @ (image - b) - bound <= 0.0)
            return self._norm((image - np.where(hidden, 0.0, x))[~hidden])
        known = np.where(hidden, self._variables(x.shape, -np.inf, np.inf), x)
        excess = self._solver.variable(0.0, np.inf)
        add(c @ (known - b) - bound - excess <= 0.0)
        return self._norm(np.append(image - known, excess))

    def _in_cone(self, slack: NDArray[Any], dual: bool) -> None:
        """Add ``slack in K``, or in the dual cone, which is free where K is zero."""
        for cone, rows in self._form.blocks():
            part = slack[rows]
            if cone.size == 0 or (cone.kind == "zero" and dual):
                continue
            if cone.kind == "second-order":
                self._solver.add(part[0] >= 0.0)
                self._solver.add((part[1:] ** 2).sum() - part[0] * part[0] <= 0.0)
                continue
            for entry in part:
                self._solver.add(entry == 0.0 if cone.kind == "zero" else entry >= 0.0)

    def _norm(self, residuals: NDArray[Any]) -> Any:
        """Return an expression that is at least the norm of expressions, squared where asked."""
        solver, norm = self._solver, self._loss.norm
        if len(residuals) == 0:
            return 0.0
        if norm == "l2":
            total = solver.variable(0.0, np.inf)
            square = (residuals**2).sum()
            solver.add(square - (total if self._loss.squared else total * total) <= 0.0)
            return total
        sizes = self._variables((len(residuals) if norm == "l1" else 1,), 0.0, np.inf)
        for residual, size in zip(residuals, np.broadcast_to(sizes, len(residuals)), strict=True):
            solver.add(size - residual >= 0.0)
            solver.add(size + residual >= 0.0)
        return sizes.sum()

    @property
    def unit(self) -> float:
        """The unit of the loss."""
        squared = self._loss.norm == "l2" and self._loss.squared
        return self.scale**2 if squared else self.scale

    def solve(self, cutoff: float, seconds: float, gap: float) -> tuple[Array | None, Ended]:
        """Minimise below a loss; return parameters of the hypothesis, and how it ended."""
        wanted = [*self.A.ravel(), *self.b.ravel()]
        ended = self._solver.minimize(self._cost, wanted, cutoff / self.unit, seconds, gap)
        ended = ended._replace(bound=ended.bound * self.unit)
        if ended.values is None:
            return None, ended
        A = ended.values[: self.A.size].reshape(self.A.shape)
        b = ended.values[self.A.size :].reshape(self.b.shape)
        units = self.scale / self._units
        offset = b * units[:, None]
        offset[0] += self.middle
        return self._hypothesis.theta_of(Maps(A * units[:, None, None], offset)), ended
