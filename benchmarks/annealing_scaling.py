"""Value and gradient of the annealed loss: how the time grows with the samples, and threads.

Claims, with 3 decisions, 6 features and a simplex of 9 vertices: the slope of log time over log N
from 1e3 to 1e6 samples is at most 1.05, and two threads are at least 1.6 times as fast as one at
the largest N (on two free processors).
"""

from __future__ import annotations

import sys
import time

import numpy as np

import feaslearn as fl
from feaslearn.data import Shard, shards
from feaslearn.losses import Objective
from feaslearn.trainers.annealed_objective import AnnealedObjective
from feaslearn.trainers.ridge import Ridge
from feaslearn.trainers.starts.start import Policy

MOST_SLOPE, LEAST_SPEEDUP = 1.05, 1.6


def seconds(count: int, n_jobs: int, repeats: int) -> float:
    """Return the least time of one evaluation."""
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(count), random.normal(size=(count, 5))])
    costs, decisions = random.uniform(0.2, 2.0, (count, 3)), random.normal(size=(count, 3))
    rows = list(shards(Shard(features, costs, decisions, np.full(count, 1.0 / count))))
    objective = Objective(fl.Predictability(), fl.Affine(fl.Simplex(9)), rows, n_jobs)
    policy = Policy(np.zeros((6, 3)), decisions, rows[0].weights, np.ones(3))
    problem = AnnealedObjective(objective, policy, Ridge(0.1))
    theta, times = random.normal(size=objective.size), []
    for _ in range(repeats):
        began = time.perf_counter()
        problem.evaluate(theta, 0.1)
        times.append(time.perf_counter() - began)
    return min(times)


def run(counts: tuple[int, ...]) -> tuple[float, float]:
    """Print times; return the slope, and how much faster two threads are."""
    seconds(1000, 1, 1)  # compiles
    times = [seconds(count, 1, max(5, 1_000_000 // count // 10)) for count in counts]
    for count, each in zip(counts, times, strict=True):
        print(f"N = {count:<9}{1e3 * each:10.3f} ms, {1e9 * each / count:6.0f} ns a sample")
    slope = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    speedup = times[-1] / seconds(counts[-1], 2, 5)
    print(f"slope {slope:.3f} (claim: at most {MOST_SLOPE})")
    print(f"two threads faster by {speedup:.2f} (claim: at least {LEAST_SPEEDUP})")
    return slope, speedup


def main() -> int:
    """Print times; the exit code says whether the claims hold."""
    quick = "--quick" in sys.argv[1:]
    slope, speedup = run((1000, 10_000, 100_000) if quick else (1000, 10_000, 100_000, 1_000_000))
    return int(slope > MOST_SLOPE or speedup < LEAST_SPEEDUP)


if __name__ == "__main__":
    sys.exit(main())
