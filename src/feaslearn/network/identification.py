"""What the data say about each line, over all networks that fit equally well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from feaslearn.baselines.enumerated_network import all_networks
from feaslearn.network.search import Limits, LineSearch, Network
from feaslearn.problem.candidate_lines import CandidateLines, Line, Networks
from feaslearn.runs import Clock

#: Seconds to look for a network that differs as much as possible from those that were seen.
PATIENCE = 10.0
#: Seconds in which the most networks that are counted can be tried; they get half of a time limit.
COUNTED_IN = 120.0


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Which lines are in all, in none or in some of the best networks.

    Parameters
    ----------
    certain, impossible, undetermined : list of pairs
        The lines that every best network has, that none has, and that some have.
    unknown : list of pairs
        Lines that the time did not suffice for.
    n_networks : tuple of (int, int)
        At least and at most so many networks are equally good.
    networks : ndarray of bool, shape (R, L)
        Best networks that are known: all of them where the two numbers agree.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(n_samples=50, random_state=0, line_capacity=1.5)
    >>> plants = {"generators": [1, 3, 5], "generator_capacity": 3.5, "line_capacity": 1.5}
    >>> learner = fl.NetworkLearner(5, **plants, cost=[0, 1, 2], demand=range(3, 8))
    >>> learner.fit(data.signals, data.decisions).identify().certain
    [(1, 2), (2, 3), (4, 5)]
    """

    certain: list[Line]
    impossible: list[Line]
    undetermined: list[Line]
    unknown: list[Line]
    n_networks: tuple[int, int]
    networks: Networks

    @property
    def by_size(self) -> dict[int, int]:
        """How many of ``networks`` have each number of lines."""
        sizes, counts = np.unique(self.networks.sum(axis=1), return_counts=True)
        return dict(zip(sizes.tolist(), counts.tolist(), strict=True))

    @property
    def is_exact(self) -> bool:
        """Whether all best networks are known."""
        return self.n_networks[0] == self.n_networks[1]

    def __repr__(self) -> str:
        low, high = self.n_networks
        shown = [
            ("certain", _told(self.certain)),
            ("undetermined", _told(self.undetermined)),
            ("impossible", _told(self.impossible)),
            ("equivalent networks", str(low) if low == high else f"between {low} and {high:.6g}"),
        ]
        if self.unknown:
            shown.insert(3, ("not settled in time", _told(self.unknown)))
        return "\n".join(f"{label:<20} {text}" for label, text in shown)


def identify(
    search: LineSearch,
    candidates: CandidateLines,
    network: Network,
    loss: float,
    limits: Limits,
    explains: Callable[[Networks], NDArray[np.bool_]],
    most_counted: float,
    clock: Clock,
) -> Identification:
    """Find out which lines the best networks share.

    Each question asks for the best network that differs most from what all networks seen so far
    have in common. When none differs, what they have in common is certain or impossible.

    Parameters
    ----------
    search : LineSearch
        Finds networks.
    candidates : CandidateLines
        The lines there may be.
    network : ndarray of bool
        One best network.
    loss : float
        Its loss.
    limits : Limits
        What a network must keep to count.
    explains : callable
        Says which networks have no more than that loss.
    most_counted : float
        How many networks may be tried one by one, to count them; in less time, fewer.
    clock : Clock
        The time there is.

    Returns
    -------
    Identification
        The classes of the lines and the number of networks.
    """
    seen = network[None]
    while True:
        weights = np.where(seen.all(axis=0), 1.0, np.where(seen.any(axis=0), 0.0, -1.0))
        weights[limits.fixed >= 0] = 0.0
        other = limits._replace(weighted=(weights, float(weights @ network) - 1.0))
        found = search.cheapest(weights, loss, other, clock.part(PATIENCE))
        if found.outcome == "time limit" and found.network is None:
            # To differ most is more than is needed: any difference will do.
            found = search.cheapest(0.0 * weights, loss, other, clock)
        if found.network is None:
            break
        seen = np.vstack([seen, found.network])
    always, never = np.asarray(seen.all(axis=0)), np.asarray(~seen.any(axis=0))
    varies = ~always & ~never
    settled = found.outcome == "infeasible"
    open_lines = (always | never) & (limits.fixed < 0) & (not settled)
    free = varies | open_lines
    networks, most = np.unique(seen, axis=0), 2 ** int(free.sum())
    if most <= most_counted * min(1.0, clock.left / COUNTED_IN):
        tried = all_networks(candidates, free) | (seen[0] & ~free)
        tried = tried[limits.keep(tried)]
        networks = tried[explains(tried)]
        most = len(networks)
    return Identification(
        candidates.named(always & ~open_lines),
        candidates.named(never & ~open_lines),
        candidates.named(varies),
        candidates.named(open_lines),
        (len(networks), most),
        networks,
    )


def _told(lines: list[Line]) -> str:
    return ", ".join("-".join(map(str, line)) for line in lines) or "none"
