"""The fourteen nodes and twenty lines of the IEEE test system, with three plants."""

from __future__ import annotations

from numpy.typing import ArrayLike

from feaslearn.data import Decisions
from feaslearn.datasets._arguments import RandomState, check_common, check_room
from feaslearn.datasets.transport import TransportNetwork, check_network, make_power
from feaslearn.exceptions import DataError, Problems

PLANTS = (2, 8, 13)
PRICES = [(0.2, 0.5), (1.0, 2.0), (0.2, 1.0)]
LINE_CAPACITY = 3.0
GENERATOR_CAPACITY = 3.6
LINES = (
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
DEMANDS = [
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


def make_ieee14(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
    line_capacity: ArrayLike = LINE_CAPACITY,
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
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    check_network(problems, 14, LINES, line_capacity, PLANTS, GENERATOR_CAPACITY)
    problems.raise_if_any(DataError, "make_ieee14")
    check_room("make_ieee14", n_samples, 2 * len(PRICES) + len(DEMANDS))
    network = TransportNetwork(14, LINES, line_capacity, PLANTS, GENERATOR_CAPACITY)
    return make_power(network, PRICES, DEMANDS, n_samples, draw)
