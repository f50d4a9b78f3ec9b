"""Transport networks: plants that serve the demand of nodes at least cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.datasets._arguments import check_capacity
from feaslearn.datasets.forward_problem import check_same_length, check_table
from feaslearn.datasets.linear_program import AffineRows, LinearProgram
from feaslearn.exceptions import DataError, InfeasibleProblemError, Problems
from feaslearn.parameters import Integer, check_value
from feaslearn.solvers.highs import name_rows
from feaslearn.tolerances import CAPACITY_TOL

#: Most nodes and plants whose sets are enumerated, and entries that are held at once.
ENUMERATED_NODES, ENUMERATED_PLANTS = 16, 8
MAX_ENTRIES = 2**22

Ranges = list[tuple[float, float]]


class TransportNetwork:
    r"""Plants, lines of limited capacity, and a demand at each node that must be served.

    .. math:: \min_{x, z} c'x \quad \text{s.t.} \quad E x = B z + d,\; |z| \le f,\; 0 \le x \le C

    where ``z`` are the flows on the lines. The dispatches that some flows allow are the bases of a
    polymatroid: with

    .. math:: F(S) = \min_{T} \left[ d(T) + f(\delta T) + C(S \setminus T) \right]

    the most that the plants ``S`` can deliver (``T`` over all sets of nodes, ``f(δT)`` the capacity
    of the lines that leave ``T``), the plants are dispatched cheapest first, each up to the
    increment of ``F``. That is exact and needs no solver.

    Parameters
    ----------
    n_nodes : int
        Nodes are numbered 1 to ``n_nodes``.
    lines : sequence of (int, int)
        The two nodes of each line; flow goes either way. Parallel lines are allowed.
    line_capacity : float or array_like of shape (n_lines,)
        The most each line carries.
    plants : sequence of int
        The node of each plant.
    generator_capacity : float or array_like of shape (n_plants,)
        The most each plant delivers.

    References
    ----------
    Federgruen and Groenevelt, "Polymatroidal flow network models with multiple sinks", Networks 18,
    1988.

    Examples
    --------
    The cheap plant at node 1 serves its own node and, through the line, part of node 2.

    >>> from feaslearn.datasets import TransportNetwork
    >>> network = TransportNetwork(2, [(1, 2)], 0.5, plants=[1, 2], generator_capacity=3.0)
    >>> network.dispatch([[1.0, 2.0]], [[1.0, 5.0]])
    array([[1.5, 1.5]])
    """

    def __init__(
        self,
        n_nodes: int,
        lines: Sequence[tuple[int, int]],
        line_capacity: ArrayLike,
        plants: Sequence[int],
        generator_capacity: ArrayLike,
    ) -> None:
        problems = Problems()
        parts = check_network(problems, n_nodes, lines, line_capacity, plants, generator_capacity)
        problems.raise_if_any(DataError, "TransportNetwork")
        self.n_nodes = int(n_nodes)
        self.lines = parts.lines
        self.plants = parts.plants
        self.line_capacity = parts.line_capacity
        self.generator_capacity = parts.generator_capacity
        self._limits: dict[int, tuple[Array, Array]] = {}

    def __repr__(self) -> str:
        return (
            f"TransportNetwork({self.n_nodes} nodes, {len(self.lines)} lines, "
            f"plants at {list(self.plants)})"
        )

    def dispatch(self, demands: ArrayLike, costs: ArrayLike) -> Array:
        """Return the cheapest dispatch of each sample; of equal prices the first plant goes first.

        Parameters
        ----------
        demands : array_like of shape (N, n_nodes)
            The demand at each node, not negative.
        costs : array_like of shape (N, n_plants)
            The price of each plant.

        Returns
        -------
        ndarray of shape (N, n_plants)
            What each plant delivers.
        """
        problems = Problems()
        demand = check_table(problems, "demands", demands, self.n_nodes)
        cost = check_table(problems, "costs", costs, len(self.plants))
        check_same_length(problems, demands=demand, costs=cost)
        _check_not_negative(problems, demand)
        problems.raise_if_any(DataError, "TransportNetwork.dispatch")
        if not self._is_enumerated:
            return self.linear_program().solve(demand, cost)
        return self._cheapest_first(demand, cost)

    def serves(self, demands: ArrayLike) -> Mask:
        """Say which demands the plants can serve through the lines.

        Parameters
        ----------
        demands : array_like of shape (N, n_nodes)
            The demand at each node, not negative.

        Returns
        -------
        ndarray of bool, shape (N,)
            Whether each sample can be served.
        """
        problems = Problems()
        demand = check_table(problems, "demands", demands, self.n_nodes)
        _check_not_negative(problems, demand)
        problems.raise_if_any(DataError, "TransportNetwork.serves")
        if self._is_enumerated:
            total = demand.sum(axis=1)
            return np.asarray(self._most((1 << len(self.plants)) - 1, demand) >= _least(total))
        program, free = self.linear_program(), np.zeros((1, len(self.plants)))
        served = np.zeros(len(demand), dtype=bool)
        for row in range(len(demand)):
            with suppress(InfeasibleProblemError):
                program.solve(demand[row : row + 1], free)
                served[row] = True
        return served

    def linear_program(
        self, n_signals: int | None = None, demand_columns: Sequence[int] | None = None
    ) -> LinearProgram:
        """Return the network as a linear program whose hidden variables are the flows.

        Parameters
        ----------
        n_signals : int, optional
            How many signals there are; by default the demands and no others.
        demand_columns : sequence of int, optional
            The signal that holds the demand of each node; by default the last ``n_nodes``.

        Returns
        -------
        LinearProgram
            The forward problem.
        """
        n_signals = self.n_nodes if n_signals is None else n_signals
        if demand_columns is None:
            demand_columns = range(n_signals - self.n_nodes, n_signals)
        if len(demand_columns) != self.n_nodes or not all(
            0 <= column < n_signals for column in demand_columns
        ):
            raise DataError(
                f"demand_columns is {list(demand_columns)}, expected {self.n_nodes} columns "
                f"between 0 and {n_signals - 1}"
            )
        n_plants, n_lines = len(self.plants), len(self.lines)
        balance = np.zeros((self.n_nodes, n_plants + n_lines))
        balance[np.array(self.plants) - 1, np.arange(n_plants)] = 1.0
        ends = np.array(self.lines, dtype=int).reshape(n_lines, 2) - 1
        balance[ends[:, 0], n_plants + np.arange(n_lines)] = -1.0
        balance[ends[:, 1], n_plants + np.arange(n_lines)] = 1.0
        slope = np.zeros((self.n_nodes, n_signals))
        slope[np.arange(self.n_nodes), list(demand_columns)] = 1.0
        served = AffineRows(np.zeros(self.n_nodes), slope)
        lower = np.concatenate([np.zeros(n_plants), -self.line_capacity])
        upper = np.concatenate([self.generator_capacity, self.line_capacity])
        return LinearProgram(balance, served, served, lower, upper, n_plants)

    @property
    def _is_enumerated(self) -> bool:
        """Whether the sets of nodes and plants are few enough to enumerate."""
        return self.n_nodes <= ENUMERATED_NODES and len(self.plants) <= ENUMERATED_PLANTS

    def _cheapest_first(self, demands: Array, costs: Array) -> Array:
        """Dispatch the plants in the order of price, each up to the increment of F."""
        n_samples, n_plants = costs.shape
        order = np.argsort(costs, axis=1, kind="stable")
        # The first k plants in the order of price, as one bit for each plant.
        cheapest = np.cumsum(1 << order, axis=1)
        most = np.zeros((n_samples, n_plants + 1))
        for group in np.unique(cheapest):
            rows, last = np.nonzero(cheapest == group)
            most[rows, last + 1] = self._most(int(group), demands[rows])
        total = demands.sum(axis=1)
        unserved = np.flatnonzero(most[:, -1] < _least(total))
        if len(unserved):
            missing = (total - most[:, -1])[unserved].max()
            raise DataError(
                f"the demand cannot be served at {name_rows(unserved)} (up to {missing:.4g} is "
                "missing): raise the capacities, add lines or lower the demand"
            )
        dispatch = np.empty((n_samples, n_plants))
        np.put_along_axis(dispatch, order, np.diff(most, axis=1), axis=1)
        return np.clip(dispatch, 0.0, self.generator_capacity)

    def _most(self, group: int, demands: Array) -> Array:
        """Return F(S), the most that a group of plants can deliver, for each sample."""
        if group not in self._limits:
            self._limits[group] = self._binding_sets(group)
        members, capacity = self._limits[group]
        most = np.empty(len(demands))
        step = max(1, MAX_ENTRIES // len(capacity))
        for start in range(0, len(demands), step):
            rows = slice(start, start + step)
            most[rows] = (demands[rows] @ members.T + capacity).min(axis=1)
        return most

    @cached_property
    def _node_sets(self) -> tuple[Mask, Array]:
        """All sets of nodes as rows, and the capacity of the lines that leave each of them."""
        numbers = np.arange(1 << self.n_nodes)
        members = (numbers[:, None] >> np.arange(self.n_nodes)) & 1 == 1
        cut = np.zeros(len(numbers))
        for (first, second), capacity in zip(self.lines, self.line_capacity, strict=True):
            cut += capacity * (members[:, first - 1] != members[:, second - 1])
        return members, cut

    def _binding_sets(self, group: int) -> tuple[Array, Array]:
        """Return the sets T that can attain F(S), with what they add to ``d(T)``."""
        # Demands are not negative, so a set never beats a subset of it that adds no more.
        members, cut = self._node_sets
        adds = cut.copy()
        for plant, (node, capacity) in enumerate(
            zip(self.plants, self.generator_capacity, strict=True)
        ):
            if group >> plant & 1:
                adds += capacity * ~members[:, node - 1]
        numbers = np.arange(len(adds))
        least = adds.copy()
        best_subset = np.full(len(adds), np.inf)
        for node in range(self.n_nodes):
            # Subsets that lack a node so far; after all nodes, of every proper subset.
            has = members[:, node]
            without = numbers[has] ^ (1 << node)
            best_subset[has] = np.minimum(best_subset[has], least[without])
            least[has] = np.minimum(least[has], least[without])
        keep = adds < best_subset
        return members[keep].astype(np.float64), adds[keep]


def _least(total: Array) -> Array:
    """Return what plants must be able to deliver, up to rounding, to serve a total demand."""
    return np.asarray(total - CAPACITY_TOL * (1.0 + total))


def _check_not_negative(problems: Problems, demand: Array) -> None:
    """Add a problem for negative demands."""
    if len(negative := np.argwhere(demand < 0)):
        row, node = negative[0]
        problems.add(
            f"{len(negative)} demands are negative, the first at sample {row}, node {node + 1}"
            f" ({demand[row, node]:.4g}); a demand must be at least 0"
        )


class NetworkParts(NamedTuple):
    """Lines and plants by the numbers of their nodes, and the capacity of each of them."""

    lines: tuple[tuple[int, int], ...]
    plants: tuple[int, ...]
    line_capacity: Array
    generator_capacity: Array


def check_network(
    problems: Problems,
    n_nodes: int,
    lines: Sequence[tuple[int, int]],
    line_capacity: ArrayLike,
    plants: Sequence[int],
    generator_capacity: ArrayLike,
) -> NetworkParts:
    """Return the parts of a network; they are invalid where a problem was added."""
    if not check_value("n_nodes", n_nodes, Integer(1), problems):
        return NetworkParts((), (), np.empty(0), np.empty(0))
    pairs = _check_lines(problems, lines, n_nodes)
    nodes = _check_plants(problems, plants, n_nodes)
    return NetworkParts(
        pairs,
        nodes,
        check_capacity("line_capacity", line_capacity, len(pairs), "line", problems),
        check_capacity("generator_capacity", generator_capacity, len(nodes), "plant", problems),
    )


def _check_lines(
    problems: Problems, lines: Sequence[tuple[int, int]], n_nodes: int
) -> tuple[tuple[int, int], ...]:
    """Return the lines as pairs of nodes."""
    checked = []
    if not isinstance(lines, Iterable):
        problems.add(f"lines is {lines!r}, expected pairs of node numbers")
        return ()
    for line in lines:
        try:
            first, second = (index(node) for node in line)
        except (TypeError, ValueError):
            problems.add(f"line {line!r} is not a pair of node numbers")
            continue
        outside = [node for node in (first, second) if not 1 <= node <= n_nodes]
        if outside:
            problems.add(f"line {first}-{second} names node {outside[0]}; nodes are 1 to {n_nodes}")
        elif first == second:
            problems.add(f"line {first}-{second} joins a node to itself")
        checked.append((first, second))
    return tuple(checked)


def _check_plants(problems: Problems, plants: Sequence[int], n_nodes: int) -> tuple[int, ...]:
    """Return the nodes of the plants."""
    if not len(plants):
        problems.add("plants is empty; name the node of at least one plant")
    for node in plants:
        if not 1 <= node <= n_nodes:
            problems.add(f"a plant is at node {node}; nodes are 1 to {n_nodes}")
    return tuple(int(node) for node in plants)
