"""One value-and-gradient pass of the predictability loss, in units of one matrix product.

Claim: for ``Affine(Simplex(9))``, a million samples, 3 decisions and 6 features, the pass takes at
most 3 times as long as the product (N, 6) x (6, 27) that evaluates all columns of all samples, both
on one thread. The pass on two threads is printed beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from feaslearn import Affine, Predictability, Simplex
from feaslearn.data import Block, Samples
from feaslearn.losses import Objective

N, DECISIONS, FEATURES, COLUMNS = 1_000_000, 3, 6, 9
REPEATS = 5
MAX_RATIO = 3.0


def make_samples(n_samples: int = N) -> tuple[NDArray[np.float64], Block]:
    """Return random parameters and samples."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=FEATURES * DECISIONS * COLUMNS)
    features = rng.uniform(size=(n_samples, FEATURES))
    features[:, 0] = 1.0
    costs = rng.uniform(0.2, 1.0, (n_samples, DECISIONS))
    decisions = rng.normal(size=(n_samples, DECISIONS))
    return theta, Block(features, costs, decisions, np.ones(n_samples))


def median_seconds(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median time of each work, on one thread of BLAS.

    They take turns, so that a busy machine slows all of them alike; first runs do not count.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    with threadpool_limits(1):
        for _ in range(REPEATS + 1):
            for name, work in works.items():
                start = perf_counter()
                work()
                times[name].append(perf_counter() - start)
    return {name: median(seconds[1:]) for name, seconds in times.items()}


def main() -> int:
    """Print the times and the ratios; the exit code says whether the claim holds."""
    theta, samples = make_samples()
    matrix = theta.reshape(FEATURES, DECISIONS * COLUMNS)
    loss, hypothesis, parts = Predictability(), Affine(Simplex(COLUMNS)), Samples.of(samples)
    one, two = (Objective(loss, hypothesis, parts, n_jobs=jobs) for jobs in (1, 2))
    seconds = median_seconds(
        {
            "product (N, 6) x (6, 27)": lambda: samples.features @ matrix,
            "pass, n_jobs=1": lambda: one.value_and_gradient(theta),
            "pass, n_jobs=2": lambda: two.value_and_gradient(theta),
        }
    )
    product, alone, _ = seconds.values()
    for name, time in seconds.items():
        print(f"{name:26} {time:8.4f} s   ratio {time / product:5.2f}")
    print(f"claim: ratio of the pass with n_jobs=1 at most {MAX_RATIO}")
    return int(alone > MAX_RATIO * product)


if __name__ == "__main__":
    sys.exit(main())
