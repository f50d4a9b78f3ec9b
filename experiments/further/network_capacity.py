"""At which line capacity does which line of the five regions become certain?

The ring 1-2-3-4-5-1 with plants at 1, 3 and 5 is dispatched without noise; all ten lines are
candidates. With wide lines only connectedness shows, and 644 networks explain every dispatch. The
lower the capacity, the more cuts bind, and the fewer networks remain. Samples whose demand the ring
cannot serve are drawn again, so every capacity sees the same number of samples. For the networks
that remain beside the ring the page says why: the cuts in which they differ from the ring, and how
close those cuts ever come to binding. Run it with
``python experiments/further/network_capacity.py``
(``--quick`` for fewer capacities and samples).
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from feaslearn import paper
from feaslearn.paper.datasets import CAPACITY, DEMANDS, PLANTS, PRICES, RING

TRUE = [tuple(sorted(line)) for line in RING]
CAPACITIES = (3.5, 3.0, 2.5, 2.25, 2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0)


class Step(NamedTuple):
    """What the data say at one capacity."""

    capacity: float
    data: paper.Data
    found: paper.LearnedNetwork


def dispatches(capacity: float, n_samples: int, seed: int) -> paper.Data:
    """Return dispatches of the ring, at signals that it can serve.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    n_samples : int
        How many samples to return.
    seed : int
        The seed.

    Returns
    -------
    Data
        One row for each sample.
    """
    rng = np.random.default_rng(seed)
    ring = paper.TransportNetwork(5, RING, capacity, PLANTS, CAPACITY)
    low, high = np.array([*PRICES, *DEMANDS]).T
    signals = np.empty((0, len(low)))
    while len(signals) < n_samples:
        drawn = rng.uniform(low, high, size=(n_samples, len(low)))
        signals = np.vstack([signals, drawn[ring.serves(drawn[:, 3:])]])
    signals = signals[:n_samples]
    costs = signals[:, :3]
    return paper.Data(signals, ring.solve(signals, costs), costs, range(3), ring)


def learn(capacity: float, n_samples: int, seed: int = 0) -> Step:
    """Learn the network at one capacity.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    n_samples : int
        How many samples to learn from.
    seed : int
        The seed.

    Returns
    -------
    Step
        What is certain.
    """
    data = dispatches(capacity, n_samples, seed)
    candidates = paper.TransportNetwork(5, None, capacity, PLANTS, CAPACITY)
    return Step(capacity, data, paper.learn_network(data, candidates))


def why_it_remains(step: Step, network: np.ndarray) -> list[str]:
    """Say in which cuts a network differs from the ring, and how much of them is ever used.

    Parameters
    ----------
    step : Step
        What was learned.
    network : ndarray of bool
        A network that remains.

    Returns
    -------
    list of str
        One line for each cut that differs.
    """
    lines = step.found.candidates.lines
    surplus = -step.data.signals[:, 3:]
    surplus[:, np.array(PLANTS) - 1] += step.data.decisions
    ring = [line in TRUE for line in lines]
    told = []
    for number in range(1, 16):  # half of the sets of nodes: a set and the rest have the same cut
        inside = [number >> node & 1 == 1 for node in range(5)]
        crossing = np.array([inside[a - 1] != inside[b - 1] for a, b in lines])
        counts = [int((crossing & chosen).sum()) for chosen in (ring, network)]
        if counts[0] != counts[1]:
            used = np.abs(surplus @ np.array(inside, dtype=float)).max() / step.capacity
            nodes = "".join(str(node + 1) for node in range(5) if inside[node])
            told.append(
                f"nodes {nodes}: {counts[0]} lines out in the ring, {counts[1]} here; at most "
                f"{used:.2f} lines' worth was ever sent"
            )
    return told


def run(capacities: tuple[float, ...], n_samples: int) -> list[Step]:
    """Learn the network at every capacity.

    Parameters
    ----------
    capacities : tuple of float
        The capacities.
    n_samples : int
        How many samples to learn from at each.

    Returns
    -------
    list of Step
        One for each capacity.
    """
    return [learn(capacity, n_samples) for capacity in capacities]


def main() -> None:
    """Print the table, and why what remains remains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    n_samples = 100 if quick else 300
    steps = run(CAPACITIES[::4] if quick else CAPACITIES, n_samples)
    print(f"{n_samples} samples, seed 0\ncapacity networks (fewest lines)  certain lines")
    before: set[tuple[int, int]] = set()
    for step in steps:
        found, certain = step.found, step.found.certain
        named = " ".join(f"{a}-{b}{'' if (a, b) in before else '*'}" for a, b in certain)
        sparsest = found.by_size[len(found.lines)]
        print(f"{step.capacity:>8.2f} {len(found.best):>8} ({sparsest})   {named or 'none'}")
        before |= set(certain)
    print("* certain for the first time")
    last = min(steps, key=lambda step: len(step.found.best))
    print(f"\nfewest networks, at capacity {last.capacity}:")
    for network in last.found.best:
        lines = last.found.named(network)
        is_ring = lines == sorted(TRUE)
        print(" ", " ".join(f"{a}-{b}" for a, b in lines), "(the ring)" if is_ring else "")
        for text in [] if is_ring else why_it_remains(last, network):
            print("     ", text)


if __name__ == "__main__":
    main()
