r"""Theorem 3.3 (Section 3.1), equations (10a) and (10b), to global optimality by SCIP.

.. math::
    \min_{A, b, \gamma, z, \lambda} \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    & x_i + \gamma_i = A(s_i) z_i + b(s_i), \quad Hz_i - h \in K, \\
    & A(s_i)'c_i - H'\lambda_i = 0, \quad \lambda_i \in K^*, \quad
      c_i'(x_i + \gamma_i - b(s_i)) - \lambda_i'h \le 0

Strong duality makes the optimality of z linear in :math:`\lambda`, so that only :math:`A z`
multiplies unknowns. Suboptimality has an excess cost
:math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h`, :math:`J_i \ge 0`, instead of the last row.

The size of the program grows with the samples. Where its optimum needs a tie, a solver meets the
tie only to its tolerance; what is found is measured by the losses of this package, which see ties
exactly, and the gap between loss and lower bound then stays open.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, MissingExtraError, SolverError, UnsupportedError
from feaslearn.paper.descent import Standardization, least_squares, linear_start
from feaslearn.paper.enumerated import EnumeratedSamples, NodeProgram
from feaslearn.paper.losses import Suboptimality
from feaslearn.paper.milp import bounded, check_gap, improved, starts
from feaslearn.paper.problem import Clock, Found, Problem, Status
from feaslearn.paper.regions import Affine, Maps
from feaslearn.tolerances import ACCEPT_TOL, ZERO_LOSS

#: Listed points up to which the heuristics of binary sets serve the continuous one.
FEW_POINTS = 64
#: Steps of the descent from each start.
STEPS = 200


def bilinear(
    problem: Problem,
    *,
    max_seconds: float | None = 60.0,
    tol: float = 1e-3,
    radius: float = 3.0,
    n_starts: int = 10,
    seed: int = 0,
) -> Found:
    """Solve the bilinear program of a free affine map with a lower bound.

    Parameters
    ----------
    problem : Problem
        An `Affine` region of a convex set without semidefinite cones.
    max_seconds : float, default=60.0
        Limit on the wall time; None for none. The best parameters so far are returned.
    tol : float, default=1e-3
        Relative gap between loss and lower bound at which the search ends.
    radius : float, default=3.0
        The search is limited to entries of A and b of at most this, with decisions measured from
        their mean in units of the largest distance from it, and features in units of their largest
        value. The lower bound holds for regions within that limit.
    n_starts : int, default=10
        Starts of the heuristics, which give the solver a loss to beat.
    seed : int, default=0
        Seed of the starts.

    Returns
    -------
    Found
        With a lower bound; its status is "stalled" where the solver ends with a larger gap.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> costs = np.array([[0.2, 0.8], [0.8, 0.2]])
    >>> data = paper.Data(np.zeros((2, 0)), np.eye(2), costs)
    >>> found = paper.bilinear(paper.Problem.of(paper.Affine(Simplex(2)), data))
    >>> found.status, round(found.objective, 6)
    ('optimal', 0.0)
    """
    region = problem.region
    if not isinstance(region, Affine) or region.Z.discrete:
        raise UnsupportedError(
            f"bilinear: {region!r} is not an Affine image of a convex set (convex serves Scaled, "
            "ternary serves Ternary, mixed_integer serves binary sets)"
        )
    if any(cone.kind == "semidefinite" for cone in region.Z.conic_form().cones):
        raise UnsupportedError(
            f"bilinear: {region.Z!r} has semidefinite cones, which SCIP does not take "
            "(algorithm1 and algorithm2 do)"
        )
    check_gap(tol)
    if not radius > 0.0:
        raise DataError(f"radius must be positive, not {radius!r}")
    # SCIP hears of Ctrl-C by itself: the clock alone would wait for its end.
    clock, model = Clock(max_seconds), new_model()
    random, thetas, bound = np.random.default_rng(seed), [_policy(problem)], 0.0
    status: Status = "interrupted"
    with contextlib.suppress(KeyboardInterrupt):
        thetas.extend(_descents(problem, random, n_starts, clock))
        thetas.extend(_listed(problem, lambda of: starts(of, random, n_starts, clock), clock))
        value = _least(problem, thetas)[1]
        program = BilinearProgram(problem, model, radius)
        if value <= ZERO_LOSS * program.unit:
            status = "optimal"
        elif clock.late():
            status = "time limit"
        else:
            below = value * (1.0 + ACCEPT_TOL)
            found, bound, finished = program.solve(below, clock.left, tol)
            if found is not None:
                # Near ties that the solver meets only to its tolerance, the exact loss is larger.
                thetas += [found, *_listed(problem, lambda of: [of.beta(found)], clock)]
                value = _least(problem, thetas)[1]
            bound = min(bound, value)
            status = "stalled" if finished else "time limit"
            if value - bound <= 1.1 * tol * value:
                status = "optimal"
    return bounded(problem, _least(problem, thetas)[0], status, bound, clock)


def _policy(problem: Problem) -> Array:
    """Return the linear policy: all of Z on one decision."""
    b = least_squares(problem.samples.features, problem.samples.decisions, problem.samples.weights)
    return problem.region.theta_of(Maps(np.zeros((*b.shape, problem.region.Z.dimension)), b))


def _descents(
    problem: Problem, random: np.random.Generator, n_starts: int, clock: Clock
) -> Iterator[Array]:
    """Descend on the exact loss by L-BFGS, from starts around the linear policy."""
    standard = Standardization.of(problem)
    inner = standard.apply(problem)

    def stop(xk: Array) -> None:  # noqa: ARG001 -- the name is part of the interface
        if clock.late():
            raise StopIteration

    for index in range(n_starts):
        if not clock.late():
            answer = minimize(
                inner.value_and_gradient,
                linear_start(inner, random, index),
                jac=True,
                method="L-BFGS-B",
                callback=stop,
                options={"maxiter": STEPS},
            )
            yield standard.revert(problem, answer.x)


def _listed(
    problem: Problem, betas: Callable[[EnumeratedSamples], Iterable[Array]], clock: Clock
) -> Iterator[Array]:
    """Improve parameters with the points that they take fixed, where Z has few vertices."""
    Z, loss = problem.region.Z, problem.loss
    served = Z.conic_form().polyhedral and (loss.norm != "l2" or loss.squared)
    if served and len(Z.vertices()) <= FEW_POINTS:
        samples = EnumeratedSamples.of(problem)
        program = NodeProgram(samples, clock)
        for beta in betas(samples):
            yield samples.theta(improved(program, beta)[1])


def _least(problem: Problem, thetas: list[Array]) -> tuple[Array, float]:
    """Return the parameters of least loss, the first of several, and that loss."""
    values = [problem.value(theta) for theta in thetas]
    best = int(np.argmin(values))
    return thetas[best], values[best]


def new_model() -> Any:
    """Return an empty model of SCIP."""
    try:
        from pyscipopt import Model
    except ImportError:
        raise MissingExtraError("pyscipopt", "scip") from None
    model = Model()
    model.hideOutput()
    return model


class BilinearProgram:
    """Every sample's optimality conditions, with one map for all of them (module head).

    Decisions are measured from their mean, in units of the largest distance from it, and features
    in units of their largest value; in these, entries of A and b are at most ``radius``.
    """

    def __init__(self, problem: Problem, model: Any, radius: float) -> None:
        self._samples, self._model, self._loss = problem.samples, model, problem.loss
        self._region, Z = problem.region, problem.region.Z
        n, k, p = problem.n_decisions, problem.n_features, Z.dimension
        self._form, self._priced = Z.conic_form(), isinstance(problem.loss, Suboptimality)
        decisions = problem.samples.decisions
        self.middle = np.mean(decisions, axis=0)
        self.scale = float(np.max(np.abs(decisions - self.middle))) or 1.0
        self._units = np.abs(problem.samples.features).max(axis=0)
        self._units[self._units == 0.0] = 1.0
        self._costs = problem.loss.unit_costs(problem.samples.costs)
        limits = Z.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self.A = self._variables((k, n, p), -radius, radius)
        free = 0.0 if Z.absorbs_offset else radius
        self.b = self._variables((k, n), -free, free)
        self._cost: Any = 0.0
        for i, weight in enumerate(problem.samples.weights):
            self._cost = self._cost + float(weight) * self._sample(i)

    def _variables(
        self, shape: tuple[int, ...], low: float | Array, high: float | Array
    ) -> NDArray[Any]:
        made = np.empty(shape, dtype=object)
        lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        for at in np.ndindex(*shape):
            made[at] = self._variable(float(lows[at]), float(highs[at]))
        return made

    def _variable(self, low: float, high: float) -> Any:
        """Add a variable; infinite bounds are none."""
        limits = (None if np.isinf(bound) else bound for bound in (low, high))
        return self._model.addVar("", "C", *limits)

    def _sample(self, i: int) -> Any:
        """Add the rows of a sample; return its loss."""
        form, add = self._form, self._model.addCons
        phi, c = self._samples.features[i] / self._units, self._costs[i]
        x = (self._samples.decisions[i] - self.middle) / self.scale
        A, b = np.einsum("k,knp->np", phi, self.A), phi @ self.b
        z = self._variables(self._low.shape, self._low, self._high)
        multipliers = self._variables((len(form.h),), -np.inf, np.inf)
        self._in_cone(form.H @ z - form.h, dual=False)
        self._in_cone(multipliers, dual=True)
        for j in range(len(z)):
            add(c @ A[:, j] - form.H[:, j] @ multipliers == 0.0)
        image = self._variables(x.shape, -np.inf, np.inf)
        for row in range(len(x)):
            add(A[row] @ z + b[row] - image[row] == 0.0)
        bound = multipliers @ form.h
        if not self._priced:
            add(c @ (image - b) - bound <= 0.0)
            return self._norm(image - x)
        excess = self._variable(0.0, np.inf)
        add(c @ (x - b) - bound - excess <= 0.0)
        return self._norm(np.append(image - x, excess))

    def _in_cone(self, slack: NDArray[Any], dual: bool) -> None:
        """Add ``slack in K``, or in the dual cone, which is free where K is zero."""
        for cone, rows in self._form.blocks():
            part = slack[rows]
            if cone.size == 0 or (cone.kind == "zero" and dual):
                continue
            if cone.kind == "second-order":
                self._model.addCons(part[0] >= 0.0)
                self._model.addCons((part[1:] ** 2).sum() - part[0] * part[0] <= 0.0)
                continue
            for entry in part:
                self._model.addCons(entry == 0.0 if cone.kind == "zero" else entry >= 0.0)

    def _norm(self, residuals: NDArray[Any]) -> Any:
        """Return an expression that is at least the norm of expressions, squared where asked."""
        add, norm = self._model.addCons, self._loss.norm
        if norm == "l2":
            total = self._variable(0.0, np.inf)
            square = (residuals**2).sum()
            add(square - (total if self._loss.squared else total * total) <= 0.0)
            return total
        sizes = self._variables((len(residuals) if norm == "l1" else 1,), 0.0, np.inf)
        for residual, size in zip(residuals, np.broadcast_to(sizes, len(residuals)), strict=True):
            add(size - residual >= 0.0)
            add(size + residual >= 0.0)
        return sizes.sum()

    @property
    def unit(self) -> float:
        """The unit of the loss."""
        return self.scale**2 if self._loss.is_squared_l2 else self.scale

    def solve(self, cutoff: float, seconds: float, gap: float) -> tuple[Array | None, float, bool]:
        """Minimise below a loss; return parameters, a bound, and whether no limit ended it."""
        model, cutoff = self._model, cutoff / self.unit
        model.setObjective(self._cost, "minimize")
        model.setObjlimit(cutoff)
        model.setParam("limits/gap", gap)
        model.setParam("randomization/randomseedshift", 0)
        if np.isfinite(seconds):
            model.setParam("limits/time", max(float(seconds), 1e-3))
        model.optimize()
        status = model.getStatus()
        if status in ("unbounded", "inforunbd"):
            raise SolverError(f"SCIP ended with status {status!r} on the bilinear program")
        if status == "userinterrupt":
            raise KeyboardInterrupt
        # Nothing below the cutoff: the cutoff itself is a bound.
        bound = cutoff if status == "infeasible" else min(cutoff, float(model.getDualbound()))
        finished = status in ("optimal", "gaplimit", "infeasible")
        theta = self._theta() if model.getNSols() > 0 else None
        return theta, bound * self.unit, finished

    def _theta(self) -> Array:
        """Return the parameters of the region at the best solution."""
        A, b = (np.vectorize(self._model.getVal, otypes=[float])(each) for each in (self.A, self.b))
        units = self.scale / self._units
        offset = b * units[:, None]
        offset[0] += self.middle
        return self._region.theta_of(Maps(A * units[:, None, None], offset))
