"""A power network: three plants and five regions in a ring."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.data import Decisions, Names
from feaslearn.datasets._arguments import RandomState, check_capacity, check_common, uniform
from feaslearn.datasets.linear_program import AffineRows, LinearProgram
from feaslearn.exceptions import DataError, Problems
from feaslearn.solvers.highs import name_rows
from feaslearn.tolerances import CAPACITY_TOL

Ranges = list[tuple[float, float]]

#: Entries that are held at once.
MAX_ENTRIES = 2**22

PLANTS = (1, 3, 5)
#: The most a plant delivers.
CAPACITY = 3.5
RING = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1))
PRICES = [(0.2, 1.0), (0.2, 0.5), (1.0, 2.0)]
DEMANDS = [(0.3, 1.5), (0.36, 1.8), (0.42, 2.1), (0.48, 2.4), (0.54, 2.7)]


def make_power5(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    line_capacity: ArrayLike = 3.5,
) -> Decisions:
    """Make cheapest dispatches of three plants that serve five regions.

    ``min { c'x : E x = B z + d, |z| <= f, 0 <= x <= 3.5 }`` with flows z on the lines.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    line_capacity : float or array_like, default 3.5
        The most a line carries, for all lines or for each.

    Returns
    -------
    Decisions
        Signals ``cost_1``, ``cost_3``, ``cost_5`` (uniform on [.2, 1], [.2, .5], [1, 2]) and
        ``demand_1`` to ``demand_5`` (uniform on [.3, 1.5], [.36, 1.8], [.42, 2.1], [.48, 2.4],
        [.54, 2.7]); decisions ``plant_1``, ``plant_3``, ``plant_5``; the network as ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_power5
    >>> data = make_power5(n_samples=4, random_state=0)
    >>> data.names.decisions
    ('plant_1', 'plant_3', 'plant_5')
    >>> bool((data.forward.distance_to_feasible(data.decisions, data.signals) < 1e-7).all())
    True
    """
    network = Network(5, RING, line_capacity, PLANTS, CAPACITY)
    draws = (n_samples, noise, random_state)
    return _make_power("make_power5", network, PRICES, DEMANDS, *draws)


def _make_power(
    owner: str,
    network: Network,
    price_ranges: Ranges,
    demand_ranges: Ranges,
    n_samples: int,
    noise: float,
    random_state: RandomState,
) -> Decisions:
    """Draw prices and demands, dispatch the plants and name everything by its node."""
    problems = Problems()
    draw = check_common(problems, n_samples, noise, random_state)
    lines = network.lines
    capacity = check_capacity("line_capacity", network.line_capacity, len(lines), "line", problems)
    problems.raise_if_any(DataError, owner)
    network.line_capacity = capacity
    n_plants, n_signals = len(price_ranges), len(price_ranges) + len(demand_ranges)
    signals = uniform(draw.streams.signals, n_samples, [*price_ranges, *demand_ranges])
    decisions = network.dispatch(signals[:, n_plants:], signals[:, :n_plants])
    costs = [f"cost_{node}" for node in network.plants]
    demands = [f"demand_{node}" for node in range(1, network.n_nodes + 1)]
    names = Names((*costs, *demands), tuple(f"plant_{node}" for node in network.plants))
    return draw.observed(signals, decisions, costs, names, network.linear_program(n_signals))


# Networks.


@dataclass(eq=False)
class Network:
    r"""Plants, lines of limited capacity, and a demand at each node that must be served.

    .. math:: \min_{x, z} c'x \quad \text{s.t.} \quad E x = B z + d,\; |z| \le f,\; 0 \le x \le C

    where ``z`` are the flows on the lines. The dispatches that some flows allow are the bases of a
    polymatroid (Federgruen and Groenevelt, Networks 18, 1988): with

    .. math:: F(S) = \min_{T} \left[ d(T) + f(\delta T) + C |S \setminus T| \right]

    the most that the plants ``S`` can deliver (``T`` over all sets of nodes, ``f(δT)`` the capacity
    of the lines that leave ``T``), the plants are dispatched cheapest first, each up to the
    increment of ``F``. That is exact and needs no solver.
    """

    n_nodes: int
    lines: tuple[tuple[int, int], ...]
    line_capacity: ArrayLike
    plants: tuple[int, ...]
    capacity: float
    _limits: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    def linear_program(self, n_signals: int) -> LinearProgram:
        """Return the network with flows as hidden variables; demands are the last signals."""
        n_plants, n_lines = len(self.plants), len(self.lines)
        balance = np.zeros((self.n_nodes, n_plants + n_lines))
        balance[np.array(self.plants) - 1, np.arange(n_plants)] = 1.0
        ends = np.array(self.lines) - 1
        balance[ends[:, 0], n_plants + np.arange(n_lines)] = -1.0
        balance[ends[:, 1], n_plants + np.arange(n_lines)] = 1.0
        slope = np.eye(self.n_nodes, n_signals, n_signals - self.n_nodes)
        served = AffineRows(np.zeros(self.n_nodes), slope)
        most = np.asarray(self.line_capacity, dtype=float)
        lower = np.concatenate([np.zeros(n_plants), -most])
        upper = np.concatenate([np.full(n_plants, self.capacity), most])
        return LinearProgram(balance, served, served, lower, upper, n_plants)

    def dispatch(self, demands: Array, costs: Array) -> Array:
        """Return the cheapest dispatches; of equal prices the first plant goes first."""
        n_samples, n_plants = costs.shape
        order = np.argsort(costs, axis=1, kind="stable")
        # The first k plants in the order of price, as one bit for each plant.
        cheapest = np.cumsum(1 << order, axis=1)
        most = np.zeros((n_samples, n_plants + 1))
        for group in np.unique(cheapest):
            rows, last = np.nonzero(cheapest == group)
            most[rows, last + 1] = self._most(int(group), demands[rows])
        total = demands.sum(axis=1)
        unserved = np.flatnonzero(most[:, -1] < total - CAPACITY_TOL * (1.0 + total))
        if len(unserved):
            missing = (total - most[:, -1])[unserved].max()
            raise DataError(
                f"the demand cannot be served at {name_rows(unserved)} (up to {missing:.4g} is "
                "missing): raise line_capacity"
            )
        dispatch = np.empty((n_samples, n_plants))
        np.put_along_axis(dispatch, order, np.diff(most, axis=1), axis=1)
        return np.clip(dispatch, 0.0, self.capacity)

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
        for (first, second), capacity in zip(
            self.lines, np.asarray(self.line_capacity), strict=True
        ):
            cut += capacity * (members[:, first - 1] != members[:, second - 1])
        return members, cut

    def _binding_sets(self, group: int) -> tuple[Array, Array]:
        """Return the sets T that can attain F(S), with what they add to ``d(T)``."""
        # Demands are not negative, so a set never beats a subset of it that adds no more.
        members, cut = self._node_sets
        adds = cut.copy()
        for plant, node in enumerate(self.plants):
            if group >> plant & 1:
                adds += self.capacity * ~members[:, node - 1]
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
