"""Random samples, and works that are timed in turns."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from feaslearn.data import Block

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
