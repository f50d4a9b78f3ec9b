"""What is asked of a search for networks, and what it answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.integer_program import FloatArray, Outcome, Rows, dense_rows
from feaslearn.problem.candidate_lines import CandidateLines, Networks
from feaslearn.runs import Clock

Network = NDArray[np.bool_]


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
            rows.append(dense_rows(-np.inf, float(self.most_lines), np.ones((1, len(self.fixed)))))
        if self.weighted is not None:
            weights, most = self.weighted
            rows.append(dense_rows(-np.inf, most, weights[None]))
        return rows

    def keep(self, networks: Networks) -> NDArray[np.bool_]:
        """Say which networks are within the limits."""
        fixed = self.fixed >= 0
        kept = (networks[:, fixed] == (self.fixed[fixed] == 1)).all(axis=1)
        if self.most_lines is not None:
            kept &= networks.sum(axis=1) <= self.most_lines
        if self.weighted is not None:
            weights, most = self.weighted
            kept &= networks @ weights <= most + 1e-9
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
