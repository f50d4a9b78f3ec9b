"""The least loss with a given number of lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.network.integer_program import FloatArray
from feaslearn.network.search import Limits, Search
from feaslearn.problem.candidate_lines import Networks
from feaslearn.runs import Clock


class LineCurve(NamedTuple):
    """The least mean loss with at most so many lines; infinite where too few serve the demand.

    ``bounds`` are proved lower bounds on ``losses``; the two agree where time sufficed.
    """

    n_lines: NDArray[np.int64]
    losses: FloatArray
    bounds: FloatArray
    networks: Networks

    def elbow(self, share: float = 0.05) -> int:
        """Return the fewest lines that lose at most a share of what lines can gain.

        Parameters
        ----------
        share : float
            The share of the range of finite losses.

        Returns
        -------
        int
            A number of lines.
        """
        finite = np.isfinite(self.losses)
        low, high = self.losses[finite].min(), self.losses[finite].max()
        enough = self.losses <= low + share * (high - low) + 1e-12
        return int(self.n_lines[np.argmax(enough)])


def line_curve(search: Search, limits: Limits, clock: Clock) -> LineCurve:
    """Find the least loss with at most k lines, from the most lines to the fewest.

    Parameters
    ----------
    search : Search
        Finds networks.
    limits : Limits
        What a network must keep.
    clock : Clock
        The time there is.

    Returns
    -------
    LineCurve
        One point for each number of lines from that of the known ones to that of the candidates.
    """
    fewest, most = int((limits.fixed == 1).sum()), len(limits.fixed)
    counts = np.arange(fewest, most + 1)
    losses, bounds = np.full(len(counts), np.inf), np.zeros(len(counts))
    networks = np.zeros((len(counts), most), dtype=bool)
    allowed = most
    while allowed >= fewest:
        found = search.least_loss(limits._replace(most_lines=allowed), clock)
        if found.network is None:
            if found.outcome == "infeasible":
                bounds[: allowed - fewest + 1] = np.inf
            break
        # The same network serves every number of lines down to its own.
        used = int(found.network.sum())
        served = slice(used - fewest, allowed - fewest + 1)
        losses[served], bounds[served] = found.value, found.bound
        networks[served] = found.network
        allowed = used - 1
    return LineCurve(counts, losses, np.maximum.accumulate(bounds[::-1])[::-1], networks)
