"""The one loop of all iterative trainers."""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import Problems, SolverError
from feaslearn.losses import Objective, Predictability
from feaslearn.parameters import FUNCTION, Constraints, Either, Integer, Number
from feaslearn.results import ENDS_ALL, Status
from feaslearn.runs import OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers.out_of_fold import subsample
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import GivenStart, LinearStart, Start
from feaslearn.trainers.trainer import Trained, Trainer

logger = logging.getLogger("feaslearn")


class IterativeTrainer(Trainer):
    """A trainer that iterates from starts: subclasses say how to begin and how to take one step.

    The iterate that is kept is the best over all starts. With predictability, that is the one
    whose *returned* decisions fit the training rows best: minimisers may tie, and the objective
    alone would reward that. With other losses it is the one with the least training loss.
    """

    max_iter: int
    tol: float
    n_starts: int
    start: Start | ArrayLike | None
    callback: Callback | None

    def init(self, objective: Objective, theta: Array) -> Iterate:
        """Return the first iterate; here, with the exact loss and its gradient."""
        return Iterate(theta, *objective.value_and_gradient(theta))

    @abstractmethod
    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        """Return the next iterate; its ``finished`` says whether it is the last."""

    chunks = "sums"

    parameter_constraints: ClassVar[Constraints] = {
        "max_iter": Integer(0),
        "n_starts": Integer(1),
        "tol": Number(0.0),
        "callback": Either(None, FUNCTION),
    }

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with parameters, also those of the start."""
        super().check(problems)
        self._strategy().check(problems)

    def _strategy(self) -> Start:
        """Return where searches begin: by default around the linear policy."""
        if self.start is None:
            return LinearStart()
        return self.start if isinstance(self.start, Start) else GivenStart(self.start)

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Run every start, and keep the best iterate of all."""
        objective = objective.limited(self.max_seconds)
        standardization = Standardization.of(objective)
        seeds = random.integers(2**63, size=self.n_starts)
        thetas = [
            self._begin(objective, standardization, np.random.default_rng(seed), index)
            for index, seed in enumerate(seeds)
        ]
        standard = standardization.apply(objective)
        with ProgressBar(type(self).__name__, self.n_starts * self.max_iter) as bar:
            starts = self._multistart(standard, thetas, bar)
        best = best_start(starts)
        if best is None or best.theta is None:
            raise SolverError("no start has a finite loss: take a smaller step or another start")
        status = next((start.status for start in starts if start.status in ENDS_ALL), best.status)
        theta = standardization.revert(objective, best.theta)
        steps, seconds = sum(start.steps for start in starts), objective.run.clock.seconds
        result = self.result_of(objective, theta, status, n_iter=steps, seconds=seconds)
        result.history = best.history
        return Trained(theta, result)

    def _begin(
        self, objective: Objective, into: Standardization, random: np.random.Generator, index: int
    ) -> Array:
        """Return the parameters of one start, for standardised features."""
        strategy = self._strategy()
        # Of many, a part of the samples, the same for all starts, says where to begin.
        objective = subsample(objective, np.random.default_rng(0))
        if strategy.standardized:
            return strategy.parameters(into.apply(objective), random, index)
        return into.convert(objective, strategy.parameters(objective, random, index))

    def _multistart(
        self, objective: Objective, thetas: list[Array], bar: ProgressBar
    ) -> list[StartRun]:
        """Run every start until something ends it, on several threads where that is allowed."""
        # A callback is the user's own code, so with one the starts are run one after the other.
        starts = [StartRun() for _ in thetas]
        over, lock = threading.Event(), threading.Lock()

        def show() -> float:
            with lock:
                least = min(start.loss for start in starts)
                bar.update(sum(start.steps for start in starts), f"loss {least:.4g}")
            return least

        def one(objective: Objective, index: int) -> StartRun:
            start = starts[index]
            self._run(objective, thetas[index], start, over, show)
            logger.info(
                "%s: start %d of %d: %s, loss %.6g, best so far %.6g",
                *(type(self).__name__, index + 1, self.n_starts, start.status, start.loss, show()),
            )
            return start

        threads = min(objective.n_jobs, len(thetas))
        try:
            if threads == 1 or self.callback is not None:
                for index in range(len(thetas)):
                    start = one(objective, index)
                    if start.status in ENDS_ALL or start.exact:
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
            objective.run.clock.interrupt()
            starts[0].status = "interrupted"
        return starts

    def _run(
        self,
        objective: Objective,
        theta: Array,
        start: StartRun,
        over: threading.Event,
        show: Callable[[], object],
    ) -> None:
        """Iterate from one start until something ends it, and record what did."""
        try:
            iterate = self.init(objective, theta)
        except OutOfTime:
            iterate = Iterate(theta, objective.value(theta), np.zeros(len(theta)))
        for i in range(self.max_iter + 1):
            self._offer(objective, iterate, start)
            show()
            logger.debug("%s: iteration %d, loss %.6g", type(self).__name__, i, iterate.value)
            ended = self._ended(objective, i, iterate, over)
            if ended is not None:
                start.status, start.exact = ended, iterate.exact
                break
            if i < self.max_iter:
                try:
                    iterate = self.step(objective, iterate)
                except OutOfTime:
                    start.status = objective.run.ended()
                    break
                start.steps += iterate.steps

    def _ended(
        self, objective: Objective, i: int, iterate: Iterate, over: threading.Event
    ) -> Status | None:
        """Say what ends a start at this iterate, if anything does."""
        if self.callback is not None and self.callback(i, iterate):
            return "stopped by callback"
        if objective.run.late():
            return objective.run.ended()
        if over.is_set():
            return "interrupted"
        return iterate.finished

    def _offer(self, objective: Objective, iterate: Iterate, start: StartRun) -> None:
        """Record an iterate in its start, which keeps it if it is the best."""
        returned = returned_loss(objective, iterate.theta)
        record = {"objective": iterate.loss, "returned_loss": returned} | iterate.record
        for name, value in record.items():
            start.history.setdefault(name, []).append(value)
        loss = returned if isinstance(objective.loss, Predictability) else iterate.loss
        if loss + iterate.penalty < start.loss:
            start.theta, start.loss = iterate.theta.copy(), loss + iterate.penalty


# One start: its iterates, what is recorded of them, and the best of them.


@dataclass
class Iterate:
    """Where a search stands: parameters, objective, gradient, and what the method remembers.

    Parameters
    ----------
    theta : ndarray
        Parameters, for standardised features.
    value : float
        What the method descends on: the training loss, or a smooth one in its place.
    gradient : ndarray
        Its gradient.
    memory : dict of str to float, optional
        What the method takes from one step to the next.
    finished : str, optional
        None until the method itself ends the start, then how it ended.
    training_loss : float, optional
        The training loss, where ``value`` is another one.
    record : dict of str to float, optional
        Further quantities for the history.
    penalty : float, default=0.0
        What is added to the training loss where iterates are compared.
    steps : int, default=1
        How many iterations led here from the last iterate.
    exact : bool, default=False
        Whether every sample is explained, so that no other start need be tried.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.trainers import Iterate
    >>> Iterate(np.zeros(1), 0.5, np.ones(1)).finished is None
    True
    """

    theta: Array
    value: float
    gradient: Array
    memory: dict[str, float] = field(default_factory=dict)
    finished: Status | None = None
    training_loss: float | None = None
    record: dict[str, float] = field(default_factory=dict)
    penalty: float = 0.0
    steps: int = 1
    exact: bool = False

    @property
    def loss(self) -> float:
        """The training loss."""
        return self.value if self.training_loss is None else self.training_loss


Callback = Callable[[int, Iterate], bool | None]


@dataclass(eq=False)
class StartRun:
    """What happened from one start, and the iterate of least loss."""

    history: dict[str, list[float]] = field(default_factory=dict)
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
