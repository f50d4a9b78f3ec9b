"""Searches for networks: their program, limits and results, and full enumeration."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.network.enumerated_network import all_networks, equality_tolerance
from feaslearn.network.losses import NetworkLosses
from feaslearn.runs import Clock
from feaslearn.solvers.mip import Incumbent, MixedIntegerProgram, Outcome, Rows
from feaslearn.tolerances import CAPACITY_TOL, HIGHS_TOL

FloatArray = NDArray[np.float64]
Network = NDArray[np.bool_]

#: Losses between two looks at the clock.
LOSSES_AT_ONCE = 2**17


class NetworkProgram(MixedIntegerProgram):
    """A program whose first variables are binary: the lines, and what else is chosen."""

    def __init__(self, n_binary: int) -> None:
        super().__init__("network")
        self.n_binary = n_binary
        self.columns(n_binary, lower=0.0, upper=1.0, integer=True)

    def best(
        self,
        cost: FloatArray,
        fixed: NDArray[np.int8],
        extra: list[Rows],
        seconds: float,
        start: Network | None = None,
    ) -> Incumbent:
        """Solve with some binaries fixed (-1 is free) and rows that hold this time only."""
        known = np.flatnonzero(fixed >= 0)
        return self.solve(
            cost,
            seconds=seconds,
            start=None if start is None else dict(enumerate(start.astype(float).tolist())),
            fixed=dict(zip(known.tolist(), fixed[known].astype(float).tolist(), strict=True)),
            extra=extra,
            feasible=False,
            mip_rel_gap=0.0,
            mip_abs_gap=HIGHS_TOL,
            dual_feasibility_tolerance=HIGHS_TOL,
        )


def dense_row(factors: FloatArray, lower: float = -np.inf, upper: float = np.inf) -> Rows:
    """Return one row over the first variables."""
    rows = Rows()
    rows.matrix_rows(factors[None], lower, upper)
    return rows


def all_but(chosen: Network) -> Rows:
    """Return the row that excludes one choice of the first binaries."""
    return dense_row(np.where(chosen, -1.0, 1.0), lower=1.0 - float(chosen.sum()))


class Limits(NamedTuple):
    """What a network must keep.

    Lines may be fixed (1 in, 0 out, -1 free), their number limited, and a weighted number as well:
    ``weighted = (weights, most)`` asks for ``weights @ y <= most``.
    """

    fixed: NDArray[np.int8]
    most_lines: int | None = None
    weighted: tuple[FloatArray, float] | None = None

    def rows(self) -> list[Rows]:
        """Return the limits on numbers of lines as rows over the binaries."""
        rows = []
        if self.most_lines is not None:
            rows.append(dense_row(np.ones(len(self.fixed)), upper=self.most_lines))
        if self.weighted is not None:
            weights, most = self.weighted
            rows.append(dense_row(weights, upper=most))
        return rows

    def keep(self, networks: Networks) -> NDArray[np.bool_]:
        """Say which networks are within the limits."""
        fixed = self.fixed >= 0
        kept = (networks[:, fixed] == (self.fixed[fixed] == 1)).all(axis=1)
        if self.most_lines is not None:
            kept &= networks.sum(axis=1) <= self.most_lines
        if self.weighted is not None:
            weights, most = self.weighted
            kept &= networks @ weights <= most + CAPACITY_TOL
        return np.asarray(kept)


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


def no_limits(candidates: CandidateLines) -> Limits:
    """Return the limits that the known lines set."""
    return Limits(np.where(candidates.known, 1, -1).astype(np.int8))


# Search by looking at every network.


class EnumerationSearch:
    """All networks with the loss of every sample; each question is a look at the table."""

    def __init__(self, losses: NetworkLosses, clock: Clock | None = None) -> None:
        self.losses = losses
        self.n_solves = 1
        clock = Clock() if clock is None else clock
        networks = all_networks(losses.candidates)
        tables: list[FloatArray] = []
        step = max(1, LOSSES_AT_ONCE // losses.n_samples)
        for start in range(0, len(networks), step):
            if clock.out():
                break
            tables.append(losses.of(networks[start : start + step]))
        self.table = np.vstack(tables) if tables else np.empty((0, losses.n_samples))
        self.networks = networks[: len(self.table)]
        self.complete = len(self.networks) == len(networks)
        self.means = self.table.mean(axis=1)
        self.tolerance = equality_tolerance(losses)

    def least_loss(self, limits: Limits, clock: Clock) -> Found:
        """Return the network of least mean loss within the limits."""
        values = np.where(limits.keep(self.networks), self.means, np.inf)
        return self._best(values)

    def cheapest(
        self, weights: FloatArray, most_loss: float, limits: Limits, clock: Clock
    ) -> Found:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        allowed = limits.keep(self.networks) & (self.means <= most_loss + self.tolerance)
        return self._best(np.where(allowed, self.networks @ weights, np.inf))

    def _best(self, values: FloatArray) -> Found:
        """Return the network of least value; of networks that were left out, nothing is known."""
        outcome: Outcome = "optimal" if self.complete else "time limit"
        least = float(np.min(values, initial=np.inf))
        if least == np.inf:
            bound = np.inf if self.complete else -np.inf
            return Found("infeasible" if self.complete else outcome, None, np.inf, bound)
        best = self.networks[int(np.argmin(values))]
        return Found(outcome, best, least, least if self.complete else -np.inf)
