"""Which hypothesis under noise, outliers and few rows? Mean squared loss on noiseless test rows.

Five regions (power5) of which only dispatch is seen; 200 rows to test on, mean and standard
deviation over ten seeds (three for the default, which tries several). *Noise*: Gaussian with
deviation 0.2 on every decision. *Outliers*: one row in twenty has its decisions shuffled. Losses
are those of the true decisions, so noise on test rows does not count. It prints a table in
Markdown, which the guide to hypotheses shows.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import feaslearn as fl

N_TEST = 200
Make = Callable[[fl.Decisions, int], Any]


def region(hypothesis: Any = None, **options: Any) -> Make:
    """Return what makes a model of a hypothesis."""
    return lambda data, seed: fl.RegionRegressor(
        hypothesis, cost=data.cost, random_state=seed, **options
    )


MODELS: dict[str, Make] = {
    "`RegionRegressor(cost=...)`": region(),
    "`Facets()`": region(fl.Facets()),
    "`Affine(Simplex(9))`": region(fl.Affine(fl.Simplex(9))),
    "`Minkowski.hypersimplices(3)`": region(fl.Minkowski.hypersimplices(3)),
    "the same, `Convex(robust=True)`": region(
        fl.Minkowski.hypersimplices(3), trainer=fl.trainers.Convex(robust=True)
    ),
    "linear policy": region(fl.Affine(fl.Simplex(1))),
}
CASES = {"100 rows": (100, 0.0, 0.0), "noise": (100, 0.2, 0.0), "outliers": (100, 0.0, 0.05)}
CASES |= {"20 rows": (20, 0.0, 0.0)}


def make(count: int, noise: float, outliers: float, seed: int) -> tuple[fl.Decisions, fl.Decisions]:
    """Return training rows as asked for, and test rows without noise."""
    data = fl.datasets.make_power5(count + N_TEST, random_state=seed)
    rng = np.random.default_rng(1000 + seed)
    train, test = data[:count], data[count:]
    decisions = train.decisions + noise * rng.normal(size=train.decisions.shape)
    for row in rng.permutation(count)[: round(outliers * count)]:
        decisions[row] = rng.permutation(decisions[row])
    return fl.Decisions.from_arrays(train.signals, decisions, cost=data.cost), test


def measure(name: str, case: str, seeds: range) -> tuple[float, float, float]:
    """Return mean and deviation of the loss, and the mean processor seconds of a fit."""
    found = []
    for seed in seeds:
        train, test = make(*CASES[case], seed)
        model = MODELS[name](train, seed)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is warned of shows in the loss
            model.fit(train.signals, train.decisions)
        seconds = time.process_time() - began
        missed = model.predict(test.signals) - test.decisions
        found.append((float((missed**2).sum(axis=1).mean()), seconds))
    losses, seconds_each = np.array(found).T
    return float(losses.mean()), float(losses.std()), float(np.median(seconds_each))


def main() -> None:
    """Print the table."""
    quick = "--quick" in sys.argv[1:]
    print("| | " + " | ".join(CASES) + " | seconds a fit |")
    print("|---|" + "---:|" * (len(CASES) + 1))
    for name in MODELS:
        seeds = range(1 if quick else 3 if "RegionRegressor" in name else 10)
        found = [measure(name, case, seeds) for case in CASES]
        cells = [f"{mean:.3f} ± {deviation:.3f}" for mean, deviation, _ in found]
        print(f"| {name} | " + " | ".join([*cells, f"{found[0][2]:.2f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
