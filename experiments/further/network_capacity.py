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

import feaslearn as fl
from feaslearn.datasets.power import DEMANDS, PLANTS, PRICES, RING

TRUE = [tuple(sorted(line)) for line in RING]
CAPACITIES = (3.5, 3.0, 2.5, 2.25, 2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0)
GENERATOR_CAPACITY = 3.5


class Step(NamedTuple):
    """What the data say at one capacity."""

    learner: fl.NetworkLearner
    capacity: float
    certain: list[tuple[int, int]]
    impossible: list[tuple[int, int]]
    n_networks: int
    n_sparsest: int
    remaining: np.ndarray
    lines: list[tuple[int, int]]


def dispatches(capacity: float, n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return signals that the ring can serve, and its dispatches.

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
    signals, decisions : ndarray
        One row for each sample.
    """
    rng = np.random.default_rng(seed)
    ring = fl.datasets.TransportNetwork(5, RING, capacity, PLANTS, GENERATOR_CAPACITY)
    low, high = np.array([*PRICES, *DEMANDS]).T
    signals = np.empty((0, len(low)))
    while len(signals) < n_samples:
        drawn = rng.uniform(low, high, size=(n_samples, len(low)))
        signals = np.vstack([signals, drawn[ring.serves(drawn[:, 3:])]])
    signals = signals[:n_samples]
    return signals, ring.dispatch(signals[:, 3:], signals[:, :3])


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
    signals, decisions = dispatches(capacity, n_samples, seed)
    learner = fl.NetworkLearner(
        5,
        PLANTS,
        generator_capacity=GENERATOR_CAPACITY,
        line_capacity=capacity,
        cost=[0, 1, 2],
        demand=range(3, 8),
    ).fit(signals, decisions)
    found = learner.identify()
    return Step(
        learner,
        capacity,
        found.certain,
        found.impossible,
        found.n_networks[0],
        found.by_size[len(learner.lines_)],
        found.networks,
        learner.candidate_lines_,
    )


def why_it_remains(step: Step, network: np.ndarray, n_samples: int, seed: int = 0) -> list[str]:
    """Say in which cuts a network differs from the ring, and how much of them is ever used.

    Parameters
    ----------
    step : Step
        What was learned.
    network : ndarray of bool
        A network that remains.
    n_samples, seed : int
        The samples it was learned from.

    Returns
    -------
    list of str
        One line for each cut that differs.
    """
    signals, decisions = dispatches(step.capacity, n_samples, seed)
    surplus = -signals[:, 3:]
    surplus[:, np.array(PLANTS) - 1] += decisions
    ring = [line in TRUE for line in step.lines]
    told = []
    for number in range(1, 16):  # half of the sets of nodes: a set and the rest have the same cut
        inside = [number >> node & 1 == 1 for node in range(5)]
        crossing = np.array([inside[a - 1] != inside[b - 1] for a, b in step.lines])
        counts = [int((crossing & lines).sum()) for lines in (ring, network)]
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
        named = " ".join(f"{a}-{b}{'' if (a, b) in before else '*'}" for a, b in step.certain)
        print(f"{step.capacity:>8.2f} {step.n_networks:>8} ({step.n_sparsest})   {named or 'none'}")
        before |= set(step.certain)
    print("* certain for the first time")
    last = min(steps, key=lambda step: step.n_networks)
    print(f"\nfewest networks, at capacity {last.capacity}:")
    for network in last.remaining:
        lines = [line for line, is_one in zip(last.lines, network, strict=True) if is_one]
        is_ring = lines == sorted(TRUE)
        print(" ", " ".join(f"{a}-{b}" for a, b in lines), "(the ring)" if is_ring else "")
        for text in [] if is_ring else why_it_remains(last, network, n_samples):
            print("     ", text)
    for widen in (1.0, 1.5, 2.0):
        best = last.learner.next_signal(n_draws=2000, widen=widen)
        print(
            f"best of 2000 signals from {widen} times the range seen: {best.n_answers} different "
            f"answers, {best.expected_left:.2f} networks left on average"
        )


if __name__ == "__main__":
    main()
