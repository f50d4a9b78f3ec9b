"""Noisy dispatches: the integer program against all 1024 networks.

Random instances of the five regions: the true lines are a random connected network, capacities are
such that lines bind, and the dispatches carry Gaussian noise. For the l1 norm of both losses the
integer program must find the least loss of all networks, the fewest lines of those, and the same
certain, impossible and undetermined lines. Run it with
``python experiments/further/network_noise.py``
(``--quick`` for two instances).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from feaslearn import paper
from feaslearn.paper.datasets import CAPACITY, DEMANDS, PLANTS, PRICES

N_SAMPLES, NOISE = 12, 0.2
LINES = [(i, j) for i in range(1, 6) for j in range(i + 1, 6)]


def instance(seed: int) -> tuple[paper.Data, paper.TransportNetwork]:
    """Return noisy dispatches and the candidate lines.

    Parameters
    ----------
    seed : int
        The seed.

    Returns
    -------
    data : Data
        The dispatches.
    candidates : TransportNetwork
        What is known of the network.
    """
    rng = np.random.default_rng(seed)
    low, high = np.array([*PRICES, *DEMANDS]).T
    while True:
        capacity = float(rng.uniform(1.2, 2.2))
        chosen = [line for line in LINES if rng.random() < 0.55]
        signals = rng.uniform(low, high, size=(N_SAMPLES, 8))
        network = paper.TransportNetwork(5, chosen, capacity, PLANTS, CAPACITY)
        if not network.serves(signals[:, 3:]).all():
            continue
        costs = signals[:, :3]
        dispatch = network.solve(signals, costs)
        noisy = dispatch + NOISE * rng.standard_normal(dispatch.shape)
        candidates = paper.TransportNetwork(5, None, capacity, PLANTS, CAPACITY)
        return paper.Data(signals, noisy, costs, range(3), network), candidates


def compare(seed: int, loss: str) -> dict[str, Any]:
    """Learn one instance in both ways.

    Parameters
    ----------
    seed : int
        The seed of the instance.
    loss : str
        The loss.

    Returns
    -------
    dict
        Both losses, whether all is the same, and the seconds of the integer program.
    """
    data, candidates = instance(seed)
    every = paper.baselines.enumerated_network(data, candidates, loss)
    began = time.perf_counter()
    found = paper.learn_network(data, candidates, loss, solver="milp", identify=False)
    seconds = time.perf_counter() - began
    classes = paper.learn_network(data, candidates, loss, solver="milp")
    return {
        "loss": found.loss,
        "enumerated": every.loss,
        "same loss": abs(found.loss - every.loss) < 1e-6 and abs(found.bound - every.loss) < 1e-6,
        "same lines": len(found.lines) == len(every.lines),
        "same classes": [classes.certain, classes.impossible, classes.undetermined]
        == [every.certain, every.impossible, every.undetermined],
        "seconds": seconds,
    }


def run(n_instances: int) -> list[dict[str, Any]]:
    """Compare on random instances, both losses each.

    Parameters
    ----------
    n_instances : int
        How many instances.

    Returns
    -------
    list of dict
        What `compare` said.
    """
    return [
        compare(seed, loss)
        for seed in range(n_instances)
        for loss in ("predictability", "suboptimality")
    ]


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rows = run(2 if parser.parse_args().quick else 20)
    for key in ("same loss", "same lines", "same classes"):
        print(f"{key:<13} {sum(row[key] for row in rows)} of {len(rows)}")
    seconds = np.array([row["seconds"] for row in rows])
    print(f"seconds of a fit: mean {seconds.mean():.1f}, spread {seconds.std():.1f}")


if __name__ == "__main__":
    main()
