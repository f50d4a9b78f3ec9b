r"""Algorithm 2: gradient descent on a loss that is smoothed less and less.

.. math:: \min_\theta \sum_i w_i \min_{\gamma, z, \lambda} \left[ \|\gamma_i\|^2
          + \epsilon \|\gamma_{s1,i}\|^2 + \epsilon \|\gamma_{s2,i}\|^2 \right]

The inner problem is (12) for predictability and (26b) for suboptimality. The slacks
:math:`\gamma_s` loosen the region and the optimality of its decisions, which makes the loss smooth.
It is solved in `feaslearn.paper.smoothed_program`, as a program, and in `feaslearn.paper.kernels`,
sample by sample without a solver. With z, :math:`\lambda` and the slacks optimal, no multipliers
are needed for the gradient:

.. math:: \nabla A_k = -2 \sum_i w_i \phi_{ik} (\epsilon \gamma_{s1,i} z_i'
          + \epsilon c_i \gamma_{s2,i}')

for predictability, and :math:`2 \sum_i w_i \phi_{ik} (\gamma_i z_i' - \epsilon c_i \gamma_{s,i}')`
for suboptimality. Where this differs from the paper:

- every term has the weight 1/N, which the paper leaves out of those of the slacks: with it 10 of 10
  runs recover the paper's own example without noise, without it 6 of 10;
- one :math:`\epsilon` for both slacks, doubled when the *mean* squared slack changes by less than
  :math:`0.01 / 10^{\log_2 \epsilon + 1}` of the scale of the data;
- the offset b moves with A, so that samples separate;
- the best iterate is returned, not the last: a step lowers the total at one :math:`\epsilon`, not
  the exact loss, and not that of each sample, as the paper has it.

``printed=True`` is the algorithm as the paper has it, see `feaslearn.paper.printed_smoothing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.paper.descent import Iterate, NoStep, Start, Step, backtrack, search
from feaslearn.paper.kernels import Smoothing, can_project, code_of, smoothed_rows
from feaslearn.paper.losses.loss import Predictability, Suboptimality, no_gradient
from feaslearn.paper.printed_smoothing import printed_smoothing
from feaslearn.paper.problem import Clock, Found, Problem
from feaslearn.paper.smoothed_program import SmoothedProgram, SmoothedRows
from feaslearn.tolerances import DESCENT_ROUNDING

#: No step is longer than this many times the one before it.
LONGEST = 10.0
#: Samples of one program: compiling takes a time that grows with them.
PROGRAM_ROWS = 100


def algorithm2(
    problem: Problem,
    *,
    start: Start | ArrayLike | None = None,
    n_starts: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-9,
    epsilon: float = 1.0,
    max_epsilon: float = 2.0**20,
    normalize_cost: bool = True,
    compiled: bool = True,
    printed: bool = False,
    weighted: bool = False,
    max_seconds: float | None = None,
    seed: int | np.random.Generator = 0,
) -> Found:
    """Descend on a loss with slack, whose penalty increases during the search.

    Parameters
    ----------
    problem : Problem
        The training problem, with a squared l2 loss and a convex set.
    start : callable or array-like, default=None
        Where searches begin: `linear_start` by default, `random_start`, or parameters.
    n_starts : int, default=1
        How many starts.
    max_iter : int, default=1000
        Steps from each start.
    tol : float, default=1e-9
        A relative decrease below this ends the work at one epsilon.
    epsilon : float, default=1.0
        The first weight of the slacks.
    max_epsilon : float, default=2**20
        The last one: a start that is done with it has converged.
    normalize_cost : bool, default=True
        Divide each cost by its length inside the smoothed loss, so that the unit of money does not
        matter. `Suboptimality` says so itself.
    compiled : bool, default=True
        Whether kernels solve the inner problem where they serve the set: simplices, boxes, balls,
        hypersimplices and polytopes whose vertices can be enumerated. Otherwise CVXPY does, to the
        same value and slower by orders of magnitude.
    printed : bool, default=False
        Run the algorithm as the paper has it, for simplices: two weights of slacks, and an offset
        that is solved for with z and the multipliers. The last iterate is returned.
    weighted : bool, default=False
        With ``printed``, give the terms of the slacks their weight 1/N; as printed they have none.
    max_seconds : float, default=None
        Limit on the wall time; the best iterate so far is returned, as after Ctrl-C.
    seed : int or Generator, default=0
        Source of the starts.

    Returns
    -------
    Found
        The best iterate of all starts; ``history`` has the smoothed loss, both slacks and epsilon.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> s = np.linspace(0.01, 0.99, 50)[:, None]
    >>> data = paper.Data(s, np.hstack([s < 0.5, s >= 0.5]), np.hstack([s, 1 - s]), [0])
    >>> paper.algorithm2(paper.Problem.of(paper.Affine(Simplex(2)), data)).objective < 1e-6
    True
    """
    loss = problem.loss
    if not isinstance(loss, Predictability | Suboptimality) or not loss.is_squared_l2:
        raise DataError(f"algorithm2 smooths squared l2 losses, not {loss!r} (algorithm1 does not)")
    if problem.region.Z.discrete:
        raise DataError(f"{problem.region.Z!r} is not convex (mixed_integer serves it)")
    unit = loss if isinstance(loss, Suboptimality) else Suboptimality(normalize_cost=normalize_cost)
    with Clock(max_seconds) as clock:

        def method(standard: Problem) -> _Smoothing:
            samples = standard.samples
            costs = unit.unit_costs(samples.costs)
            priced = standard.with_samples(samples._replace(costs=costs))
            objective = SmoothedObjective(priced, clock, compiled)
            return _Smoothing(standard, objective, tol, epsilon, max_epsilon, clock)

        if printed:
            costs = unit.unit_costs(problem.samples.costs)
            return printed_smoothing(problem, costs, weighted, start, max_iter, clock, seed)
        return search(
            problem,
            method,
            start=start,
            n_starts=n_starts,
            max_iter=max_iter,
            seed=seed,
            clock=clock,
        )


@dataclass(frozen=True)
class _Iterate(Iterate):
    """An iterate with the weight of its slacks, and the smoothed loss there."""

    epsilon: float = field(kw_only=True)
    found: Smoothed = field(kw_only=True)


@dataclass(frozen=True)
class _Smoothing:
    """The steps of Algorithm 2."""

    problem: Problem
    objective: SmoothedObjective
    tol: float
    epsilon: float
    max_epsilon: float
    clock: Clock

    def begin(self, theta: Array) -> _Iterate:
        """Evaluate the smoothed loss at the start."""
        found = self.objective.evaluate(theta, self.epsilon)
        value, gradient = found.value, found.gradient
        begun = _Iterate(
            theta, value, gradient, value, first=value, epsilon=float(self.epsilon), found=found
        )
        return self._moved(begun, found)

    def step(self, iterate: _Iterate) -> _Iterate:
        """Take one backtracked step, and double epsilon where the slack is stable."""
        epsilon, before = iterate.epsilon, iterate.found
        if before.value <= DESCENT_ROUNDING * iterate.first and iterate.loss <= DESCENT_ROUNDING:
            return replace(iterate, finished="converged")

        def evaluate(theta: Array) -> tuple[float, Smoothed]:
            found = self.objective.evaluate(theta, epsilon)
            return found.value, found

        taken: Step[Smoothed] | NoStep = NoStep(stationary=True)
        if before.gradient.any():
            taken = backtrack(self.problem, iterate, evaluate, self.clock)
        if isinstance(taken, NoStep):
            return self._increased(iterate)
        after = taken.found
        following = replace(iterate, theta=taken.theta, step=_next_size(iterate, taken))
        decreased = before.value - after.value > self.tol * before.value
        change = self.objective.slack_change(before, after)
        if change < 0.01 / 10.0 ** (np.log2(epsilon) + 1.0) or not decreased:
            return self._increased(replace(following, found=after))
        return self._moved(following, after)

    def _increased(self, iterate: _Iterate) -> _Iterate:
        """Double epsilon at the same parameters; the search is over where it was the last."""
        epsilon = 2.0 * iterate.epsilon
        if epsilon > self.max_epsilon:
            return self._moved(replace(iterate, finished="converged"), iterate.found)
        found = self.objective.evaluate(iterate.theta, epsilon)
        step = None if iterate.step is None else iterate.step / 2.0
        return self._moved(replace(iterate, epsilon=epsilon, step=step), found)

    def _moved(self, iterate: _Iterate, found: Smoothed) -> _Iterate:
        """Return the iterate with its smoothed loss, its training loss, and its history."""
        record = {
            "smoothed_loss": found.value,
            "slack_primal": found.slack_primal,
            "slack_dual": found.slack_dual,
            "epsilon": iterate.epsilon,
        }
        return replace(
            iterate,
            value=found.value,
            gradient=found.gradient,
            found=found,
            loss=self.problem.value(iterate.theta),
            record=record,
        )


def _next_size(iterate: _Iterate, taken: Step[Smoothed]) -> float:
    """Return the size that the next step tries, from the change of the gradient (Barzilai)."""
    move, turn = taken.theta - iterate.theta, taken.found.gradient - iterate.gradient
    curvature = float(move @ turn)
    longest = LONGEST * taken.size
    return min(float(move @ move) / curvature, longest) if curvature > 0.0 else longest


class Smoothed(NamedTuple):
    """The smoothed objective at some parameters, its gradient, and two mean squared slacks."""

    value: float
    gradient: Array
    slack_primal: float
    slack_dual: float


class SmoothedObjective:
    r"""The objective :math:`\sum_i w_i \ell^\epsilon_\theta(x_i, s_i)` of Algorithm 2.

    Samples that a kernel does not serve, or does not solve to an optimum that it can verify, go
    through CVXPY. The object remembers where the search of each sample ended, and the next
    evaluation begins there; so one object serves one start.

    Parameters
    ----------
    problem : Problem
        The training problem, its costs as they count.
    clock : Clock, default=None
        The deadline.
    compiled : bool, default=True
        Whether kernels serve where they can.
    """

    def __init__(self, problem: Problem, clock: Clock | None = None, compiled: bool = True) -> None:
        self._problem, self._clock = problem, clock or Clock()
        self._near = isinstance(problem.loss, Predictability)
        Z, count = problem.region.Z, problem.n_samples
        code = code_of(Z) if compiled else None
        self._code = code if code is not None and can_project(code) else None
        self._programs: dict[int, SmoothedProgram] = {}
        self._multipliers = np.zeros(count)
        # The mean squares of decisions about their mean, and that times the cost's.
        _, costs, decisions, weights = problem.samples
        observed = np.where(np.isnan(decisions), 0.0, weights[:, None])
        known = np.nan_to_num(decisions)
        mean = (observed * known).sum(axis=0) / np.maximum(observed.sum(axis=0), weights.min())
        primal = float((observed * (known - mean) ** 2).sum()) or 1.0
        self._scales = primal, primal * (float(weights @ (costs**2).sum(axis=1)) or 1.0)

    def evaluate(self, theta: Array, epsilon: float) -> Smoothed:
        """Return value, gradient and slacks at ``theta`` for one weight of all slacks."""
        self._clock.check()
        values, gradient, slacks = self._by_kernel(theta, epsilon)
        weights = self._problem.samples.weights
        primal, dual = weights @ slacks
        slope = self._problem.region.pull_back(gradient)
        return Smoothed(float(weights @ values), slope, float(primal), float(dual))

    def slack_change(self, before: Smoothed, after: Smoothed) -> float:
        """Return how much the mean squared slacks changed, relative to the scale of the data."""
        primal, dual = self._scales
        moved = abs(after.slack_primal - before.slack_primal) / primal
        return moved + abs(after.slack_dual - before.slack_dual) / dual

    def _by_kernel(self, theta: Array, epsilon: float) -> SmoothedRows:
        """Solve each sample by a kernel; leave to CVXPY what that does not solve."""
        samples, maps = self._problem.samples, self._problem.maps(theta)
        count, gradient = len(samples.weights), no_gradient(maps)
        values, slacks = np.full(count, np.nan), np.zeros((count, 2))
        if self._code is not None:
            smoothing = Smoothing(1.0, epsilon, epsilon / 2.0, exact=True)
            if self._near:
                smoothing = Smoothing(epsilon, epsilon, 0.0, exact=False)
            smoothed_rows(
                self._code, *maps, *samples, smoothing, self._multipliers, values, slacks, *gradient
            )
        left = np.flatnonzero(np.isnan(values))
        for start in range(0, len(left), PROGRAM_ROWS):
            self._clock.check()
            rows = left[start : start + PROGRAM_ROWS]
            found = self._program(len(rows)).solve(maps, samples.rows(rows), epsilon)
            values[rows], slacks[rows] = found.values, found.slacks
            gradient.A[...] += found.gradient.A
            gradient.b[...] += found.gradient.b
        return SmoothedRows(values, gradient, slacks)

    def _program(self, count: int) -> SmoothedProgram:
        """Return the program of so many samples, compiled when it is first asked for."""
        if count not in self._programs:
            sizes = self._problem.n_decisions, count
            self._programs[count] = SmoothedProgram(self._problem.region.Z, *sizes, self._near)
        return self._programs[count]
