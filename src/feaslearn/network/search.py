"""Searches for networks: their program, limits and results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Mask
from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.solvers.mip import Incumbent, MixedIntegerProgram, Outcome, Rows
from feaslearn.tolerances import CAPACITY_TOL, HIGHS_TOL

Network = Mask


class NetworkProgram(MixedIntegerProgram):
    """A program whose first variables are binary: the lines, then other choices."""

    def __init__(self, n_binary: int) -> None:
        super().__init__("network")
        self.n_binary = n_binary
        self.columns(n_binary, lower=0.0, upper=1.0, integer=True)

    def best(
        self,
        cost: Array,
        fixed: NDArray[np.int8],
        extra: list[Rows],
        seconds: float,
    ) -> Incumbent:
        """Solve with some binaries fixed (-1 is free) and rows that hold this time only."""
        known = np.flatnonzero(fixed >= 0)
        return self.solve(
            cost,
            seconds=seconds,
            fixed=dict(zip(known.tolist(), fixed[known].astype(float).tolist(), strict=True)),
            extra=extra,
            feasible=False,
            mip_rel_gap=0.0,
            mip_abs_gap=HIGHS_TOL,
            dual_feasibility_tolerance=HIGHS_TOL,
        )


def dense_row(factors: Array, lower: float = -np.inf, upper: float = np.inf) -> Rows:
    """Return one row over the first variables."""
    rows = Rows()
    rows.matrix_rows(factors[None], lower, upper)
    return rows


def excluding(chosen: Network) -> Rows:
    """Return the row that excludes one choice of the first binaries."""
    return dense_row(np.where(chosen, -1.0, 1.0), lower=1.0 - float(chosen.sum()))


class Limits(NamedTuple):
    """Lines fixed (1 in, 0 out, -1 free), at most so many, and ``weights @ y <= most``."""

    fixed: NDArray[np.int8]
    most_lines: int | None = None
    weighted: tuple[Array, float] | None = None

    def rows(self) -> list[Rows]:
        """Return the limits on numbers of lines as rows over the binaries."""
        rows = []
        if self.most_lines is not None:
            rows.append(dense_row(np.ones(len(self.fixed)), upper=self.most_lines))
        if self.weighted is not None:
            weights, most = self.weighted
            rows.append(dense_row(weights, upper=most))
        return rows

    def keep(self, networks: Networks) -> Mask:
        """Return which networks are within the limits."""
        fixed = self.fixed >= 0
        kept = (networks[:, fixed] == (self.fixed[fixed] == 1)).all(axis=1)
        if self.most_lines is not None:
            kept &= networks.sum(axis=1) <= self.most_lines
        if self.weighted is not None:
            weights, most = self.weighted
            kept &= networks @ weights <= most + CAPACITY_TOL
        return np.asarray(kept)


class SearchResult(NamedTuple):
    """The incumbent of a search, its value and a bound on the optimal one."""

    outcome: Outcome
    network: Network | None
    value: float
    bound: float


def no_limits(candidates: CandidateLines) -> Limits:
    """Return the limits that the known lines set."""
    return Limits(np.where(candidates.known, 1, -1).astype(np.int8))
