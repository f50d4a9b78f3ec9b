"""The linear policy on the two power networks: what a learned region has to beat.

100 decisions to learn from, 200 to test on, twenty seeds. The loss is the mean over the test rows
of the squared distance between the decision and the policy's. Run it with
``python experiments/linear_policy.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

import feaslearn as fl

N_TRAIN, N_TEST = 100, 200
DATA = {"power5": fl.datasets.make_power5, "ieee14": fl.datasets.make_ieee14}
EXPECTED = {"power5": "0.54 +- 0.08", "ieee14": "0.39 +- 0.06"}


def run(seeds: Iterable[int]) -> dict[str, np.ndarray]:
    """Return the test loss of each seed by the name of the data set.

    Parameters
    ----------
    seeds : iterable of int
        The seeds, one data set each.

    Returns
    -------
    dict of str to ndarray of shape (n_seeds,)
        The mean squared losses.
    """
    seeds = list(seeds)
    return {name: np.array([_loss(make, seed) for seed in seeds]) for name, make in DATA.items()}


def _loss(make: Callable[..., fl.Decisions], seed: int) -> float:
    data = make(n_samples=N_TRAIN + N_TEST, random_state=seed)
    train, test = data[:N_TRAIN], data[N_TRAIN:]
    policy = fl.baselines.LinearPolicy().fit(train.signals, train.decisions)
    errors = policy.predict(test.signals) - test.decisions
    return float((errors**2).sum(axis=1).mean())


def main() -> None:
    """Print the table."""
    losses = run(range(20))
    print(f"{'data':<8} {'mean':>7} {'std':>7}   expected")
    for name, values in losses.items():
        print(f"{name:<8} {values.mean():>7.3f} {values.std():>7.3f}   {EXPECTED[name]}")


if __name__ == "__main__":
    main()
