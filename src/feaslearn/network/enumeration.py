"""Enumeration of all networks, each with its loss."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import Problems
from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.network.estimator import NetworkEstimator
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.search import Limits, SearchResult
from feaslearn.runs import Clock
from feaslearn.solvers.mip import Outcome

#: Lines that are neither known nor forbidden.
MAX_FREE_LINES = 20


class EnumeratedNetwork(NetworkEstimator):
    r"""The network of least loss, by trying all of them.

    .. math:: \min_{y \in \{0,1\}^L} \frac1N \sum_i \ell(x_i; y, s_i)

    Exact, also with ties between prices, and fast for up to about fifteen lines: the dispatches a
    network allows form a polymatroid, so a loss costs a few minima over the sets of nodes.

    Parameters
    ----------
    nodes : int or sequence
        How many nodes there are (then they are called 1, 2, ...), or their labels.
    generators : sequence
        The node of each plant.
    generator_capacity : float or array_like of shape (n_generators,)
        The most each plant delivers.
    line_capacity : float or array_like of shape (n_candidate_lines,)
        The most each candidate line carries.
    cost : cost specification
        How the price of each plant is read from the signals.
    demand : sequence of int or str
        The signal that holds the demand of each node.
    candidate_lines : sequence of pairs, optional
        The lines there may be; by default one between any two nodes.
    known_lines, forbidden_lines : sequence of pairs
        Lines that are there for certain, and lines that are not.
    loss : {"predictability", "suboptimality"} or a loss
        The names stand for the l1 norm; give ``Predictability()`` for the squared l2 norm.

    Attributes
    ----------
    lines_ : list of pairs
        The lines of the best network with the fewest lines (of several the first).
    loss_ : float
        Its mean loss.
    networks_ : ndarray of bool, shape (R, L)
        All networks.
    losses_ : ndarray of shape (R,)
        The mean loss of each; infinite where a demand cannot be served.
    best_ : ndarray of bool, shape (n_best, L)
        The networks of least loss.

    References
    ----------
    Aswani, Shen and Siddiq, "Inverse optimization with noisy data", Operations Research 66(3),
    2018.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(n_samples=100, random_state=0)
    >>> plants = {"generators": [1, 3, 5], "generator_capacity": 3.5, "line_capacity": 3.5}
    >>> network = fl.baselines.EnumeratedNetwork(5, **plants, cost=[0, 1, 2], demand=range(3, 8))
    >>> network = network.fit(data.signals, data.decisions)
    >>> len(network.losses_), len(network.lines_)
    (1024, 4)
    """

    def _check(self, problems: Problems, candidates: CandidateLines | None) -> None:
        if candidates is not None:
            check_enumerable(problems, candidates)

    def _learn(self, losses: NetworkLosses) -> None:
        self.networks_ = all_networks(losses.candidates)
        self.losses_ = losses.means(self.networks_)
        equal = self.losses_ <= self.losses_.min() + losses.tolerance
        self.best_ = self.networks_[equal]
        sparsest = np.argmin(self.best_.sum(axis=1))
        self.network_ = self.best_[sparsest]
        self.loss_ = float(self.losses_[equal][sparsest])


def check_enumerable(problems: Problems, candidates: CandidateLines) -> None:
    """Add a problem if there are too many networks to enumerate."""
    free = int(np.count_nonzero(~candidates.known))
    if free > MAX_FREE_LINES:
        problems.add(
            f"{free} lines are neither known nor forbidden: 2^{free} networks are too many to "
            f"enumerate (at most 2^{MAX_FREE_LINES}); use NetworkLearner"
        )


def all_networks(candidates: CandidateLines, free: Mask | None = None) -> Networks:
    """Return all networks that hold the known lines; by default all others are free."""
    varying = np.flatnonzero(~candidates.known if free is None else free)
    numbers = np.arange(1 << len(varying))
    networks = np.tile(candidates.known, (len(numbers), 1))
    networks[:, varying] = (numbers[:, None] >> np.arange(len(varying))) & 1 == 1
    return networks


class EnumerationSearch:
    """All networks with the loss of every sample; each answer is read from that table."""

    def __init__(self, losses: NetworkLosses, clock: Clock) -> None:
        self.losses = losses
        self.n_solves = 1
        networks = all_networks(losses.candidates)
        tables = [np.empty((0, losses.n_samples))]
        for some in losses.chunks(networks):
            if clock.out():
                break
            tables.append(losses.of(some))
        self.table = np.vstack(tables)
        self.networks = networks[: len(self.table)]
        self.complete = len(self.networks) == len(networks)
        self.means = self.table.mean(axis=1)

    def least_loss(self, limits: Limits, clock: Clock) -> SearchResult:
        """Return the network of least mean loss within the limits."""
        values = np.where(limits.keep(self.networks), self.means, np.inf)
        return self._best(values)

    def cheapest(
        self, weights: Array, most_loss: float, limits: Limits, clock: Clock
    ) -> SearchResult:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        allowed = limits.keep(self.networks) & (self.means <= most_loss + self.losses.tolerance)
        return self._best(np.where(allowed, self.networks @ weights, np.inf))

    def _best(self, values: Array) -> SearchResult:
        """Return the network of least value; networks left out are not bounded."""
        outcome: Outcome = "optimal" if self.complete else "time limit"
        least = float(np.min(values, initial=np.inf))
        if least == np.inf:
            bound = np.inf if self.complete else -np.inf
            return SearchResult("infeasible" if self.complete else outcome, None, np.inf, bound)
        best = self.networks[int(np.argmin(values))]
        return SearchResult(outcome, best, least, least if self.complete else -np.inf)
