"""Power networks of the paper: five regions in a ring, and the IEEE test system of 14 nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from feaslearn.data import Decisions, Names
from feaslearn.datasets._arguments import RandomState, check_common, uniform
from feaslearn.datasets.transport import TransportNetwork, check_network
from feaslearn.exceptions import DataError, Problems

Ranges = list[tuple[float, float]]

PLANTS = (1, 3, 5)
RING = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1))
PRICES = [(0.2, 1.0), (0.2, 0.5), (1.0, 2.0)]
DEMANDS = [(0.3, 1.5), (0.36, 1.8), (0.42, 2.1), (0.48, 2.4), (0.54, 2.7)]
#: The IEEE test system.
IEEE_PLANTS = (2, 8, 13)
IEEE_PRICES = [(0.2, 0.5), (1.0, 2.0), (0.2, 1.0)]
IEEE_LINE_CAPACITY = 3.0
IEEE_GENERATOR_CAPACITY = 3.6
IEEE_LINES = (
    (1, 2),
    (1, 5),
    (2, 3),
    (2, 4),
    (2, 5),
    (3, 4),
    (4, 5),
    (4, 7),
    (4, 9),
    (5, 6),
    (6, 11),
    (6, 12),
    (6, 13),
    (7, 8),
    (7, 9),
    (9, 10),
    (9, 14),
    (10, 11),
    (12, 13),
    (13, 14),
)
IEEE_DEMANDS = [
    (0.14, 0.7),
    (0.14, 0.7),
    (0.16, 0.8),
    (0.16, 0.8),
    (0.14, 0.7),
    (0.1, 0.5),
    (0.16, 0.8),
    (0.54, 2.7),
    (0.1, 0.2),
    (0.12, 0.6),
    (0.12, 0.6),
    (0.1, 0.5),
    (0.1, 0.5),
    (0.12, 0.6),
]


def make_power5(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
    lines: Sequence[tuple[int, int]] | None = None,
    line_capacity: ArrayLike = 3.5,
    generator_capacity: ArrayLike = 3.5,
) -> Decisions:
    """Make cheapest dispatches of three plants that serve five regions.

    ``min { c'x : E x = B z + d, |z| <= f, 0 <= x <= C }`` with flows z on the lines.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.
    lines : sequence of (int, int), optional
        The lines between regions 1 to 5; by default the ring 1-2-3-4-5-1.
    line_capacity : float or array_like, default 3.5
        The most a line carries, for all lines or for each.
    generator_capacity : float or array_like, default 3.5
        The most a plant delivers, for all plants or for each.

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
    network = (5, RING if lines is None else lines, line_capacity, PLANTS, generator_capacity)
    draws = (n_samples, noise, signal_noise, random_state)
    return _make_power("make_power5", network, PRICES, DEMANDS, *draws)


def make_ieee14(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
    line_capacity: ArrayLike = IEEE_LINE_CAPACITY,
) -> Decisions:
    """Make cheapest dispatches of three plants in the IEEE 14-node network.

    ``min { c'x : E x = B z + d, |z| <= f, 0 <= x <= 3.6 }`` with flows z on the lines.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.
    line_capacity : float or array_like, default 3.0
        The most a line carries, for all lines or for each.

    Returns
    -------
    Decisions
        Plants in the order of their nodes 2, 8 and 13. Signals ``cost_2`` (uniform on [.2, .5]),
        ``cost_8`` ([1, 2]), ``cost_13`` ([.2, 1]) and ``demand_1`` to ``demand_14``; decisions
        ``plant_2``, ``plant_8``, ``plant_13``; the network as ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_ieee14
    >>> data = make_ieee14(n_samples=4, random_state=0)
    >>> data.names.decisions
    ('plant_2', 'plant_8', 'plant_13')
    >>> data.signals.shape
    (4, 17)
    """
    network = (14, IEEE_LINES, line_capacity, IEEE_PLANTS, IEEE_GENERATOR_CAPACITY)
    draws = (n_samples, noise, signal_noise, random_state)
    return _make_power("make_ieee14", network, IEEE_PRICES, IEEE_DEMANDS, *draws)


def _make_power(
    owner: str,
    parts: tuple[Any, ...],
    price_ranges: Ranges,
    demand_ranges: Ranges,
    n_samples: int,
    noise: float,
    signal_noise: float,
    random_state: RandomState,
) -> Decisions:
    """Draw prices and demands, dispatch the plants and name everything by its node."""
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    check_network(problems, *parts)
    problems.raise_if_any(DataError, owner)
    n_plants, n_signals = len(price_ranges), len(price_ranges) + len(demand_ranges)
    network = TransportNetwork(*parts)
    signals = uniform(draw.streams.signals, n_samples, [*price_ranges, *demand_ranges])
    decisions = network.dispatch(signals[:, n_plants:], signals[:, :n_plants])
    costs = [f"cost_{node}" for node in network.plants]
    demands = [f"demand_{node}" for node in range(1, network.n_nodes + 1)]
    names = Names((*costs, *demands), tuple(f"plant_{node}" for node in network.plants))
    program = network.linear_program(n_signals)
    return draw.observed(signals, decisions, costs, names, program)
