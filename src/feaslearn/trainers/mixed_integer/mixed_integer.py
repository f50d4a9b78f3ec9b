"""Classes whose training problem has integers in it, solved with a lower bound."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError
from feaslearn.hypotheses import Ternary
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.parameters import FUNCTION, Constraints, Either, Integer, Number
from feaslearn.results import Status, remark
from feaslearn.runs import OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import ROUNDING, SAME_TOL, ZERO_LOSS
from feaslearn.trainers.mixed_integer.enumerated_search import search_enumerated
from feaslearn.trainers.mixed_integer.node_program import Callback, Found, Watch
from feaslearn.trainers.mixed_integer.ternary_program import TANGENTS, TernaryProgram
from feaslearn.trainers.standardize import least_squares
from feaslearn.trainers.trainer import Trained, Trainer, measured

logger = logging.getLogger("feaslearn")

#: Entries of maps that the local search may try.
MOST_TRIED = 2_000
#: A relative gap.
GAP = Number(0.0, 1.0, above=True, below=True)


@dataclass(eq=False, repr=False)
class MixedInteger(Trainer):
    r"""The best region of enumerated points, or with a ternary map, and a proof of how good it is.

    *Binary sets.* The prediction is one of the points :math:`v_{im} = A(s_i) w_m + b(s_i)`,

    .. math:: \min_\theta \sum_i w_i \|x_i - v_{i m(i)}\| \quad \text{s.t.} \quad
        c_i'v_{i m(i)} \le c_i'v_{ij} \;\; \forall i, j.

    Branch and bound decides about the points :math:`m(i)`, samples that are alike together and
    columns that can change places in one order only; with points fixed the problem is convex, so
    there are no large constants, and bounds hold for all parameters. Suboptimality fixes the
    nearest point of each sample instead.

    *Ternary maps.* One mixed-integer linear program, solved by HiGHS, whose binaries are the
    entries of the map, however many samples there are. Squared losses are held from below by
    tangents, which are added in rounds; every round has a lower bound.

    The result has a lower bound. Its status is "optimal" once the relative gap is below ``tol``; a
    loss of zero is a proof by itself. The optimum may lie where points tie; parameters are kept
    away from ties where that costs less than the tolerance.

    Parameters
    ----------
    max_seconds : float, default=60.0
        Limit on the wall time; None for none. The best parameters so far are returned.
    tol : float, default=1e-4
        Relative gap between loss and lower bound at which the search ends.
    max_iter : int, default=None
        Limit on the nodes, or on the rounds of tangents.
    n_starts : int, default=10
        Random starts of the heuristics before the proof.
    callback : callable, default=None
        Called with the step, the lower bound and the loss so far; a true answer stops the search.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.2; its optimality rows are corrected here.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2, binary=True)), cost=data.cost, random_state=0)
    >>> result = model.fit(data.signals, data.decisions).result_
    >>> result.status, round(result.objective, 6), result.lower_bound
    ('optimal', 0.0, 0.0)
    """

    max_seconds: float | None = 60.0
    tol: float = 1e-4
    max_iter: int | None = None
    n_starts: int = 10
    callback: Callback | None = None

    parameter_constraints: ClassVar[Constraints] = {
        "tol": GAP,
        "callback": Either(None, FUNCTION),
        "max_iter": Either(None, Integer(1)),
        "n_starts": Integer(0),
    }

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a set without a list of binary points, and a loss that is not served."""
        problems = []
        hypothesis = objective.hypothesis
        if isinstance(hypothesis, Ternary):
            problems += _ternary_mismatches(hypothesis)
        elif not is_enumerated(hypothesis):
            problems.append(
                f"{hypothesis!r} has no binary points (Affine of a set with binary=True has, and "
                "Ternary; Convex, FacetLearning and GradientDescent train other hypotheses)"
            )
        return problems + loss_mismatches(objective.loss)

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Search for the best parameters and a lower bound."""
        objective = objective.limited(self.max_seconds)
        watch, limits = Watch(objective.run.clock, self.callback), (self.max_iter, self.n_starts)
        if objective.hypothesis.integer_parameters:
            found = TernarySearch(objective, watch, self.tol).run(random, *limits)
        else:
            found = search_enumerated(objective, random, watch, self.tol, *limits)
        return bounded_result(self, objective, found)


def is_enumerated(hypothesis: Hypothesis) -> bool:
    """Say whether a hypothesis is a free affine image of a list of points."""
    maps = hypothesis.as_maps()
    if maps is None or not maps.holds_every_map:
        return False
    primitive = getattr(maps, "primitive", None)
    return isinstance(primitive, PrimitiveSet) and primitive.discrete


def _ternary_mismatches(hypothesis: Ternary) -> list[str]:
    """Say why linear rows cannot describe a set."""
    primitive = hypothesis.primitive
    if not isinstance(primitive, PrimitiveSet):
        return [f"{primitive!r} is not a primitive set"]
    if primitive.discrete:
        return [f"{primitive!r} is binary (Ternary takes the set without binary=True)"]
    if not primitive.conic_form().polyhedral:
        return [f"{primitive!r} is curved (a polyhedral set such as Box or L1Ball is served)"]
    return []


def loss_mismatches(loss: Loss) -> list[str]:
    """Say why programs with linear or squared terms cannot serve a loss."""
    if type(loss) not in (Predictability, Suboptimality):
        return [f"{loss!r} is neither Predictability nor Suboptimality (GradientDescent serves it)"]
    if loss.norm == "l2" and not loss.squared:
        return [
            f"{loss!r} is a length that is not squared (l1, linf and the squared l2 are served; "
            "GradientDescent trains with any norm)"
        ]
    return []


def bounded_result(trainer: Trainer, objective: Objective, found: Found) -> Trained:
    """Measure what was found with the loss itself, and write the result."""
    result = measured(trainer, objective, found.theta, found.status).result
    result.n_iter = found.steps
    result.lower_bound = min(max(found.lower_bound, 0.0), result.objective)
    result.history = found.history
    name = type(trainer).__name__
    logger.info(
        "%s: %s, loss %.6g, bound %.6g",
        *(name, result.status, result.objective, result.lower_bound),
    )
    return Trained(found.theta, result)


# The search for the best ternary map.


class TernarySearch:
    """Local search over maps, then the mixed-integer program with tangents where needed."""

    def __init__(self, objective: Objective, watch: Watch, tol: float) -> None:
        self._objective, self._watch, self._tol = objective, watch, tol
        self._clock = objective.run.clock
        self.whole = objective.load()
        n = objective.n_decisions
        self._shape = n, objective.maps().latent(n).dimension
        self._squared = objective.loss.norm == "l2"
        spread = float(np.nanvar(self.whole.decisions))
        self._zero = ZERO_LOSS * (spread if self._squared else np.sqrt(spread))
        self.best, self.value = np.zeros(objective.size), np.inf

    def run(self, random: np.random.Generator, max_iter: int | None, n_starts: int) -> Found:
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
                answer = program.model.solve(
                    start=self._start(program),
                    seconds=self._clock.left,
                    mip_rel_gap=self._tol / 2,
                )
                bound = max(bound, answer.bound)
                off = np.inf
                if answer.values is not None:
                    A = np.round(answer.values[program.plus] - answer.values[program.minus]) + 0.0
                    self._offer(A, answer.values[program.b])
                    off = self._cut(program, answer.values)
                if answer.outcome == "interrupted":
                    raise KeyboardInterrupt
                logger.debug("round %d: loss %.6g, bound %.6g", rounds, self.value, bound)
                stop = self._watch.stops(rounds, bound, self.value)
                if self.value - bound <= self._tol * self.value + self._zero:
                    return "optimal", bound, rounds
                bar.update(int(100 * bound / self.value), f"loss {self.value:.4g}")
                if stop:
                    return "stopped by callback", bound, rounds
                if answer.outcome == "optimal" and off <= SAME_TOL * max(self.value, self._zero):
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
            theta = np.concatenate([A.ravel(), self._best_offset(A, offset).ravel()])
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

    def _best_offset(self, A: Array, b: Array) -> Array:
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
                        if reached < value - ROUNDING:
                            A, value, improved = changed, reached, True
            if self.value <= self._zero:
                return
