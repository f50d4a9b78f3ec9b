"""The search for the best ternary map."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from feaslearn.data import Shard
from feaslearn.exceptions import SolverError
from feaslearn.losses import Objective, Predictability
from feaslearn.results import Status, remark
from feaslearn.runs import Clock, OutOfTime
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.mixed_integer.found import Found, Watch
from feaslearn.trainers.mixed_integer.ternary_program import TANGENTS, TernaryProgram
from feaslearn.trainers.progress import ProgressBar

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

#: A loss below this share of the decisions' spread is zero.
ZERO = 1e-9
#: Entries of maps that the local search may try.
MOST_TRIED = 2_000


class TernarySearch:
    """Local search over maps, then the mixed-integer program with tangents where needed.

    Parameters
    ----------
    objective : Objective
        What to minimise; its hypothesis is `Ternary`.
    clock : Clock
        How long.
    watch : Watch
        Writes down where the search stands.
    tol : float
        Relative gap at which the search ends.
    """

    def __init__(self, objective: Objective, clock: Clock, watch: Watch, tol: float) -> None:
        self._objective, self._clock, self._tol = objective, clock, tol
        self._watch = watch
        parts = zip(*objective.shards, strict=True)
        self.whole = Shard(*(np.concatenate(part) for part in parts))
        n = objective.n_decisions
        self._shape = n, objective.maps().latent(n).dimension
        self._squared = objective.loss.norm == "l2"
        spread = float(np.nanvar(self.whole.decisions))
        self._zero = ZERO * (spread if self._squared else np.sqrt(spread))
        self.best, self.value = np.zeros(objective.size), np.inf

    def run(self, random: np.random.Generator, n_starts: int, max_iter: int | None) -> Found:
        """Search; zero is always a lower bound."""
        status: Status = "optimal"
        bound, rounds = 0.0, 0
        self._offer(np.zeros(self._shape))
        try:
            self._local_search(random, n_starts)
            if self.value > self._zero:
                status, bound, rounds = self._prove(max_iter)
        except KeyboardInterrupt:
            status = "interrupted"
        except OutOfTime:
            status = "time limit"
        except SolverError as error:
            status = "stalled"
            remark(f"the best map found is kept without a proof: {error}")
        self._watch.note(bound, self.value)
        return Found(self.best, status, bound, rounds, self._watch.history)

    def _prove(self, max_iter: int | None) -> tuple[Status, float, int]:
        objective = self._objective
        primitive = objective.maps().latent(objective.n_decisions)
        program = TernaryProgram(primitive, objective.loss, self.whole, objective.run)
        self._first_tangents(program)
        bound, rounds = 0.0, 0
        with ProgressBar("ternary map, gap closed (%)", 100) as bar:
            while not self._clock.out():
                rounds += 1
                answer = program.model.solve(self._start(program), self._clock.left, self._tol / 2)
                bound = max(bound, answer.bound)
                off = np.inf
                if answer.values is not None:
                    A = np.round(answer.values[program.plus] - answer.values[program.minus]) + 0.0
                    self._offer(A, answer.values[program.b])
                    off = self._cut(program, answer.values)
                if answer.interrupted:
                    raise KeyboardInterrupt
                logger.debug("round %d: loss %.6g, bound %.6g", rounds, self.value, bound)
                stop = self._watch.stops(rounds, bound, self.value)
                if self.value - bound <= self._tol * self.value + self._zero:
                    return "optimal", bound, rounds
                bar.update(int(100 * bound / self.value), f"loss {self.value:.4g}")
                if stop:
                    return "stopped by callback", bound, rounds
                if answer.finished and off <= 1e-9 * max(self.value, self._zero):
                    return "stalled", bound, rounds
                if max_iter is not None and rounds >= max_iter:
                    return "iteration limit", bound, rounds
        return "time limit", bound, rounds

    def _first_tangents(self, program: TernaryProgram) -> None:
        width = float(np.nanstd(self.whole.decisions)) or 1.0
        for square in program.squares:
            for share in TANGENTS:
                program.add_tangents(square, share * width)
                if share:
                    program.add_tangents(square, -share * width)
        if self._squared and isinstance(self._objective.loss, Predictability):
            # The squares of the best map are the ones that a bound has to reach.
            predicted = self._objective.hypothesis.predict(
                self.best, self.whole.features, self.whole.costs
            )
            gaps = (predicted - self.whole.decisions)[~np.isnan(self.whole.decisions)]
            for square, gap in zip(program.squares, gaps, strict=True):
                program.add_tangents(square, float(gap))

    def _cut(self, program: TernaryProgram, values: Array) -> float:
        """Add a tangent wherever a square is too small in an answer; return by how much in all."""
        off = 0.0
        for residual, size in program.squares:
            missing = values[residual] ** 2 - values[size]
            if missing > 1e-3 * self._tol * self.value:
                program.add_tangents((residual, size), values[residual])
            off += max(missing, 0.0)
        return off

    def _start(self, program: TernaryProgram) -> dict[int, float]:
        n, p = self._shape
        A = self.best[: n * p].reshape(n, p)
        columns = np.append(program.plus.ravel(), program.minus.ravel())
        entries = np.append((A > 0.5).ravel(), (A < -0.5).ravel())
        return dict(zip(columns.tolist(), entries.astype(float).tolist(), strict=True))

    def _offer(self, A: Array, b: Array | None = None) -> float:
        """Take a map if it is better than the best so far, with the best offset found for it."""
        tried = [self._fitted(A)] if b is None else [self._fitted(A), b]
        least = np.inf
        for offset in tried:
            theta = np.concatenate([A.ravel(), self._settled(A, offset).ravel()])
            value = self._objective.value(theta)
            least = min(least, value)
            if value < self.value:
                self.best, self.value = theta, value
        return least

    def _fitted(self, A: Array) -> Array:
        """Regress what the map leaves over on the features."""
        z = self._objective.maps().latent(len(A)).argmin(self.whole.costs @ A)
        rest = self.whole.decisions - z @ A.T
        return least_squares(self.whole.features, rest, self.whole.weights)

    def _settled(self, A: Array, b: Array) -> Array:
        """Minimise the squared loss in b, where it is convex; other norms have a program."""
        if not self._squared:
            return b
        size = A.size

        def loss(flat: Array) -> tuple[float, Array]:
            value, slope = self._objective.value_and_gradient(np.append(A.ravel(), flat))
            return value, slope[size:]

        if loss(b.ravel())[0] <= self._zero:
            return b
        answer = minimize(loss, b.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        return np.asarray(answer.x.reshape(b.shape))

    def _local_search(self, random: np.random.Generator, n_starts: int) -> None:
        """Change one entry of a map at a time while that helps, from several maps."""
        tried = 0
        for _ in range(n_starts):
            A = random.integers(-1, 2, self._shape).astype(float)
            value, improved = self._offer(A), True
            while improved and self.value > self._zero:
                improved = False
                for at in np.ndindex(*self._shape):
                    for entry in (-1.0, 0.0, 1.0):
                        if tried >= MOST_TRIED or self._clock.out():
                            return
                        if entry == A[at]:
                            continue
                        tried += 1
                        changed = A.copy()
                        changed[at] = entry
                        reached = self._offer(changed)
                        if reached < value - 1e-12:
                            A, value, improved = changed, reached, True
            if self.value <= self._zero:
                return
