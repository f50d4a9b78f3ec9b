"""Every network there is, each with its loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from feaslearn.costs import CostSpecification
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, NotFittedError, Problems
from feaslearn.losses.loss import Loss
from feaslearn.network.candidates import CandidateLines, Line, Networks, Node, read_candidates
from feaslearn.network.losses import NetworkLosses, resolve_network_loss
from feaslearn.network.samples import (
    NetworkSignals,
    dispatch_of,
    raise_unserved,
    read_samples,
    resolve_signals,
)
from feaslearn.runs import ended_by_user, whole_or_not
from feaslearn.tolerances import GAIN_TOL

#: Lines that are neither known nor forbidden.
MOST_FREE_LINES = 20


#: Losses of single samples that are held at once.
LOSSES_AT_ONCE = 2**24

FloatArray = NDArray[np.float64]


# What every learner of a network's lines shares: its arguments, its data, its predictions.


class NetworkEstimator(BaseEstimator):
    """Learns which candidate lines a network has; a child says how, in `_learn`."""

    def __init__(
        self,
        nodes: int | Sequence[Node],
        generators: Sequence[Node],
        *,
        generator_capacity: ArrayLike,
        line_capacity: ArrayLike,
        cost: CostSpecification,
        demand: Sequence[int | str],
        candidate_lines: Sequence[Line] | None = None,
        known_lines: Sequence[Line] = (),
        forbidden_lines: Sequence[Line] = (),
        loss: str | Loss = "predictability",
    ) -> None:
        self.nodes = nodes
        self.generators = generators
        self.generator_capacity = generator_capacity
        self.line_capacity = line_capacity
        self.cost = cost
        self.demand = demand
        self.candidate_lines = candidate_lines
        self.known_lines = known_lines
        self.forbidden_lines = forbidden_lines
        self.loss = loss

    def fit(self, signals: ArrayLike, decisions: ArrayLike) -> Self:
        """Learn the lines.

        Parameters
        ----------
        signals : array_like or frame of shape (N, n_signals)
            The signals, with the prices and the demands among them.
        decisions : array_like or frame of shape (N, n_generators)
            What each plant delivered.

        Returns
        -------
        self
            The learner.
        """
        problems = Problems()
        candidates = read_candidates(
            problems,
            self.nodes,
            self.generators,
            self.generator_capacity,
            self.line_capacity,
            self.candidate_lines,
            self.known_lines,
            self.forbidden_lines,
        )
        loss = resolve_network_loss(problems, self.loss)
        self._check_parameters(problems)
        reader = resolve_signals(problems, candidates, signals, self.cost, self.demand)
        samples = read_samples(problems, candidates, reader, signals, decisions)
        if candidates is not None:
            self._check_size(problems, candidates)
        problems.raise_if_any(DataError, type(self).__name__)
        if candidates is None or loss is None or reader is None or samples is None:
            raise AssertionError("something is missing although no problem was found")
        with whole_or_not(self), ended_by_user():
            self._candidates, self._reader = candidates, reader
            self._signals = np.array(as_matrix(signals, name="signals", problems=problems))
            self.n_features_in_ = reader.cost.n_signals
            self._learn(NetworkLosses(candidates, samples, loss))
        return self

    def predict(self, signals: ArrayLike, costs: ArrayLike | None = None) -> FloatArray:
        """Return the cheapest dispatch that the learned network allows.

        Parameters
        ----------
        signals : array_like or frame of shape (N, n_signals)
            The signals.
        costs : array_like of shape (N, n_generators), optional
            Prices to use in place of those among the signals.

        Returns
        -------
        ndarray of shape (N, n_generators)
            What each plant delivers.
        """
        prices, demands = self._read(signals)
        if costs is not None:
            given = np.ascontiguousarray(costs, dtype=np.float64)
            if given.shape != prices.shape or not np.isfinite(given).all():
                raise DataError(
                    f"{type(self).__name__}: costs has shape {given.shape}, expected finite "
                    f"numbers of shape {prices.shape}"
                )
            prices = given
        dispatch = dispatch_of(self._candidates, self.network_, demands, prices)
        raise_unserved(dispatch, type(self).__name__)
        return dispatch

    @property
    def lines_(self) -> list[Line]:
        """The lines of the learned network."""
        self._check_fitted()
        return self._candidates.named(self.network_)

    @property
    def nodes_(self) -> list[Node]:
        """The labels of the nodes."""
        self._check_fitted()
        return list(self._candidates.nodes)

    @property
    def candidate_lines_(self) -> list[Line]:
        """The candidate lines, in the order of ``network_``, without the forbidden ones."""
        self._check_fitted()
        return list(self._candidates.lines)

    network_: NDArray[np.bool_]
    _candidates: CandidateLines
    _reader: NetworkSignals
    _signals: FloatArray

    @abstractmethod
    def _learn(self, losses: NetworkLosses) -> None:
        """Set ``network_`` and what else was learned."""

    def _check_parameters(self, problems: Problems) -> None:
        """Add what is wrong with the parameters of a child."""

    def _check_size(self, problems: Problems, candidates: CandidateLines) -> None:
        """Add a problem if there are too many candidates for a child."""

    def _read(self, signals: ArrayLike) -> tuple[FloatArray, FloatArray]:
        self._check_fitted()
        problems = Problems()
        read = self._reader.read(problems, signals)
        problems.raise_if_any(DataError, type(self).__name__)
        if read is None:
            raise AssertionError("no signals although no problem was found")
        return read

    def _check_fitted(self) -> None:
        if not hasattr(self, "network_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted yet; call fit first")


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
    return GAIN_TOL * (size**2 if losses.is_squared else size)
