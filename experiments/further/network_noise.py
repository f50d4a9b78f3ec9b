"""Noisy dispatches: the integer program against all 1024 networks.

Random instances of the five regions: the true lines are a random connected network, capacities are
such that lines bind, and the dispatches carry Gaussian noise. For the l1 norm of both losses the
integer program must find the least loss of all networks, the fewest lines of those, and the same
certain, impossible and undetermined lines. Then, for one of them, the loss against the number of
lines and the bootstrap frequency of each line. Run it with
``python experiments/further/network_noise.py``
(``--quick`` for two instances).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import feaslearn as fl
from feaslearn.datasets.power import DEMANDS, PLANTS, PRICES

N_SAMPLES, NOISE = 12, 0.2
LINES = [(i, j) for i in range(1, 6) for j in range(i + 1, 6)]


def instance(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return signals, noisy dispatches and the arguments of a learner.

    Parameters
    ----------
    seed : int
        The seed.

    Returns
    -------
    signals, decisions : ndarray
        One row for each sample.
    arguments : dict
        What is known of the network.
    """
    rng = np.random.default_rng(seed)
    low, high = np.array([*PRICES, *DEMANDS]).T
    while True:
        capacity = float(rng.uniform(1.2, 2.2))
        chosen = [line for line in LINES if rng.random() < 0.55]
        signals = rng.uniform(low, high, size=(N_SAMPLES, 8))
        network = fl.datasets.TransportNetwork(5, chosen, capacity, PLANTS, 3.5)
        if not network.serves(signals[:, 3:]).all():
            continue
        dispatch = network.dispatch(signals[:, 3:], signals[:, :3])
        arguments = {
            "nodes": 5,
            "generators": PLANTS,
            "generator_capacity": 3.5,
            "line_capacity": capacity,
            "cost": [0, 1, 2],
            "demand": range(3, 8),
        }
        return signals, dispatch + NOISE * rng.standard_normal(dispatch.shape), arguments


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
    signals, decisions, arguments = instance(seed)
    everything = fl.baselines.EnumeratedNetwork(**arguments, loss=loss).fit(signals, decisions)
    began = time.perf_counter()
    learner = fl.NetworkLearner(**arguments, loss=loss, solver="milp").fit(signals, decisions)
    seconds = time.perf_counter() - began
    found = learner.identify()
    always, ever = everything.best_.all(axis=0), everything.best_.any(axis=0)
    expected = [
        [line for line, is_one in zip(everything.candidate_lines_, one, strict=True) if is_one]
        for one in (always, ~ever, ever & ~always)
    ]
    return {
        "loss": learner.loss_,
        "enumerated": everything.loss_,
        "same loss": abs(learner.loss_ - everything.loss_) < 1e-6
        and abs(learner.bound_ - everything.loss_) < 1e-6,
        "same lines": len(learner.lines_) == len(everything.lines_),
        "same classes": [found.certain, found.impossible, found.undetermined] == expected,
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
    """Print the comparison, one curve and one bootstrap."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rows = run(2 if parser.parse_args().quick else 20)
    for key in ("same loss", "same lines", "same classes"):
        print(f"{key:<13} {sum(row[key] for row in rows)} of {len(rows)}")
    seconds = np.array([row["seconds"] for row in rows])
    print(f"seconds of a fit: mean {seconds.mean():.1f}, spread {seconds.std():.1f}")
    signals, decisions, arguments = instance(0)
    learner = fl.NetworkLearner(**arguments).fit(signals, decisions)
    curve = learner.loss_curve()
    told = ", ".join(
        f"{k}: {loss:.3f}" for k, loss in zip(curve.n_lines, curve.losses, strict=True)
    )
    print(f"least loss with at most k lines (seed 0): {told}; elbow at {curve.elbow()}")
    shares = learner.bootstrap(200, random_state=0)
    told = ", ".join(f"{a}-{b} {share:.2f}" for (a, b), share in shares.items())
    print(f"share of 200 bootstrap draws with each line: {told}")


if __name__ == "__main__":
    main()
