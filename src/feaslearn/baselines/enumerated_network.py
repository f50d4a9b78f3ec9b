"""Every network there is, each with its loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.baselines.network_estimator import FloatArray, NetworkEstimator
from feaslearn.exceptions import Problems
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.problem.candidate_lines import CandidateLines, Networks

#: Lines that are neither known nor forbidden.
MOST_FREE_LINES = 20

#: Two losses are equal when they differ by less than this, relative to the size of the decisions.
EQUAL = 1e-7

#: Losses of single samples that are held at once.
LOSSES_AT_ONCE = 2**24


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

    def _check_size(self, problems: Problems, candidates: CandidateLines) -> None:
        check_enumerable(problems, candidates)

    def _learn(self, losses: NetworkLosses) -> None:
        self.networks_ = all_networks(losses.candidates)
        self.losses_ = mean_losses(losses, self.networks_)
        equal = self.losses_ <= self.losses_.min() + equality_tolerance(losses)
        self.best_ = self.networks_[equal]
        sparsest = np.argmin(self.best_.sum(axis=1))
        self.network_ = self.best_[sparsest]
        self.loss_ = float(self.losses_[equal][sparsest])


def check_enumerable(problems: Problems, candidates: CandidateLines) -> None:
    """Add a problem if there are too many networks to look at each.

    Parameters
    ----------
    problems : Problems
        Where to say so.
    candidates : CandidateLines
        The lines there may be.
    """
    free = int(np.count_nonzero(~candidates.known))
    if free > MOST_FREE_LINES:
        problems.add(
            f"{free} lines are neither known nor forbidden: 2^{free} networks are too many to "
            f"enumerate (at most 2^{MOST_FREE_LINES}); use NetworkLearner"
        )


def all_networks(
    candidates: CandidateLines, undetermined: NDArray[np.bool_] | None = None
) -> Networks:
    """Return all networks that hold the known lines, one row for each.

    Parameters
    ----------
    candidates : CandidateLines
        The lines there may be.
    undetermined : ndarray of bool, shape (L,), optional
        The lines that vary; by default all that are not known. The others are as in ``known``.

    Returns
    -------
    ndarray of bool, shape (R, L)
        The networks.
    """
    free = np.flatnonzero(~candidates.known if undetermined is None else undetermined)
    numbers = np.arange(1 << len(free))
    networks = np.tile(candidates.known, (len(numbers), 1))
    networks[:, free] = (numbers[:, None] >> np.arange(len(free))) & 1 == 1
    return networks


def mean_losses(losses: NetworkLosses, networks: Networks) -> FloatArray:
    """Return the mean loss of each network, a few networks at a time.

    Parameters
    ----------
    losses : NetworkLosses
        The losses of single samples.
    networks : ndarray of bool, shape (R, L)
        The networks.

    Returns
    -------
    ndarray of shape (R,)
        The means.
    """
    means = np.empty(len(networks))
    step = max(1, LOSSES_AT_ONCE // losses.n_samples)
    for start in range(0, len(networks), step):
        some = slice(start, start + step)
        means[some] = losses.of(networks[some]).mean(axis=1)
    return means


def equality_tolerance(losses: NetworkLosses) -> float:
    """Return the difference below which two mean losses count as equal.

    Parameters
    ----------
    losses : NetworkLosses
        The losses.

    Returns
    -------
    float
        The tolerance, in the unit of the loss.
    """
    size = float(np.abs(losses.samples.decisions).max())
    return EQUAL * (size**2 if losses.is_squared else size)
