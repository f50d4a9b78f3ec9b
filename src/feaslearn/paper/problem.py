r"""The training problem, equation (3), with what it is stated for and what solves it.

.. math:: \min_\theta \; \sum_{i=1}^N w_i \, \ell_\theta(x_i, s_i)

`Data` are observed signals and decisions with their costs. `Problem` is the class of regions, the
loss and the `Samples` :math:`(\phi(s_i), c_i, x_i, w_i)`. Every algorithm of this package takes a
`Problem` and returns a `Found`.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.losses.loss import Loss, Predictability, RowLosses
from feaslearn.paper.regions.maps import MapClass, Maps
from feaslearn.paper.truth import Truth
from feaslearn.tolerances import SAME_TOL

Status = Literal["optimal", "converged", "stalled", "iteration limit", "time limit", "interrupted"]


class Samples(NamedTuple):
    """What a loss reads: features (N, k) with the constant first, costs and decisions (N, n).

    Decisions are NaN where they were not observed; weights (N,) are positive and sum to one.
    Arrays are C-contiguous and of double precision, as kernels read them.
    """

    features: Array
    costs: Array
    decisions: Array
    weights: Array

    def rows(self, chosen: slice | Mask | Indices) -> Samples:
        """Return some of the samples, with their weights as they are."""
        return Samples(*(np.ascontiguousarray(each[chosen]) for each in self))


@dataclass(frozen=True)
class Data:
    """Signals (N, m), decisions (N, n) and the costs (N, n) that the decisions minimise.

    Parameters
    ----------
    signals, decisions, costs : array-like
        One row for each sample.
    cost_columns : sequence of int, default=()
        The signals that enter the cost.
    truth : Truth, default=None
        The problem that the decisions solve, where it is known; `evaluate` measures by it.

    Examples
    --------
    >>> from feaslearn.paper import Data
    >>> data = Data([[0.2], [0.8]], [[1, 0], [0, 1]], [[0.2, 0.8], [0.8, 0.2]], [0])
    >>> len(data), data[:1].decisions
    (2, array([[1., 0.]]))
    """

    signals: Array
    decisions: Array
    costs: Array
    cost_columns: tuple[int, ...] = ()
    truth: Truth | None = None

    def __init__(
        self,
        signals: ArrayLike,
        decisions: ArrayLike,
        costs: ArrayLike,
        cost_columns: ArrayLike = (),
        truth: Truth | None = None,
    ) -> None:
        set_it = object.__setattr__
        for name, values in (("signals", signals), ("decisions", decisions), ("costs", costs)):
            table = np.require(values, dtype=float, requirements=["C", "W"])
            if table.ndim != 2 or not (np.isfinite(table).all() or name == "decisions"):
                raise DataError(f"Data: {name} is not a table of finite numbers")
            set_it(self, name, table)
        if not len(self.signals) == len(self.decisions) == len(self.costs):
            raise DataError("Data: signals, decisions and costs need one row for each sample")
        if self.costs.shape != self.decisions.shape or np.isinf(self.decisions).any():
            raise DataError("Data: each decision needs a cost, and values that are not infinite")
        set_it(self, "cost_columns", tuple(int(j) for j in np.ravel(np.asarray(cost_columns))))
        set_it(self, "truth", truth)

    def __len__(self) -> int:
        return len(self.signals)

    def __getitem__(self, rows: slice | Mask | Indices) -> Data:
        tables = (self.signals[rows], self.decisions[rows], self.costs[rows])
        return Data(*tables, self.cost_columns, self.truth)


@dataclass(frozen=True)
class Problem:
    """The training problem of a class of regions.

    Parameters
    ----------
    region : MapClass
        The class: `Affine`, `Scaled` or `Ternary` images of a set.
    loss : Loss
        The loss of a sample.
    samples : Samples
        The samples.
    columns : tuple of int, default=None
        Which signals the features are, where the problem was stated by `of`.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> costs = np.array([[0.2, 0.8], [0.8, 0.2]])
    >>> data = paper.Data([[0.2], [0.8]], [[1, 0], [0, 1]], costs, [0])
    >>> problem = paper.Problem.of(paper.Affine(Simplex(2)), data)
    >>> problem.value(np.eye(2).ravel())
    0.0
    """

    region: MapClass
    loss: Loss
    samples: Samples
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.region.check(self.n_decisions)

    @classmethod
    def of(
        cls,
        region: MapClass,
        data: Data,
        loss: Loss | None = None,
        *,
        features: Literal["non-cost", "all"] = "non-cost",
        weights: ArrayLike | None = None,
    ) -> Problem:
        """State the problem of some data.

        Parameters
        ----------
        region : MapClass
            The class of regions.
        data : Data
            The samples.
        loss : Loss, default=None
            By default squared predictability.
        features : {"non-cost", "all"}, default="non-cost"
            Which signals the region depends on. The paper takes all of them, with which the
            loss has a vacuous optimum: columns ``A_k(s) = R M_k c`` with skew ``M_k`` cost
            nothing at any price, so that every decision of the region is optimal.
        weights : array-like of shape (N,), default=None
            Positive weights of the samples, by default equal.

        Returns
        -------
        Problem
            The problem, with weights that sum to one.
        """
        if features not in ("non-cost", "all"):
            raise DataError(f"features={features!r} is not known; use 'non-cost' or 'all'")
        left_out = data.cost_columns if features == "non-cost" else ()
        columns = tuple(j for j in range(data.signals.shape[1]) if j not in left_out)
        w = np.ones(len(data)) if weights is None else np.asarray(weights, dtype=float)
        if w.shape != (len(data),) or not (np.isfinite(w) & (w > 0.0)).all():
            raise DataError("weights must be one positive number for each sample")
        phi = features_of(data.signals, columns)
        samples = Samples(phi, data.costs, data.decisions, w / w.sum())
        return cls(region, loss or Predictability(), samples, columns)

    @property
    def n_samples(self) -> int:
        """Number of samples N."""
        return len(self.samples.weights)

    @property
    def n_decisions(self) -> int:
        """Number of decisions n."""
        return int(self.samples.decisions.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features k, the constant included."""
        return int(self.samples.features.shape[1])

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.region.layout(self.n_decisions, self.n_features).size

    def maps(self, theta: Array) -> Maps:
        """Return the maps A and b that theta stands for."""
        return self.region.maps(theta, self.n_decisions, self.n_features)

    def with_samples(self, samples: Samples) -> Problem:
        """Return the same problem for other samples."""
        return replace(self, samples=samples)

    def rows(self, theta: Array) -> RowLosses:
        """Return the loss of every sample, with the gradient of the weighted sum in the maps."""
        return self.loss.rows(self.region.Z, self.maps(theta), self.samples)

    def value(self, theta: Array) -> float:
        """Return the objective."""
        return float(self.samples.weights @ self.rows(theta).values)

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Return the objective and its gradient in theta."""
        found = self.rows(theta)
        value = float(self.samples.weights @ found.values)
        return value, self.region.pull_back(found.gradient)

    def decisions(self, theta: Array) -> Array:
        """Return the decisions that the region returns for the samples, (N, n)."""
        return self.region.decisions(theta, self.samples.features, self.samples.costs)

    def returned_loss(self, theta: Array) -> float:
        """Return how far the returned decisions are from those observed; ties are no help here."""
        residuals = np.nan_to_num(self.decisions(theta) - self.samples.decisions)
        return float(self.samples.weights @ self.loss.lengths(residuals))

    def compared(self, objective: float, returned: float) -> float:
        """Return what candidates for the solution are compared by, given both of their losses.

        For predictability that is the loss of the returned decisions, since the objective rewards
        ties.
        """
        return returned if isinstance(self.loss, Predictability) else objective

    def measured_by(self, theta: Array) -> float:
        """Return what candidates for the solution are compared by."""
        if isinstance(self.loss, Predictability):
            return self.returned_loss(theta)
        return self.value(theta)

    def tied_share(self, theta: Array) -> float:
        """Return the weighted share of samples for which several decisions are optimal."""
        features, costs, _, weights = self.samples
        first, tied = self.region.decisions_and_ties(theta, features, costs)
        rows = np.flatnonzero(tied)
        center = self.region.decisions(theta, features[rows], costs[rows], ties="center")
        apart = np.abs(first[rows] - center) > SAME_TOL * np.maximum(
            np.abs(first[rows]), np.abs(center)
        )
        return float(weights[rows] @ apart.any(axis=1))


def features_of(signals: Array, columns: tuple[int, ...]) -> Array:
    """Return the features ``(1, s_j, ...)`` of some signals, (N, k)."""
    return np.column_stack([np.ones(len(signals)), signals[:, columns]])


@dataclass
class Found:
    """What an algorithm found: parameters, their objective, and how the search ended.

    ``lower_bound`` is a proved bound of the objective where there is one, ``history`` one record
    for each iterate of the best start, its ``theta`` among them, and ``details`` what an algorithm
    has to say beyond.
    """

    problem: Problem
    theta: Array
    objective: float
    status: Status
    lower_bound: float | None = None
    n_iter: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def maps(self) -> Maps:
        """Return the learned maps A and b."""
        return self.problem.maps(self.theta)

    def features(self, data: Data) -> Array:
        """Return the features of other data."""
        if self.problem.columns is None:
            raise DataError("the problem was stated without data: give features, not signals")
        return features_of(data.signals, self.problem.columns)

    def decide(self, features: Array, costs: Array) -> Array:
        """Return for each row the decision of least cost in the learned region, (N, n)."""
        return self.problem.region.decisions(self.theta, features, costs)

    def predict(self, data: Data) -> Array:
        """Return the decision of least cost for each sample of other data, (N, n)."""
        return self.decide(self.features(data), data.costs)


class OutOfTime(Exception):
    """The time is up in the midst of work that is of no use unless it is whole."""


class Clock:
    """The deadline of a search; within its block, the first Ctrl-C is the deadline as well.

    Parameters
    ----------
    max_seconds : float, default=None
        Limit on the wall time, from now on.
    within : Clock, default=None
        The clock of a larger search, which ends this one too.

    Examples
    --------
    >>> from feaslearn.paper.problem import Clock
    >>> with Clock(60.0) as clock:
    ...     clock.late()
    False
    """

    def __init__(self, max_seconds: float | None = None, within: Clock | None = None) -> None:
        if max_seconds is not None and not max_seconds > 0.0:
            raise DataError(f"max_seconds is {max_seconds!r}; it must be positive, or None")
        self._began, self._within, self._pressed = time.monotonic(), within, False
        self._end = math.inf if max_seconds is None else self._began + float(max_seconds)
        self._handler: Callable[..., object] | None = None

    def __enter__(self) -> Clock:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._handler = signal.default_int_handler
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def _press(self, *_: object) -> None:
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True

    @property
    def seconds(self) -> float:
        """Seconds gone by."""
        return time.monotonic() - self._began

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the search."""
        return self._pressed or (self._within is not None and self._within.interrupted)

    @property
    def left(self) -> float:
        """Seconds left, at least zero; infinite without a limit."""
        outer = math.inf if self._within is None else self._within.left
        own = 0.0 if self._pressed else max(0.0, self._end - time.monotonic())
        return min(own, outer)

    def late(self) -> bool:
        """Return whether the time is up."""
        return self.left <= 0.0

    def check(self) -> None:
        """Raise `OutOfTime` if the time is up."""
        if self.late():
            raise OutOfTime

    @property
    def status(self) -> Status:
        """How a search ended whose time is up."""
        return "interrupted" if self.interrupted else "time limit"
