"""Algorithm 2 of the paper: gradient descent on a loss that is smoothed less and less."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.data.samples import plus
from feaslearn.formulations import SmoothedPredictability, SmoothedSolution, SmoothedSuboptimality
from feaslearn.hypotheses import MapHypothesis
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.losses.loss import no_gradient
from feaslearn.parameters import POSITIVE, Constraints
from feaslearn.solvers.nearest_kernels import can_project
from feaslearn.solvers.oracle_kernels import SetCode
from feaslearn.tolerances import DESCENT_ROUNDING, TINY
from feaslearn.trainers.gradient_descent import (
    NoStep,
    Step,
    backtrack,
    first_size,
    no_gradient_in,
)
from feaslearn.trainers.iterative import Callback, Iterate, IterativeTrainer
from feaslearn.trainers.smoothed_kernels import SmoothedMemory, Smoothing, smoothed_rows
from feaslearn.trainers.starts import Start

#: No step is longer than this many times the one before it.
LONGEST = 10.0


@dataclass(kw_only=True)
class SmoothedIterate(Iterate):
    """An iterate of Algorithm 2: with the smoothed loss, its weight and its slacks."""

    problem: SmoothedObjective
    epsilon: float
    found: Smoothed
    first: float
    step: float | None = None


@dataclass(eq=False, repr=False)
class AdaptiveSmoothing(IterativeTrainer):
    r"""Gradient steps on a loss with slack, whose penalty increases during the search.

    .. math:: \min_\theta \sum_i w_i \min_{\gamma, z, \lambda} \left[ \|\gamma_i\|^2
              + \epsilon \|\gamma_{s1,i}\|^2 + \epsilon \|\gamma_{s2,i}\|^2 \right]

    The slacks :math:`\gamma_s` loosen the region and the optimality of its decisions, which makes
    the loss smooth; at a fixed :math:`\epsilon` it never rises. It is doubled when the mean
    squared slack changes by less than :math:`0.01 / 10^{\log_2 \epsilon + 1}` of the scale of the
    data. Each term carries the weight 1/N, which the paper leaves out of the second and third.
    Steps are taken in standardised features; their size is tried from the change of the gradient
    (Barzilai and Borwein) and halved until Armijo's rule holds.

    Compiled kernels solve the inner problem where they serve the set: simplices, boxes, balls,
    hypersimplices, polytopes whose vertices can be enumerated, and products of those without L2
    balls. Other sets, among them larger polytopes and those with second-order cones, go through
    CVXPY, which is slower by orders of magnitude.

    Parameters
    ----------
    max_iter : int, default=1000
        Steps from each start.
    max_seconds : float, default=None
        Limit on the wall time of the whole search.
    tol : float, default=1e-9
        A relative decrease below this ends the work at one epsilon.
    n_starts : int, default=1
        How many starts; ``n_jobs`` of the estimator runs several at a time, with the same result.
    start : Start or array-like, default=None
        Where searches begin: a strategy of ``feaslearn.trainers.starts``, or parameters such as
        ``theta_`` of another model. By default around the linear policy.
    epsilon : float, default=1.0
        The first weight of the slacks.
    max_epsilon : float, default=2**20
        The last one: a start that is done with it has converged.
    normalize_cost : bool, default=True
        Divide each cost by its length inside the smoothed loss, so that the unit of money does not
        matter. Suboptimality has a parameter of its own for that, which then counts.
    compiled : bool, default=True
        Whether kernels solve the inner problem where they serve the set; otherwise all of it goes
        through CVXPY, as in the paper, to the same value.
    callback : callable, default=None
        Called with the iteration and the `Iterate`; a true answer stops the search.

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

    max_iter: int = 1000
    max_seconds: float | None = None
    tol: float = 1e-9
    n_starts: int = 1
    start: Start | ArrayLike | None = None
    epsilon: float = 1.0
    max_epsilon: float = 2.0**20
    normalize_cost: bool = True
    compiled: bool = True
    callback: Callback | None = None

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
        first = SmoothedIterate(
            theta,
            found.value,
            found.gradient,
            problem=problem,
            epsilon=float(self.epsilon),
            found=found,
            first=found.value,
        )
        return self._moved(objective, first, found)

    def step(self, objective: Objective, iterate: Iterate) -> SmoothedIterate:
        """Take one backtracked step, and double epsilon where the slack is stable."""
        assert isinstance(iterate, SmoothedIterate)
        problem, epsilon, before = iterate.problem, iterate.epsilon, iterate.found
        if before.value <= DESCENT_ROUNDING * iterate.first and iterate.loss <= DESCENT_ROUNDING:
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
            return self._increased(objective, iterate)
        after = taken.found
        following = replace(iterate, theta=taken.theta, step=_next_size(iterate, taken))
        decreased = before.value - after.value > self.tol * before.value
        stable = problem.slack_change(before, after) < 0.01 / 10.0 ** (np.log2(epsilon) + 1.0)
        if stable or not decreased:
            return self._increased(objective, replace(following, found=after))
        return self._moved(objective, following, after)

    def _increased(self, objective: Objective, iterate: SmoothedIterate) -> SmoothedIterate:
        """Double epsilon at the same parameters; the search is over where it was the last."""
        epsilon = 2.0 * iterate.epsilon
        if epsilon > self.max_epsilon:
            return self._moved(objective, replace(iterate, finished="converged"), iterate.found)
        found = iterate.problem.evaluate(iterate.theta, epsilon)
        step = None if iterate.step is None else iterate.step / 2.0
        return self._moved(objective, replace(iterate, epsilon=epsilon, step=step), found)

    def _moved(
        self, objective: Objective, iterate: SmoothedIterate, found: Smoothed
    ) -> SmoothedIterate:
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
            training_loss=objective.value(iterate.theta),
            record=record,
        )


def _next_size(iterate: SmoothedIterate, taken: Step[Smoothed]) -> float:
    """Return the size that the next step tries: what the change of the gradient suggests."""
    move, turn = taken.theta - iterate.theta, taken.found.gradient - iterate.gradient
    curvature = float(move @ turn)
    longest = LONGEST * taken.size
    return min(float(move @ move) / curvature, longest) if curvature > 0.0 else longest


# The smoothed training objective of Algorithm 2.


#: Rows of one CVXPY program: compiling takes a time that grows with them.
PROGRAM_ROWS = 100
#: CVXPY sets up warnings for the whole process while it works, so starts take turns.
_ONE_AT_A_TIME = threading.Lock()
#: Numbers that are remembered of the projections of all samples.
MOST_REMEMBERED = 5_000_000


class Smoothed(NamedTuple):
    """The smoothed objective at some parameters, its gradient, and two mean squared slacks."""

    value: float
    gradient: Array
    slack_primal: float
    slack_dual: float


#: The sums of a block: the smoothed loss, its gradient in A and in b, the squares of both slacks.
Part = tuple[float, Array, Array, Array]


class SmoothedObjective:
    r"""The objective :math:`\sum_i w_i \ell^\epsilon_\theta(x_i, s_i)` of Algorithm 2.

    The loss of a sample is the optimum of the smoothed program with :math:`\theta` fixed, see
    `SmoothedPredictability` and `SmoothedSuboptimality`. Compiled kernels find it for simplices,
    boxes, L1 balls, hypersimplices, polytopes whose vertices can be enumerated, products of those,
    and a single L2 ball, by a search for one number in each sample. Other sets, and rows on which a
    kernel does not reach an optimum that it can verify, go through CVXPY. The offset belongs to the
    parameters on both ways, so that samples separate and all have the same value.

    It remembers where the search of each sample ended, and the next evaluation begins there; so
    one object serves one start.
    """

    def __init__(
        self, objective: Objective, normalize_cost: bool = False, compiled: bool = True
    ) -> None:
        self._objective = objective
        hypothesis = objective.maps()
        self._primitive = hypothesis.latent(objective.n_decisions)
        code = self._primitive.code()
        serves = compiled and code is not None and can_project(code)
        self._code = code if serves else None
        loss = Suboptimality(normalize_cost=normalize_cost)
        if isinstance(objective.loss, Suboptimality):
            loss = objective.loss
        samples = objective.samples.then(
            lambda block: block._replace(costs=loss.unit_costs(block.costs))
        )
        self._objective = replace(objective, samples=samples)
        self._scales, self._weight = _scales(self._objective)
        #: Where the searches of a block ended, by its first row; only of samples in memory.
        self._memories: dict[int, SmoothedMemory] = {}
        self._programs: dict[int, SmoothedPredictability | SmoothedSuboptimality] = {}

    @property
    def compiled(self) -> bool:
        """Whether kernels serve the set."""
        return self._code is not None

    def evaluate(self, theta: Array, epsilon: float) -> Smoothed:
        """Return value, gradient and slacks at ``theta`` for one weight of all slacks."""
        objective = self._objective
        hypothesis = objective.maps()
        maps = hypothesis.maps(theta, objective.n_decisions, objective.n_features)
        parts: Iterable[Part] = (
            self._by_program(maps, block, epsilon) for block in objective.samples
        )
        code = self._code
        if code is not None:
            objective.run.check_time()
            parts = objective.samples.map_rows(
                lambda block, rows: self._by_kernel(code, maps, block, self._memory(rows), epsilon),
                objective.n_jobs,
            )
        total, in_A, in_b, slacks = reduce(plus, parts)
        primal, dual = slacks / self._weight
        slope = hypothesis.pull_back(Maps(in_A, in_b))
        return Smoothed(total, slope, float(primal), float(dual))

    def slack_change(self, before: Smoothed, after: Smoothed) -> float:
        """Return how much the mean squared slacks changed, relative to the scale of the data."""
        primal, dual = self._scales
        moved = abs(after.slack_primal - before.slack_primal) / primal
        return moved + abs(after.slack_dual - before.slack_dual) / dual

    def _memory(self, rows: Indices) -> SmoothedMemory:
        """Return where the searches of a block begin; for large data, only the multipliers."""
        first, count = int(rows[0]) if len(rows) else 0, len(rows)
        if first in self._memories:
            return self._memories[first]
        n, p = self._objective.n_decisions, self._primitive.dimension
        resident = self._objective.samples.in_memory
        remembers = resident and self._objective.n_samples * (n + 2) * p <= MOST_REMEMBERED
        kept = count if remembers else 0
        memory = SmoothedMemory(
            np.zeros(count),
            np.zeros((kept, n + 2, p)),
            np.zeros((kept, n + 2)),
            np.zeros(kept, dtype=np.int64),
        )
        if resident:
            self._memories[first] = memory
        return memory

    def _by_kernel(
        self, code: SetCode, maps: Maps, block: Block, memory: SmoothedMemory, epsilon: float
    ) -> Part:
        """Solve each row by a kernel; leave to CVXPY what that does not solve."""
        smoothing = Smoothing(1.0, epsilon, epsilon / 2.0, exact=True)
        if isinstance(self._objective.loss, Predictability):
            smoothing = Smoothing(epsilon, epsilon, 0.0, exact=False)
        values, slacks = np.empty(len(block.weights)), np.zeros((len(block.weights), 2))
        gradient = no_gradient(maps)
        answers = (values, slacks, *gradient)
        failed = smoothed_rows(code, *maps, *block, smoothing, memory, *answers)
        value = float(block.weights @ np.nan_to_num(values))
        part: Part = (value, *gradient, block.weights @ slacks)
        if failed:
            part = plus(part, self._by_program(maps, block.rows(np.isnan(values)), epsilon))
        return part

    def _by_program(self, maps: Maps, block: Block, epsilon: float) -> Part:
        """Solve the rows through CVXPY, some at a time."""
        total: Part = (0.0, *no_gradient(maps), np.zeros(2))
        for start in range(0, len(block.weights), PROGRAM_ROWS):
            self._objective.run.check_time()
            rows = Block(*(array[start : start + PROGRAM_ROWS] for array in block))
            solution = self._solve(maps, rows, epsilon)
            gradient = solution.gradient(rows.features, rows.costs, rows.weights)
            squares = [(s**2).sum(axis=1) for s in (solution.slack_primal, solution.slack_dual)]
            slacks = np.array([rows.weights @ square for square in squares])
            total = plus(total, (solution.value, *gradient, slacks))
        return total

    def _solve(self, maps: Maps, rows: Block, epsilon: float) -> SmoothedSolution:
        count, n = rows.decisions.shape
        if count not in self._programs:
            kind = SmoothedSuboptimality
            if isinstance(self._objective.loss, Predictability):
                kind = SmoothedPredictability  # type: ignore[assignment]
            self._programs[count] = kind(self._primitive, n, count)
        program = self._programs[count]
        known = (*maps.at(rows.features), rows.costs, rows.decisions, rows.weights)
        with _ONE_AT_A_TIME:
            if isinstance(program, SmoothedPredictability):
                return program.solve(*known, epsilon, epsilon)
            return program.solve(*known, epsilon)


def _scales(objective: Objective) -> tuple[tuple[float, float], float]:
    """Return the mean square of the decisions about their mean, and that times the cost's."""
    first = objective.first.decisions
    level = np.nan_to_num(first).sum(axis=0) / np.maximum((~np.isnan(first)).sum(axis=0), 1)

    def sums(block: Block) -> tuple[Array, Array]:
        away = block.decisions - level
        seen = ~np.isnan(away)
        away = np.where(seen, away, 0.0)
        w = block.weights
        return np.array([w @ seen, w @ away, w @ away**2]), np.array(
            [w.sum(), w @ (block.costs**2).sum(axis=1)]
        )

    parts = list(objective.samples.map(sums, objective.n_jobs))
    seen, total, squares = np.sum([part for part, _ in parts], axis=0)
    weight, cost = (float(value) for value in np.sum([part for _, part in parts], axis=0))
    about = squares - total**2 / np.maximum(seen, TINY)
    primal = float(np.maximum(about, 0.0).sum()) / weight or 1.0
    return (primal, primal * (cost / weight or 1.0)), weight
