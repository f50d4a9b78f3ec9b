"""The smoothed training objective of Algorithm 2."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.formulations import SmoothedPredictability, SmoothedSolution, SmoothedSuboptimality
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.losses.loss import no_gradient
from feaslearn.sets import AffineImage
from feaslearn.tolerances import TINY
from feaslearn.trainers.smoothed_kernels import SmoothedMemory, Smoothing, smoothed_rows

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


class _Part(NamedTuple):
    """The sums of one block."""

    value: float
    gradient: Maps
    slacks: Array


class SmoothedObjective:
    r"""The objective :math:`\sum_i w_i \ell^\epsilon_\theta(x_i, s_i)` of Algorithm 2.

    The loss of a sample is the optimum of the smoothed program with :math:`\theta` fixed, see
    `SmoothedPredictability` and `SmoothedSuboptimality`. Compiled kernels find it for simplices,
    boxes, L1 balls, hypersimplices, polytopes whose vertices can be listed, products of those, and
    a single L2 ball, by a search for one number in each sample. Other sets, and rows on which a
    kernel does not reach an optimum that it can verify, go through CVXPY. The offset belongs to the
    parameters on both ways, so that samples separate and all have the same value.

    It remembers where the search of each sample ended, and the next evaluation begins there; so
    one object serves one walk.
    """

    def __init__(
        self, objective: Objective, normalize_cost: bool = False, compiled: bool = True
    ) -> None:
        self._objective = objective
        hypothesis = objective.maps()
        self._primitive = hypothesis.latent(objective.n_decisions)
        code = self._primitive.code()
        serves = compiled and code is not None and AffineImage.kernel_serves(code)
        self._code = code if serves else None
        loss = objective.loss
        if not isinstance(loss, Suboptimality):
            loss = Suboptimality(normalize_cost=normalize_cost)
        self._objective = objective.changed(partial(_in_unit_costs, loss))
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
        parts: Iterable[_Part] = (
            self._by_program(maps, block, epsilon) for block in objective.samples
        )
        if self.compiled:
            objective.run.check_time()
            parts = objective.samples.map_rows(
                lambda block, rows: self._by_kernel(maps, block, self._memory(rows), epsilon),
                objective.n_jobs,
            )
        total, gradient, slacks = 0.0, no_gradient(maps), np.zeros(2)
        for part in parts:
            total += part.value
            gradient.A[...] += part.gradient.A
            gradient.b[...] += part.gradient.b
            slacks += part.slacks
        primal, dual = slacks / self._weight
        return Smoothed(total, hypothesis.pull_back(gradient), float(primal), float(dual))

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

    def _by_kernel(self, maps: Maps, block: Block, memory: SmoothedMemory, epsilon: float) -> _Part:
        """Solve each row by a kernel; leave to CVXPY what that does not solve."""
        exact = not isinstance(self._objective.loss, Predictability)
        smoothing = Smoothing(1.0, epsilon, epsilon / 2.0, exact=True)
        if not exact:
            smoothing = Smoothing(epsilon, epsilon, 0.0, exact=False)
        values, slacks = np.empty(len(block.weights)), np.zeros((len(block.weights), 2))
        gradient = no_gradient(maps)
        answers = (values, slacks, *gradient)
        if self._code is None:
            raise AssertionError("no kernel serves this set")
        failed = smoothed_rows(self._code, *maps, *block, smoothing, memory, *answers)
        value = float(block.weights @ np.nan_to_num(values))
        part = _Part(value, gradient, block.weights @ slacks)
        if not failed:
            return part
        left = np.isnan(values)
        rest = self._by_program(maps, block.rows(left), epsilon)
        return _added(part, rest)

    def _by_program(self, maps: Maps, block: Block, epsilon: float) -> _Part:
        """Solve the rows through CVXPY, some at a time."""
        total = _Part(0.0, no_gradient(maps), np.zeros(2))
        for start in range(0, len(block.weights), PROGRAM_ROWS):
            self._objective.run.check_time()
            rows = Block(*(array[start : start + PROGRAM_ROWS] for array in block))
            solution = self._solve(maps, rows, epsilon)
            gradient = Maps(*solution.gradient(rows.features, rows.costs, rows.weights))
            squares = [(s**2).sum(axis=1) for s in (solution.slack_primal, solution.slack_dual)]
            slacks = np.array([rows.weights @ square for square in squares])
            total = _added(total, _Part(solution.value, gradient, slacks))
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

    parts = objective.each_block(sums)
    seen, total, squares = np.sum([part for part, _ in parts], axis=0)
    weight, cost = (float(value) for value in np.sum([part for _, part in parts], axis=0))
    about = squares - total**2 / np.maximum(seen, TINY)
    primal = float(np.maximum(about, 0.0).sum()) / weight or 1.0
    return (primal, primal * (cost / weight or 1.0)), weight


def _in_unit_costs(loss: Suboptimality, block: Block) -> Block:
    return block._replace(costs=loss.unit_costs(block.costs))


def _added(one: _Part, other: _Part) -> _Part:
    gradient = Maps(one.gradient.A + other.gradient.A, one.gradient.b + other.gradient.b)
    return _Part(one.value + other.value, gradient, one.slacks + other.slacks)
