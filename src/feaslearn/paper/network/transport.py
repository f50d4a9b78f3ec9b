r"""The power system of section 5.2: plants serve the demand of nodes through lines.

.. math:: \min_{x, z} c'x \quad \text{s.t.} \quad E x = B z + d,\; |z| \le f,\; 0 \le x \le C

with flows ``z`` on the lines, whose incidence matrix ``B`` is signed: with the printed
``A in {0, 1}`` a flow enters both of its ends, and energy is free.

The dispatches that some flows allow are the bases of a polymatroid. With

.. math:: F(S) = \min_{T} \left[ d(T) + f(\delta T) + C(S \setminus T) \right]

the most that the plants ``S`` deliver (``T`` over all sets of nodes, ``f(δT)`` the capacity of the
lines that leave ``T``), the plants are dispatched cheapest first, each up to the increment of
``F``; distances to all dispatches, and to the cheapest, need the values of ``F`` alone. That is
exact and needs no solver (Federgruen and Groenevelt, Networks 18, 1988).

Sets of nodes and of plants are numbers: bit ``j`` says whether ``j`` belongs to the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import DataError
from feaslearn.tolerances import CAPACITY_TOL, ROUNDING, TIE_TOL

Line = tuple[int, int]
#: Sets of nodes and of plants are enumerated.
MAX_NODES, MAX_PLANTS = 16, 8
#: Sums of demands that are held at once, and numbers of a table that is made of them, which should
#: stay in the cache of the processor.
MAX_SUMS, MAX_ENTRIES = 2**22, 2**17


class TransportNetwork:
    """Plants, lines of limited capacity, and a demand at each node that must be served.

    As ``Data.truth``, it reads the demands from the last ``n_nodes`` signals.

    Parameters
    ----------
    n_nodes : int
        Nodes are numbered 1 to ``n_nodes``.
    lines : sequence of (int, int), optional
        The two nodes of each line; flow goes either way. By default a line between any two nodes:
        the candidates of Problem 2.
    line_capacity : float or array_like of shape (n_lines,)
        The most each line carries.
    plants : sequence of int
        The node of each plant.
    generator_capacity : float or array_like of shape (n_plants,)
        The most each plant delivers.

    Examples
    --------
    The cheap plant at node 1 serves its own node and, through the line, part of node 2.

    >>> from feaslearn.paper.network import TransportNetwork
    >>> network = TransportNetwork(2, [(1, 2)], 0.5, plants=[1, 2], generator_capacity=3.0)
    >>> network.solve([[1.0, 2.0]], [[1.0, 5.0]])
    array([[1.5, 1.5]])
    """

    def __init__(
        self,
        n_nodes: int,
        lines: Sequence[Line] | None,
        line_capacity: ArrayLike,
        plants: Sequence[int],
        generator_capacity: ArrayLike,
    ) -> None:
        nodes = range(1, n_nodes + 1)
        self.n_nodes, self.plants = n_nodes, tuple(plants)
        self.lines = tuple(combinations(nodes, 2) if lines is None else lines)
        self.line_capacity = _capacity("line_capacity", line_capacity, len(self.lines))
        self.generator_capacity = _capacity(
            "generator_capacity", generator_capacity, len(self.plants)
        )
        if not 1 <= n_nodes <= MAX_NODES or not 1 <= len(self.plants) <= MAX_PLANTS:
            raise DataError(
                f"TransportNetwork: {n_nodes} nodes and {len(self.plants)} plants; sets are "
                f"enumerated, which serves 1 to {MAX_NODES} nodes and 1 to {MAX_PLANTS} plants"
            )
        for ends in (*self.lines, *((node, 0) for node in self.plants)):
            if ends[0] not in nodes or ends[1] not in (*nodes, 0) or ends[0] == ends[1]:
                raise DataError(
                    f"TransportNetwork: {ends} is no line between two nodes, or a plant is "
                    f"outside; nodes are 1 to {n_nodes}"
                )
        self.ends: Indices = np.array(self.lines, dtype=np.intp).reshape(-1, 2) - 1
        self.plant_nodes: Indices = np.array(self.plants, dtype=np.intp) - 1

    def __repr__(self) -> str:
        return (
            f"TransportNetwork({self.n_nodes} nodes, {len(self.lines)} lines, "
            f"plants at {list(self.plants)})"
        )

    @cached_property
    def node_sets(self) -> Mask:
        """Which nodes belong to each set of nodes, shape (2^n, n)."""
        return bits(self.n_nodes)

    @cached_property
    def crossing(self) -> Mask:
        """Which lines leave each set of nodes, shape (2^n, L)."""
        first, second = self.node_sets[:, self.ends[:, 0]], self.node_sets[:, self.ends[:, 1]]
        return np.asarray(first != second)

    @cached_property
    def outside_capacity(self) -> Array:
        """``C(S - T)``: the capacity of each set of plants outside each set of nodes."""
        outside = ~self.node_sets[:, self.plant_nodes]
        return np.asarray((bits(len(self.plants)) * self.generator_capacity) @ outside.T)

    def most_delivered(self, demands: Array, networks: Mask | None = None) -> Array:
        """Return F(S) for networks of some of the lines, shape (R, N, 2^K); by default of all."""
        many = max(1, MAX_SUMS >> self.n_nodes)
        if len(demands) > many:
            parts = np.split(demands, range(many, len(demands), many))
            return np.concatenate([self.most_delivered(part, networks) for part in parts], axis=1)
        chosen = np.ones((1, len(self.lines)), dtype=bool) if networks is None else networks
        cuts = (chosen * self.line_capacity) @ self.crossing.T
        most = np.empty((len(cuts), len(demands), len(self.outside_capacity)))
        step = max(1, MAX_ENTRIES // self.outside_capacity.size)
        demand_of = self.node_sets @ demands.T
        for start in range(0, len(demands), step):
            rows = slice(start, start + step)
            # The sets of nodes stand first: a minimum over them is one of whole tables.
            table = demand_of[:, rows, None] + self.outside_capacity.T[:, None, :]
            for cut, found in zip(cuts, most, strict=True):
                found[rows] = (table + cut[:, None, None]).min(axis=0)
        return most

    def serves(self, demands: ArrayLike) -> Mask:
        """Return which demands (N, n_nodes) the plants can serve through the lines.

        Parameters
        ----------
        demands : array_like of shape (N, n_nodes)
            The demand at each node, not negative.

        Returns
        -------
        ndarray of bool, shape (N,)
            Whether each sample can be served.
        """
        table = self._demands(demands)
        return served(self.most_delivered(table)[0], table)

    def solve(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return the cheapest dispatch of each sample; of equal prices the first plant goes first.

        Parameters
        ----------
        signals : array_like of shape (N, m)
            The last ``n_nodes`` columns are the demands, not negative.
        costs : array_like of shape (N, n_plants)
            The price of each plant.

        Returns
        -------
        ndarray of shape (N, n_plants)
            What each plant delivers.
        """
        demands, prices = self._demands(signals), np.asarray(costs, dtype=float)
        most = self.most_delivered(demands)[0]
        if not (fine := served(most, demands)).all():
            raise DataError(
                f"the demand cannot be served at sample {np.flatnonzero(~fine)[0]} (of "
                f"{np.count_nonzero(~fine)}): raise the capacities, add lines or lower the demand"
            )
        return np.clip(cheapest_first(most, prices), 0.0, self.generator_capacity)

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the Euclidean distance of each decision to the dispatches that some flows allow.

        Parameters
        ----------
        decisions : ndarray of shape (N, n_plants)
            The decisions.
        signals : ndarray of shape (N, m)
            The last ``n_nodes`` columns are the demands.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        # All feasible dispatches are the cheapest ones of equal prices.
        return self.distance_to_optimal(decisions, signals, np.zeros_like(decisions))

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the Euclidean distance of each decision to all cheapest dispatches.

        Parameters
        ----------
        decisions : ndarray of shape (N, n_plants)
            The decisions.
        signals : ndarray of shape (N, m)
            The last ``n_nodes`` columns are the demands.
        costs : ndarray of shape (N, n_plants)
            The price of each plant.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        most, squares = self.most_delivered(self._demands(signals))[0], np.zeros(len(decisions))
        for rows, plants, F in price_groups(most, costs):
            x = decisions[np.ix_(rows, plants)]
            nearest = np.array([nearest_base(*each) for each in zip(F, x, strict=True)])
            squares[rows] += ((nearest - x) ** 2).sum(axis=1)
        return np.sqrt(squares)

    def _demands(self, signals: ArrayLike) -> Array:
        demands = np.asarray(signals, dtype=float)[:, -self.n_nodes :]
        if demands.shape[1] != self.n_nodes or not (demands >= 0.0).all():
            raise DataError(
                f"TransportNetwork: the last {self.n_nodes} signals are the demands of the nodes; "
                "a demand must be at least 0 (model a fixed injection as a plant)"
            )
        return demands


def bits(count: int) -> Mask:
    """Return which of ``count`` things belong to each of their sets, shape (2^count, count)."""
    return np.asarray((np.arange(1 << count)[:, None] >> np.arange(count)) & 1 == 1)


def _capacity(name: str, capacity: ArrayLike, count: int) -> Array:
    values = np.asarray(capacity, dtype=float)
    if values.shape not in ((), (count,)) or not (np.isfinite(values) & (values >= 0)).all():
        raise DataError(
            f"TransportNetwork: {name} is {values.tolist()}, expected one number of at least 0, or "
            f"{count} of them"
        )
    return np.broadcast_to(values, (count,)).copy()


def served(most: Array, demands: Array) -> Mask:
    """Return where all plants together deliver the whole demand."""
    total = demands.sum(axis=1)
    return np.asarray(most[..., -1] >= total - CAPACITY_TOL * (1.0 + total))


def cheapest_first(most: Array, costs: Array) -> Array:
    """Dispatch the plants in the order of price, each up to the increment of F (N, 2^K)."""
    order = np.argsort(costs, axis=1, kind="stable")
    # The first k plants in the order of price, as one bit for each plant; F of none is zero.
    reached = np.take_along_axis(most, np.cumsum(1 << order, axis=1), axis=1)
    dispatch = np.empty(costs.shape)
    np.put_along_axis(dispatch, order, np.diff(reached, axis=1, prepend=0.0), axis=1)
    return dispatch


def price_levels(costs: Array) -> list[Indices]:
    """Return the plants of each price from the lowest on, equal prices together."""
    order = np.argsort(costs, kind="stable")
    apart = np.diff(costs[order]) > TIE_TOL * np.abs(costs).max()
    return np.split(order, np.flatnonzero(apart) + 1)


def price_groups(most: Array, costs: Array) -> Iterator[tuple[Indices, Indices, Array]]:
    """Yield samples, plants of one price and F of their sets once the cheaper plants deliver all.

    The cheapest dispatches are the bases of these polymatroids put together.
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for row, prices in enumerate(costs):
        levels = tuple(int((1 << plants).sum()) for plants in price_levels(prices))
        alike.setdefault(levels, []).append(row)
    for levels, members in alike.items():
        rows, cheaper = np.array(members), 0
        for level in levels:
            plants = np.flatnonzero(bits(costs.shape[1])[level])
            sets = cheaper + bits(len(plants)) @ (1 << plants)
            yield rows, plants, most[..., rows[:, None], sets] - most[..., rows, cheaper, None]
            cheaper += level


def nearest_base(F: Array, x: Array) -> Array:
    """Return the base of F nearest to x in the l2 norm.

    Decomposition: move x by one amount in every entry to the right sum; where a set then has more
    than F allows, the problem falls apart into that set and the rest.
    """
    base, sets, parts = x.copy(), bits(len(x)), [(0, len(F) - 1)]
    while parts:
        low, high = parts.pop()
        free = sets[high & ~low]
        base[free] += (F[high] - F[low] - base[free].sum()) / free.sum()
        inside = np.flatnonzero(~sets[:, ~free].any(axis=1))
        slack = F[low | inside] - F[low] - sets[inside] @ base
        worst = int(inside[np.argmin(slack)])
        if slack.min() < -ROUNDING * (1.0 + abs(F[high])) and worst not in (0, high & ~low):
            parts += [(low, low | worst), (low | worst, high)]
    return base


def l1_distance(F: Array, x: Array) -> Array:
    """Return the l1 distance of x (N, k) to the bases of F (..., N, 2^k).

    It is ``x(E) + F(E) - 2 min_A [F(A) + x(E - A)]``.
    Of all ``w <= x`` that F allows the largest has the sum of that minimum, and every such w can be
    raised to a base; the base then misses x by ``x(E) - w(E)`` below and ``F(E) - w(E)`` above.
    """
    total, sums = x.sum(axis=1), x @ bits(x.shape[1]).T
    common = (F - sums).min(axis=-1) + total
    return np.asarray(np.maximum(0.0, total + F[..., -1] - 2.0 * common))
