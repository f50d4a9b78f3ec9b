"""Five regions, three plants and five lines."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from feaslearn.data import Decisions
from feaslearn.datasets._arguments import RandomState, check_common, check_room
from feaslearn.datasets.transport import TransportNetwork, check_network, make_power
from feaslearn.exceptions import DataError, Problems

PLANTS = (1, 3, 5)
RING = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1))
PRICES = [(0.2, 1.0), (0.2, 0.5), (1.0, 2.0)]
DEMANDS = [(0.3, 1.5), (0.36, 1.8), (0.42, 2.1), (0.48, 2.4), (0.54, 2.7)]


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
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    pairs = RING if lines is None else lines
    check_network(problems, 5, pairs, line_capacity, PLANTS, generator_capacity)
    problems.raise_if_any(DataError, "make_power5")
    check_room("make_power5", n_samples, 2 * len(PRICES) + len(DEMANDS))
    network = TransportNetwork(5, pairs, line_capacity, PLANTS, generator_capacity)
    return make_power(network, PRICES, DEMANDS, n_samples, draw)
