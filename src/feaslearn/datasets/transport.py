"""Transport networks: plants that serve the demand of nodes at least cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError, Problems
from feaslearn.parameters import Integer, check_capacity, check_value
from feaslearn.problem import AffineRows, LinearProgram
from feaslearn.problem.forward_problem import check_same_length, check_table
from feaslearn.solvers.highs import name_rows
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import OPTIMAL


class TransportNetwork:
    r"""Plants, lines of limited capacity, and a demand at each node that must be served.

    .. math:: \min_{x, z} c'x \quad \text{s.t.} \quad E x = B z + d,\; |z| \le f,\; 0 \le x \le C

    where ``z`` are the flows on the lines. The dispatches that some flows allow are the bases of a
    polymatroid, so that only the order of the prices matters: plants are dispatched cheapest first.

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
        served, dispatch = self._solve(
            demand, np.argsort(np.argsort(cost, kind="stable")).astype(float)
        )
        unserved = np.flatnonzero(~served)
        if len(unserved):
            raise DataError(
                f"the demand cannot be served at {name_rows(unserved)} (together "
                f"{demand[unserved[0]].sum():.4g} in the first of them, plants up to "
                f"{self.generator_capacity.sum():.4g}): raise the capacities, add lines or lower "
                "the demand"
            )
        return dispatch

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
        return self._solve(demand, np.zeros((len(demand), len(self.plants))))[0]

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
        slope = np.zeros((self.n_nodes, n_signals))
        slope[np.arange(self.n_nodes), list(demand_columns)] = 1.0
        served = AffineRows(np.zeros(self.n_nodes), slope)
        return LinearProgram(self._balance, served, served, *self._bounds, len(self.plants))

    @property
    def _balance(self) -> Array:
        """What plants and flows bring to each node, (nodes, plants and lines)."""
        n_plants, lines = len(self.plants), np.arange(len(self.lines)) + len(self.plants)
        balance = np.zeros((self.n_nodes, n_plants + len(lines)))
        balance[np.array(self.plants) - 1, np.arange(n_plants)] = 1.0
        ends = np.array(self.lines, dtype=int).reshape(len(lines), 2) - 1
        balance[ends[:, 0], lines] = -1.0
        balance[ends[:, 1], lines] = 1.0
        return balance

    @property
    def _bounds(self) -> tuple[Array, Array]:
        """The least and the greatest output of each plant and flow on each line."""
        lower = np.concatenate([np.zeros(len(self.plants)), -self.line_capacity])
        return lower, np.concatenate([self.generator_capacity, self.line_capacity])

    def _solve(self, demands: Array, costs: Array) -> tuple[Mask, Array]:
        """Return where demands can be served, and the dispatches of least cost."""
        lower, upper = (np.tile(side, (len(demands), 1)) for side in self._bounds)
        padded = np.zeros(lower.shape)
        padded[:, : len(self.plants)] = costs
        none = np.zeros(self.n_nodes)
        found = solve_programs(self._balance, Limits(demands, lower, upper), padded, none)
        return found.status == OPTIMAL, found.decisions[:, : len(self.plants)].copy()


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
