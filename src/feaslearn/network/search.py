"""What is asked of a search for networks, and what it answers."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.integer_program import FloatArray, Outcome, Rows, dense_rows
from feaslearn.problem.candidate_lines import CandidateLines

Network = NDArray[np.bool_]


class Limits(NamedTuple):
    """Lines that are fixed (1 in, 0 out, -1 free), and the most lines a network may have."""

    fixed: NDArray[np.int8]
    most_lines: int | None = None

    def with_line(self, line: int, present: bool) -> Limits:
        """Fix one more line."""
        fixed = self.fixed.copy()
        fixed[line] = int(present)
        return self._replace(fixed=fixed)

    def rows(self) -> list[Rows]:
        """Return the limit on the number of lines as rows over the binaries."""
        if self.most_lines is None:
            return []
        return [dense_rows(-np.inf, float(self.most_lines), np.ones((1, len(self.fixed))))]


class Found(NamedTuple):
    """The best network found for a question; ``bound`` is one on the optimal value."""

    outcome: Outcome
    network: Network | None
    value: float
    bound: float


class LineSearch(Protocol):
    """Finds networks; each answer was measured exactly on all samples before it is given."""

    losses: NetworkLosses
    n_solves: int

    def cheapest(
        self, weights: FloatArray, most_loss: float, limits: Limits, clock: Clock
    ) -> Found:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        ...


class Search(LineSearch, Protocol):
    """Finds networks of any loss."""

    def least_loss(self, limits: Limits, clock: Clock) -> Found:
        """Return the network of least mean loss within the limits."""
        ...


class Clock:
    """Counts down the time a fit may take.

    Parameters
    ----------
    max_seconds : float or None
        The time; None for no limit.
    """

    def __init__(self, max_seconds: float | None) -> None:
        self._began = time.perf_counter()
        self._end = np.inf if max_seconds is None else self._began + max_seconds

    @property
    def seconds(self) -> float:
        """The time that has passed."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """The time that is left; zero when it is over."""
        return max(0.0, self._end - time.perf_counter())


def no_limits(candidates: CandidateLines) -> Limits:
    """Return the limits that the known lines set.

    Parameters
    ----------
    candidates : CandidateLines
        The lines there may be.

    Returns
    -------
    Limits
        Known lines fixed, all others free.
    """
    return Limits(np.where(candidates.known, 1, -1).astype(np.int8))
