"""One value-and-gradient pass of the predictability loss, in units of one matrix product.

Claim: for ``Affine(Simplex(9))``, a million samples, 3 decisions and 6 features, the pass takes at
most 3 times as long as the product (N, 6) x (6, 27) that evaluates all columns of all samples.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from feaslearn import Affine, Predictability, Simplex
from feaslearn.data import Shard, shards
from feaslearn.losses import Objective

N, DECISIONS, FEATURES, COLUMNS = 1_000_000, 3, 6, 9
REPEATS = 5
MAX_RATIO = 3.0


def make_samples(n_samples: int = N) -> tuple[NDArray[np.float64], Shard]:
    """Return random parameters and samples."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=FEATURES * DECISIONS * COLUMNS)
    features = rng.uniform(size=(n_samples, FEATURES))
    features[:, 0] = 1.0
    costs = rng.uniform(0.2, 1.0, (n_samples, DECISIONS))
    decisions = rng.normal(size=(n_samples, DECISIONS))
    return theta, Shard(features, costs, decisions, np.ones(n_samples))


def median_seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of some work; the first run does not count."""
    times = []
    for _ in range(repeats + 1):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times[1:])


def main() -> int:
    """Print the times and the ratios; the exit code says whether the claim holds."""
    theta, samples = make_samples()
    matrix = theta.reshape(FEATURES, DECISIONS * COLUMNS)
    parts = list(shards(samples))
    product = median_seconds(lambda: samples.features @ matrix)
    print(f"product (N, 6) x (6, 27)   {product:8.4f} s")
    ratios = {}
    for jobs in (1, 2):
        objective = Objective(Predictability(), Affine(Simplex(COLUMNS)), parts, n_jobs=jobs)
        seconds = median_seconds(lambda: objective.value_and_gradient(theta))  # noqa: B023
        ratios[jobs] = seconds / product
        print(f"pass, n_jobs={jobs}             {seconds:8.4f} s   ratio {ratios[jobs]:5.2f}")
    print(f"claim: ratio at most {MAX_RATIO} with n_jobs=1")
    return int(ratios[1] > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
