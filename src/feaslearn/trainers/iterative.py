"""The one loop of all iterative trainers."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import Problems
from feaslearn.losses import Objective, Predictability
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers.linear_start import linear_start
from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.trainer import Trained, Trainer, returned_loss, tied_share

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

#: How a whole search ends; any other status ends one walk.
ENDS_ALL: tuple[Status, ...] = ("time limit", "stopped by callback", "interrupted")


@dataclass
class Iterate:
    """Where a search stands: parameters, objective, gradient, and what the method remembers.

    Parameters
    ----------
    theta : ndarray
        Parameters, for standardised features.
    value : float
        Objective.
    gradient : ndarray
        Its gradient.
    memory : dict of str to float, optional
        What the method takes from one step to the next.
    finished : str, optional
        None until the method itself ends the walk, then how it ended.

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


Callback = Callable[[int, Iterate], bool | None]


class IterativeTrainer(Trainer):
    """A trainer that walks from a start; subclasses say how to take one step.

    The iterate that is kept is the best over all starts. With predictability, that is the one
    whose *returned* decisions fit the training rows best: minimisers may tie, and the objective
    alone would reward that. With other losses it is the one with the least objective.
    """

    max_iter: int
    max_seconds: float | None
    tol: float
    n_starts: int
    callback: Callback | None
    noise: float

    @abstractmethod
    def step(self, objective: Objective, iterate: Iterate) -> Iterate:
        """Return the next iterate."""

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the limits, the starts or the callback."""
        for name, least in (("max_iter", 0), ("n_starts", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                problems.add(f"{name}={value!r} is not a whole number of at least {least}")
        for name in ("max_seconds", "tol", "noise"):
            value = getattr(self, name)
            if value is None and name == "max_seconds":
                continue
            if not isinstance(value, Real) or not float(value) >= 0.0:
                problems.add(f"{name}={value!r} is not a number of at least 0")
        if self.callback is not None and not callable(self.callback):
            problems.add(f"callback={self.callback!r} is not a function")

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Walk from every start, and keep the best iterate of all."""
        began = time.monotonic()
        standardization = Standardization.of(objective)
        scaled = standardization.apply(objective)
        best = _Best()
        status: Status = "iteration limit"
        with ProgressBar(type(self).__name__, self.n_starts * self.max_iter) as bar:
            try:
                for start in range(self.n_starts):
                    theta = linear_start(scaled, random, self.noise if start else self.noise / 10)
                    show = partial(_show, bar, start * self.max_iter)
                    status = self._walk(scaled, theta, best, began, show)
                    logger.info(
                        "%s: start %d of %d: %s, loss %.6g, best so far %.6g",
                        *(type(self).__name__, start + 1, self.n_starts, status),
                        *(best.latest.objective[-1], best.loss),
                    )
                    if status in ENDS_ALL:
                        break
            except KeyboardInterrupt:
                if best.theta is None:
                    raise
                status = "interrupted"
        if best.theta is None:
            raise AssertionError("a search without a start")
        best.walk.status = status if status in ENDS_ALL else best.walk.status
        theta = standardization.revert(objective, best.theta)
        return Trained(theta, self._result(objective, theta, best, time.monotonic() - began))

    def _walk(
        self,
        objective: Objective,
        theta: Array,
        best: _Best,
        began: float,
        show: Callable[[int, str], None],
    ) -> Status:
        """Walk from one start until something ends it; say what did."""
        iterate = Iterate(theta, *objective.value_and_gradient(theta))
        best.latest = walk = _Walk()
        for i in range(self.max_iter + 1):
            best.offer(objective, iterate)
            show(i, f"loss {best.loss:.4g}")
            logger.debug("%s: iteration %d, loss %.6g", type(self).__name__, i, iterate.value)
            if self.callback is not None and self.callback(i, iterate):
                walk.status = "stopped by callback"
            elif self.max_seconds is not None and time.monotonic() - began > self.max_seconds:
                walk.status = "time limit"
            elif iterate.finished is not None:
                walk.status = iterate.finished
            elif i < self.max_iter:
                iterate = self.step(objective, iterate)
                best.steps += 1
                continue
            break
        return walk.status

    def _result(
        self, objective: Objective, theta: Array, best: _Best, seconds: float
    ) -> TrainingResult:
        value = objective.value_and_gradient(theta)[0]
        status = best.walk.status
        if value == 0.0 and status not in ENDS_ALL:
            status = "optimal"  # no loss is below zero
        return TrainingResult(
            status=status,
            trainer=repr(self),
            objective=value,
            returned_loss=returned_loss(objective, theta),
            n_iter=best.steps,
            seconds=seconds,
            lower_bound=0.0 if value == 0.0 else None,
            tied_share=tied_share(objective, theta),
            history={"objective": best.walk.objective, "returned_loss": best.walk.returned},
        )


def _show(bar: ProgressBar, before: int, i: int, note: str) -> None:
    bar.update(before + i, note)


@dataclass
class _Walk:
    """What happened from one start: two losses of each iterate, and how it ended."""

    objective: list[float] = field(default_factory=list)
    returned: list[float] = field(default_factory=list)
    status: Status = "iteration limit"


@dataclass
class _Best:
    """The best iterate so far, the walk that led to it, and the walk that goes on."""

    theta: Array | None = None
    loss: float = np.inf
    steps: int = 0
    walk: _Walk = field(default_factory=_Walk)
    latest: _Walk = field(default_factory=_Walk)

    def offer(self, objective: Objective, iterate: Iterate) -> None:
        """Write an iterate into the latest walk, and keep it if it is the best."""
        returned = returned_loss(objective, iterate.theta)
        self.latest.objective.append(iterate.value)
        self.latest.returned.append(returned)
        loss = returned if isinstance(objective.loss, Predictability) else iterate.value
        if loss < self.loss:
            self.theta, self.loss, self.walk = iterate.theta.copy(), loss, self.latest
