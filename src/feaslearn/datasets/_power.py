"""What the two power networks share: from random prices and demands to a data set."""

from __future__ import annotations

import numpy as np

from feaslearn.data import Decisions, Names
from feaslearn.datasets._arguments import Streams, noisy, uniform
from feaslearn.datasets.transport import TransportNetwork

Ranges = list[tuple[float, float]]


def make_power(
    network: TransportNetwork,
    price_ranges: Ranges,
    demand_ranges: Ranges,
    n_samples: int,
    noise: float,
    signal_noise: float,
    streams: Streams,
) -> Decisions:
    """Draw prices and demands, dispatch the plants and name everything by its node.

    Parameters
    ----------
    network : TransportNetwork
        The network.
    price_ranges, demand_ranges : list of (low, high)
        The range of each plant's price and of each node's demand.
    n_samples : int
        How many decisions to make.
    noise, signal_noise : float
        The standard deviations of the noise on decisions and on observed signals.
    streams : Streams
        Where the randomness comes from.

    Returns
    -------
    Decisions
        The data set.
    """
    n_plants, n_signals = len(price_ranges), len(price_ranges) + len(demand_ranges)
    signals = uniform(streams.signals, n_samples, [*price_ranges, *demand_ranges])
    decisions = network.dispatch(signals[:, n_plants:], signals[:, :n_plants])
    costs = [f"cost_{node}" for node in network.plants]
    demands = [f"demand_{node}" for node in range(1, network.n_nodes + 1)]
    return Decisions.from_arrays(
        noisy(signals, signal_noise, streams.signal_noise),
        noisy(decisions, noise, streams.decision_noise),
        costs,
        names=Names((*costs, *demands), tuple(f"plant_{node}" for node in network.plants)),
        forward=network.linear_program(n_signals, np.arange(n_plants, n_signals).tolist()),
    )
