"""Do bands of 90 % hold what the same class says when it is fitted to 100 000 samples?

Decisions with noise 0.2; each repetition fits a model to a fresh data set, makes bands around its
decisions at 200 new signals, and counts those that hold the decision of the large fit. Three
cases: power5 with Minkowski sums whose scales must not be negative on the training rows, power5
with scales that are not negative on the whole range of the features, and the l1 ball.

    python benchmarks/coverage.py [--quick] [--samples N] [--refits B]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import feaslearn as fl
from feaslearn.hypotheses import Hypothesis

KINDS = ("bias-aware", "normal", "percentile", "basic")
LARGE, TESTED = 100_000, 200
CASES: dict[str, tuple[Callable[[int, int], fl.Decisions], Hypothesis]] = {
    "power5": (
        lambda count, seed: fl.datasets.make_power5(count, noise=0.2, random_state=seed),
        fl.Minkowski.hypersimplices(3),
    ),
    "power5, box": (
        lambda count, seed: fl.datasets.make_power5(count, noise=0.2, random_state=seed),
        fl.Minkowski.hypersimplices(3, scale="box"),
    ),
    "l1 ball": (
        lambda count, seed: fl.datasets.make_l1_ball(count, noise=0.2, low=-1.0, random_state=seed),
        fl.Scaled(fl.L1Ball(5)),
    ),
}


def run(name: str, repetitions: int, samples: int, refits: int) -> dict[str, np.ndarray]:
    """Return the share of bands of each kind that held the truth, in every repetition."""
    make, hypothesis = CASES[name]
    large, test = make(LARGE, 10_000), make(TESTED, 20_000)

    def fitted(data: fl.Decisions) -> fl.RegionRegressor:
        model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
        return model.fit(data.signals, data.decisions)

    target = fitted(large).predict(test.signals)
    held: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for repetition in range(repetitions):
        data = make(samples, repetition)
        model = fitted(data)
        boot = model.bootstrap(refits, data.signals, data.decisions, random_state=repetition)
        for kind in KINDS:
            bands = boot.predict(test.signals, level=0.9, kind=kind)
            held[kind].append(float(bands.contains(target).mean()))
    return {kind: np.array(values) for kind, values in held.items()}


def main() -> None:
    """Print the coverage of each kind of band, with its standard error over repetitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 repetitions instead of 50")
    parser.add_argument("--samples", type=int, default=200, help="samples of each data set")
    parser.add_argument("--refits", type=int, default=200, help="refits of each bootstrap")
    given = parser.parse_args()
    repetitions = 5 if given.quick else 50
    for name in CASES:
        began = time.perf_counter()
        held = run(name, repetitions, given.samples, given.refits)
        print(f"{name}: {repetitions} repetitions, {time.perf_counter() - began:.0f} s")
        for kind, shares in held.items():
            error = shares.std(ddof=1) / np.sqrt(len(shares))
            print(f"  {kind:<11} {100 * shares.mean():.1f} % +- {100 * error:.1f}")


if __name__ == "__main__":
    main()
