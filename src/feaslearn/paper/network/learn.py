r"""Problem 2 (Section 4.2): the lines of a network, learned from dispatches.

.. math::
    \min_{y \in \{0,1\}^L} \Big( \frac1N \sum_i \ell(x_i; y, s_i),\; \sum_l y_l \Big)
    \quad\text{(loss first, then lines)}

Beside the paper: its data do not identify the network. 644 of the 1024 networks of the five
regions explain every dispatch, 65 of them with four lines, so a network of zero loss is not yet the
true one. Asked for is therefore the sparsest network of least loss, with a proof, and which lines
all networks of least loss share (certain) or lack (impossible). Enumeration, which the paper
estimates at 2.64 s a network, takes milliseconds on its instance; the integer program is for more
lines, and for 14 nodes with 91 candidate lines it finds no proof in minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.mip import Outcome
from feaslearn.paper.network.flow import FlowSearch, row_of_lines
from feaslearn.paper.network.losses import LossName, NetworkLosses
from feaslearn.paper.network.transport import (
    Line,
    TransportNetwork,
    bits,
    cheapest_first,
    served,
)
from feaslearn.paper.problem import Clock, Data, Status
from feaslearn.tolerances import ACCEPT_TOL

Solver = Literal["auto", "milp", "enumeration"]
#: Candidate lines of which all networks can be enumerated.
MAX_ENUMERATED = 20
#: By default networks are enumerated if that reads no more sets of nodes, and takes no more losses.
MAX_READ, MAX_MEASURED = 2**32, 2**24


@dataclass(eq=False, repr=False)
class LearnedNetwork:
    """The sparsest network of least loss, what is proved of it, and what the data leave open.

    Parameters
    ----------
    candidates : TransportNetwork
        The candidate lines, the plants and the capacities.
    network : ndarray of bool, shape (L,)
        Which candidate lines the network has.
    loss, bound : float
        Its mean loss, and a proved lower bound on that of any network.
    n_lines_bound : float
        No network of least loss has fewer lines.
    status : str
        "optimal", or how the search ended before the proof.
    best : ndarray of bool, shape (R, L)
        Networks of least loss: all of them if networks were enumerated.
    decided : bool
        Whether all networks of least loss share what those in ``best`` have in common.
    networks, losses : ndarray
        If they were enumerated, all networks and the mean loss of each, infinite where a demand
        cannot be served.
    n_iter : int
        Integer programs that were solved.
    seconds : float
        The wall time.
    """

    candidates: TransportNetwork
    network: Mask
    loss: float
    bound: float
    n_lines_bound: float
    status: Status
    best: Mask
    decided: bool
    networks: Mask | None = None
    losses: Array | None = None
    n_iter: int = 0
    seconds: float = 0.0

    def __repr__(self) -> str:
        return (
            f"LearnedNetwork({len(self.lines)} of {len(self.network)} lines, loss {self.loss:.4g}, "
            f"{self.status})"
        )

    @property
    def lines(self) -> list[Line]:
        """The lines of the network."""
        return self.named(self.network)

    @property
    def certain(self) -> list[Line]:
        """The lines that every network of least loss has."""
        return self.named(self._always) if self.decided else []

    @property
    def impossible(self) -> list[Line]:
        """The lines that no network of least loss has."""
        return self.named(~self._ever) if self.decided else []

    @property
    def undetermined(self) -> list[Line]:
        """The lines that some networks of least loss have and others lack."""
        return self.named(self._ever & ~self._always)

    @property
    def unknown(self) -> list[Line]:
        """The lines that were not decided in time."""
        return [] if self.decided else self.named(self._always | ~self._ever)

    @property
    def _always(self) -> Mask:
        return np.asarray(self.best.all(axis=0))

    @property
    def _ever(self) -> Mask:
        return np.asarray(self.best.any(axis=0))

    @property
    def by_size(self) -> dict[int, int]:
        """How many of ``best`` have each number of lines."""
        sizes, counts = np.unique(self.best.sum(axis=1), return_counts=True)
        return dict(zip(sizes.tolist(), counts.tolist(), strict=True))

    def named(self, chosen: Mask) -> list[Line]:
        """Return some of the candidate lines.

        Parameters
        ----------
        chosen : ndarray of bool, shape (L,)
            Which of them.

        Returns
        -------
        list of pairs
            The lines.
        """
        return [self.candidates.lines[line] for line in np.flatnonzero(chosen)]

    def predict(self, data: Data) -> Array:
        """Return the cheapest dispatch of each sample; NaN where a demand cannot be served.

        Parameters
        ----------
        data : Data
            Prices and demands.

        Returns
        -------
        ndarray of shape (N, n)
            What each plant delivers.
        """
        demands = demands_of(data, self.candidates)
        most = self.candidates.most_delivered(demands, self.network[None])[0]
        fine = served(most, demands)[:, None]
        return np.where(fine, cheapest_first(most, data.costs), np.nan)


def learn_network(
    data: Data,
    candidates: TransportNetwork,
    loss: LossName = "predictability",
    *,
    solver: Solver = "auto",
    identify: bool = True,
    lazy: bool = True,
    max_seconds: float | None = None,
) -> LearnedNetwork:
    """Learn which lines a network has, and which of them the data can tell.

    Parameters
    ----------
    data : Data
        Dispatches; their costs are the prices, and the last signals the demands of the nodes.
    candidates : TransportNetwork
        The lines there may be, the plants and the capacities.
    loss : {"predictability", "suboptimality"}
        What is minimised, in the l1 norm.
    solver : {"auto", "milp", "enumeration"}
        "milp" is the program of the appendix; "enumeration" looks at all networks, which "auto"
        does where they are few.
    identify : bool
        Whether "milp" also asks which lines are certain.
    lazy : bool
        Whether "milp" adds samples as they are needed rather than all at once.
    max_seconds : float, optional
        Limit on the time of all that. What is found by then, or by Ctrl-C, is returned with what
        is proved of it.

    Returns
    -------
    LearnedNetwork
        The sparsest network of least loss.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> data = paper.datasets.make_power5(100, random_state=0)
    >>> candidates = paper.TransportNetwork(5, None, 3.5, (1, 3, 5), 3.5)
    >>> found = paper.learn_network(data, candidates)
    >>> found.status, len(found.lines), len(found.best), found.by_size[4], found.certain
    ('optimal', 4, 644, 65, [])
    """
    n_lines = len(candidates.lines)
    if solver not in get_args(Solver) or (solver == "enumeration" and n_lines > MAX_ENUMERATED):
        raise DataError(
            f"solver is {solver!r}, expected one of {get_args(Solver)}; 'enumeration' serves up "
            f"to {MAX_ENUMERATED} candidate lines, there are {n_lines}"
        )
    losses = losses_of(data, candidates, loss)
    measured = losses.n_samples * 2.0**n_lines
    read = measured * candidates.outside_capacity.size
    few = n_lines <= MAX_ENUMERATED and measured <= MAX_MEASURED and read <= MAX_READ
    clock = Clock(max_seconds)
    if solver == "enumeration" or (solver == "auto" and few):
        found = enumerate_networks(losses, clock)
    else:
        found = by_milp(losses, identify, lazy, clock)
    found.seconds = clock.seconds
    return found


def losses_of(data: Data, candidates: TransportNetwork, loss: LossName) -> NetworkLosses:
    """Check the data, and return what measures networks on them."""
    demands = demands_of(data, candidates)
    if data.costs.shape[1] != len(candidates.plants):
        raise DataError(
            f"learn_network: decisions have {data.costs.shape[1]} columns for "
            f"{len(candidates.plants)} plants"
        )
    if not (fine := candidates.serves(demands)).all():
        raise DataError(
            f"no network serves the demand of sample {np.flatnonzero(~fine)[0]}, not even all "
            f"{len(candidates.lines)} candidate lines together: raise the capacities, allow more "
            "lines or drop these samples"
        )
    return NetworkLosses(candidates, data.costs, demands, data.decisions, loss)


def demands_of(data: Data, candidates: TransportNetwork) -> Array:
    """Return the demands of the nodes, the last signals."""
    return data.signals[:, -candidates.n_nodes :]


def enumerate_networks(losses: NetworkLosses, clock: Clock) -> LearnedNetwork:
    """Measure all networks; by the deadline or Ctrl-C, the best of those measured is returned."""
    networks = bits(len(losses.candidates.lines))
    parts = [np.empty(0)]
    # All lines together serve every demand, so that there is always a network to return.
    every = networks[-1:]
    status: Status = "optimal"
    try:
        for some in losses.chunks(networks):
            if clock.late():
                status = clock.status
                break
            parts.append(losses.of(some).mean(axis=1))
    except KeyboardInterrupt:
        status = "interrupted"
    means = np.concatenate(parts)
    measured = networks[: len(means)]
    if not np.isfinite(means).any():
        measured, means = every, losses.of(every).mean(axis=1)
    least = float(means.min())
    best = measured[means <= least + losses.tolerance]
    network = best[np.argmin(best.sum(axis=1))]
    done = status == "optimal"
    return LearnedNetwork(
        losses.candidates,
        network,
        float(losses.of_one(network).mean()),
        least if done else 0.0,
        float(network.sum()) if done else 0.0,
        status,
        best,
        done,
        networks=measured,
        losses=means,
    )


def by_milp(losses: NetworkLosses, identify: bool, lazy: bool, clock: Clock) -> LearnedNetwork:
    """Find a network of least loss, then the sparsest of these, then what they share."""
    # All lines together are a network too, where there is no time to find a better one.
    every = np.ones(len(losses.candidates.lines), dtype=bool)
    loss = float(losses.of_one(every).mean())
    found = LearnedNetwork(
        losses.candidates, every, loss, 0.0, 0.0, "time limit", every[None], decided=False
    )
    try:
        found.decided = _improve(found, FlowSearch(losses, lazy), identify, clock)
    except KeyboardInterrupt:
        found.status = "interrupted"
    found.loss = float(losses.of_one(found.network).mean())
    found.bound = min(found.loss, found.bound)
    return found


def _improve(found: LearnedNetwork, search: FlowSearch, identify: bool, clock: Clock) -> bool:
    """Write into ``found`` what the search finds; return whether it decided all lines."""
    least = search.least_loss(clock)
    found.status, found.bound, found.n_iter = _status(least.outcome), least.bound, search.n_solves
    if least.network is not None:
        found.network, found.best = least.network, least.network[None]
    if least.outcome != "optimal":
        return False
    fewest = search.cheapest(np.ones(len(found.network)), least.value, [], clock)
    found.status, found.n_iter = _status(fewest.outcome), search.n_solves
    found.n_lines_bound = max(0.0, float(np.ceil(fewest.bound - ACCEPT_TOL)))
    if fewest.network is not None:
        found.network, found.best = fewest.network, fewest.network[None]
    if not identify or fewest.outcome != "optimal":
        return False
    return _identify(found, search, clock)


def _identify(found: LearnedNetwork, search: FlowSearch, clock: Clock) -> bool:
    """Find networks of least loss that have in common what all of them share.

    Each question asks for the one that differs most from what all networks seen so far have in
    common. When none differs, that is certain or impossible, and the answer is True.
    """
    loss = float(search.losses.of_one(found.network).mean())
    while True:
        always, ever = found.best.all(axis=0), found.best.any(axis=0)
        weights = np.where(always, 1.0, np.where(ever, 0.0, -1.0))
        differs = row_of_lines(weights, upper=float(weights @ found.network) - 1.0)
        other = search.cheapest(weights, loss, [differs], clock)
        found.n_iter = search.n_solves
        if other.network is None:
            return other.outcome == "infeasible"
        found.best = np.vstack([found.best, other.network])


def _status(outcome: Outcome) -> Status:
    # Some network serves every sample: "infeasible" is a program at the edge of its tolerances.
    return "stalled" if outcome == "infeasible" else outcome
