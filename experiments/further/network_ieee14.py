"""The fourteen nodes: 91 candidate lines, 2^91 networks, no noise.

Part one, 200 samples and lines of capacity 0.8, where at least five lines bind in at least a tenth
of the samples: a network of zero loss with the fewest lines, and the proof that there are none with
fewer. Part two: how many of the 20 true lines are certain, and how many of the 71 false ones are
impossible, as the capacity and the number of samples change; ``--plot FILE`` draws it. Signals
whose demand the true network cannot serve are drawn again. Run it with
``python experiments/further/network_ieee14.py`` (about ten minutes; ``--quick`` stops the proof
after 20 seconds and tries fewer capacities).
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

import feaslearn as fl
from feaslearn.datasets.power import IEEE_DEMANDS as DEMANDS
from feaslearn.datasets.power import IEEE_GENERATOR_CAPACITY as GENERATOR_CAPACITY
from feaslearn.datasets.power import IEEE_LINES as LINES
from feaslearn.datasets.power import IEEE_PLANTS as PLANTS
from feaslearn.datasets.power import IEEE_PRICES as PRICES

CAPACITY, N_SAMPLES, MAX_SECONDS = 0.8, 200, 570.0
CAPACITIES = (0.65, 0.7, 0.75, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0)
SIZES = (50, 200, 1000)


class Count(NamedTuple):
    """What is settled at one capacity and number of samples."""

    capacity: float
    n_samples: int
    certain: int
    impossible: int
    wrong: int
    unknown: int


def dispatches(capacity: float, n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return signals that the true network can serve, and its dispatches.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    n_samples : int
        How many samples.
    seed : int
        The seed.

    Returns
    -------
    signals, decisions : ndarray
        One row for each sample.
    """
    rng = np.random.default_rng(seed)
    truth = fl.datasets.TransportNetwork(14, LINES, capacity, PLANTS, GENERATOR_CAPACITY)
    low, high = np.array([*PRICES, *DEMANDS]).T
    signals = np.empty((0, len(low)))
    while len(signals) < n_samples:
        drawn = rng.uniform(low, high, size=(n_samples, len(low)))
        signals = np.vstack([signals, drawn[truth.serves(drawn[:, 3:])]])
    signals = signals[:n_samples]
    return signals, truth.dispatch(signals[:, 3:], signals[:, :3])


def binding_shares(capacity: float, signals: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Return in which share of the samples each true line is in a cut that is fully used.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    signals, decisions : ndarray
        The samples.

    Returns
    -------
    ndarray of shape (20,)
        The shares.
    """
    surplus = -signals[:, 3:]
    surplus[:, np.array(PLANTS) - 1] += decisions
    members = (np.arange(1, 2**13)[:, None] >> np.arange(14)) & 1
    ends = np.array(LINES) - 1
    crossing = members[:, ends[:, 0]] != members[:, ends[:, 1]]
    used = np.abs(surplus @ members.T)
    full = used > capacity * crossing.sum(axis=1) - 1e-7
    return (full.astype(float) @ crossing > 0).mean(axis=0)


def learner(capacity: float, max_seconds: float, prefer: str) -> fl.NetworkLearner:
    """Return a learner that knows all but the lines.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    max_seconds : float
        The time for each question.
    prefer : str
        Whether the network should have few lines.

    Returns
    -------
    NetworkLearner
        The learner.
    """
    return fl.NetworkLearner(
        14,
        PLANTS,
        generator_capacity=GENERATOR_CAPACITY,
        line_capacity=capacity,
        cost=[0, 1, 2],
        demand=range(3, 17),
        prefer=prefer,
        max_seconds=max_seconds,
    )


def sparsest(max_seconds: float) -> fl.NetworkLearner:
    """Learn a network with the fewest lines, and print what is proved of it.

    Parameters
    ----------
    max_seconds : float
        The time.

    Returns
    -------
    NetworkLearner
        The learner.
    """
    signals, decisions = dispatches(CAPACITY, N_SAMPLES)
    often = int((binding_shares(CAPACITY, signals, decisions) >= 0.1).sum())
    print(
        f"capacity {CAPACITY}, {N_SAMPLES} samples: {often} lines bind in a tenth of them or more"
    )
    model = learner(CAPACITY, max_seconds, "sparsest").fit(signals, decisions)
    least = model.result_.details["lower bound on lines"]
    print(
        f"{model.result_.status}: loss {model.loss_:.2g} (bound {model.bound_:.2g}), "
        f"{len(model.lines_)} lines (at least {least:.0f}), {model.result_.seconds:.0f} s"
    )
    return model


def count(capacity: float, n_samples: int, max_seconds: float) -> Count:
    """Count the lines that are settled.

    Parameters
    ----------
    capacity : float
        The most a line carries.
    n_samples : int
        How many samples.
    max_seconds : float
        The time for each question.

    Returns
    -------
    Count
        The counts; ``wrong`` must be zero.
    """
    signals, decisions = dispatches(capacity, n_samples)
    found = learner(capacity, max_seconds, "any").fit(signals, decisions).identify()
    certain, impossible, true = set(found.certain), set(found.impossible), set(LINES)
    return Count(
        capacity,
        n_samples,
        len(certain & true),
        len(impossible - true),
        len(certain - true) + len(impossible & true),
        len(found.unknown),
    )


def plot(counts: list[Count], path: str) -> None:
    """Draw the counts, without the points where time did not suffice for every line.

    Parameters
    ----------
    counts : list of Count
        What to draw.
    path : str
        The file to write.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharex=True, layout="constrained")
    for size in sorted({one.n_samples for one in counts}):
        rows = [one for one in counts if one.n_samples == size and not one.unknown]
        x = [one.capacity for one in rows]
        axes[0].plot(x, [one.certain for one in rows], "o-", label=f"{size} samples")
        axes[1].plot(x, [one.impossible for one in rows], "o-")
    axes[0].set_ylabel("true lines that are certain (of 20)")
    axes[1].set_ylabel("false lines that are impossible (of 71)")
    for ax in axes:
        ax.set_xlabel("line capacity")
        ax.set_ylim(bottom=-0.5)
    axes[0].legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--skip-proof", action="store_true", help="only the second part")
    parser.add_argument("--plot", metavar="FILE", help="where to draw the second part")
    options = parser.parse_args()
    if not options.skip_proof:
        sparsest(20.0 if options.quick else MAX_SECONDS)
    counts = []
    print("capacity samples  certain true  impossible false  wrong  not settled")
    for capacity in CAPACITIES[::4] if options.quick else CAPACITIES:
        for size in SIZES[:1] if options.quick else SIZES:
            counts.append(count(capacity, size, 60.0))
            one = counts[-1]
            print(
                f"{one.capacity:>8.2f} {one.n_samples:>7} {one.certain:>13} {one.impossible:>17} "
                f"{one.wrong:>6} {one.unknown:>12}",
                flush=True,
            )
    if options.plot:
        plot(counts, options.plot)


if __name__ == "__main__":
    main()
