"""Identification of lines over all networks that fit equally well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError, Problems
from feaslearn.network.candidates import CandidateLines, Line, Networks, line_name
from feaslearn.network.enumeration import all_networks
from feaslearn.network.samples import dispatch_of
from feaslearn.network.search import Limits, Network
from feaslearn.network.solve import LineSearch, Search
from feaslearn.parameters import POSITIVE, Integer, check_value
from feaslearn.runs import Clock
from feaslearn.tolerances import ROUNDING, SAME_TOL, TINY, VISIBLE_TOL

#: Seconds to search for a network that differs as much as possible from those found.
SEARCH_SECONDS = 10.0
#: Networks that are tried between two looks at the clock.
TRIED_AT_ONCE = 4096


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
            ("certain", _names(self.certain)),
            ("undetermined", _names(self.undetermined)),
            ("impossible", _names(self.impossible)),
            ("equivalent networks", str(low) if low == high else f"between {low} and {high:.6g}"),
        ]
        if self.unknown:
            shown.insert(3, ("not decided in time", _names(self.unknown)))
        return "\n".join(f"{label:<20} {text}" for label, text in shown)


def identify(
    search: LineSearch,
    candidates: CandidateLines,
    network: Network,
    loss: float,
    limits: Limits,
    explains: Callable[[Networks], Mask],
    most_counted: float,
    clock: Clock,
) -> Identification:
    """Find out which lines the best networks share.

    Each question asks for the best network that differs most from what all networks seen so far
    have in common. When none differs, what they have in common is certain or impossible.
    """
    seen = network[None]
    while True:
        weights = np.where(seen.all(axis=0), 1.0, np.where(seen.any(axis=0), 0.0, -1.0))
        weights[limits.fixed >= 0] = 0.0
        other = limits._replace(weighted=(weights, float(weights @ network) - 1.0))
        found = search.cheapest(weights, loss, other, clock.part(SEARCH_SECONDS))
        if found.outcome == "time limit" and found.network is None:
            # To differ most is more than is needed: any difference will do.
            found = search.cheapest(0.0 * weights, loss, other, clock)
        if found.network is None:
            break
        seen = np.vstack([seen, found.network])
    always, never = np.asarray(seen.all(axis=0)), np.asarray(~seen.any(axis=0))
    varies = ~always & ~never
    decided = found.outcome == "infeasible"
    open_lines = (always | never) & (limits.fixed < 0) & (not decided)
    free = varies | open_lines
    networks, most = np.unique(seen, axis=0), 2 ** int(free.sum())
    if most <= most_counted:
        tried = all_networks(candidates, free) | (seen[0] & ~free)
        tried = tried[limits.keep(tried)]
        equal = []
        for some in np.array_split(tried, 1 + len(tried) // TRIED_AT_ONCE):
            if clock.out():
                break
            equal.append(some[explains(some)])
        else:
            networks = np.concatenate(equal)
            most = len(networks)
    return Identification(
        candidates.named(always & ~open_lines),
        candidates.named(never & ~open_lines),
        candidates.named(varies),
        candidates.named(open_lines),
        (len(networks), most),
        networks,
    )


def _names(lines: list[Line]) -> str:
    """Return lines as one string."""
    return ", ".join(line_name(line) for line in lines) or "none"


# The least loss with a given number of lines.


class LineCurve(NamedTuple):
    """The least mean loss with at most so many lines; infinite where too few serve the demand.

    ``bounds`` are proved lower bounds on ``losses``; the two agree where time sufficed.
    """

    n_lines: NDArray[np.int64]
    losses: Array
    bounds: Array
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
        enough = self.losses <= low + share * (high - low) + ROUNDING
        return int(self.n_lines[np.argmax(enough)])


def line_curve(search: Search, limits: Limits, clock: Clock) -> LineCurve:
    """Find the least loss with at most k lines, from the most lines to the fewest."""
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


# The signal that would tell most about the lines.


class NextSignal(NamedTuple):
    """A signal, and what observing the answer to it would leave.

    ``expected_left`` is the mean number of networks that remain if each of them is equally likely
    to be the true one; ``n_answers`` counts the different dispatches they would give.
    """

    signal: Array
    row: int
    n_answers: int
    n_networks: int
    expected_left: float


def best_signal(
    candidates: CandidateLines,
    networks: Networks,
    signals: Array,
    costs: Array,
    demands: Array,
) -> NextSignal:
    """Return the signal whose answer leaves the fewest networks."""
    answers = np.stack([dispatch_of(candidates, row, demands, costs) for row in networks])
    sizes = [_class_sizes(answers[:, row]) for row in range(len(signals))]
    left = np.array([(each**2).sum() / each.sum() for each in sizes])
    # Equal up to rounding: the first.
    best = int(np.argmax(left <= left.min() + SAME_TOL))
    return NextSignal(signals[best], best, len(sizes[best]), len(networks), float(left[best]))


def _class_sizes(answers: Array) -> Array:
    """Return how many networks give each answer; those that cannot serve are one class."""
    served = ~np.isnan(answers[:, 0])
    labels: NDArray[np.int64] = np.zeros(len(answers), dtype=np.int64)
    scale = VISIBLE_TOL * max(float(np.abs(answers[served]).max(initial=0.0)), TINY)
    for column in answers[served].T:
        order = np.argsort(column, kind="stable")
        steps = np.concatenate([[0], np.cumsum(np.diff(column[order]) > scale)])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = steps
        _, labels[served] = np.unique(
            labels[served] * (len(answers) + 1) + ranks, return_inverse=True
        )
    labels[~served] = len(answers) + 1
    return np.unique(labels, return_counts=True)[1].astype(np.float64)


def draw_signals(signals: Array, n_signals: int, widen: float, random_state: int) -> Array:
    """Draw signals like those observed: columns on their own, half of them at their extremes."""
    problems = Problems()
    check_value("n_draws", n_signals, Integer(1), problems)
    check_value("widen", widen, POSITIVE, problems)
    problems.raise_if_any(DataError, "NetworkLearner.next_signal")
    generator = np.random.default_rng(random_state)
    rows = generator.integers(len(signals), size=(n_signals, signals.shape[1]))
    drawn = np.take_along_axis(signals, rows, axis=0)
    half = n_signals // 2
    high = generator.random((half, signals.shape[1])) < 0.5
    drawn[:half] = np.where(high, signals.max(axis=0), signals.min(axis=0))
    low = signals.min(axis=0)
    return np.asarray(low + widen * (drawn - low))
