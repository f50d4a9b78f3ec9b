"""Annealing with many samples: time over N, threads, and a whole fit with its memory.

Claims, with 3 decisions, 6 features and a simplex of 9 vertices: the slope of log time over log N
of one evaluation (value and gradient of the annealed loss, in seconds of the processor) from 1e3 to
1e6 samples is at most 1.05; two threads are at least 1.6 times as fast as one at the largest N (on
two free processors); a default fit of a million samples of power5 takes at most ten minutes on two
processors, and its memory at the most, signals and decisions included, is at most 4 times that of
signals and decisions.

All cases of a round take turns, so that a busy machine slows all of them alike; the least time of
each counts. The fit runs in a process of its own, which has fitted a small sample before, so that
libraries and compiled kernels do not count as memory of the fit.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.starts import Policy

ROUNDS = 9
MOST_SLOPE, LEAST_SPEEDUP, MOST_SECONDS, MOST_MEMORY = 1.05, 1.6, 600.0, 4.0
#: One time of a short evaluation is that of so many samples.
SAMPLES_TOGETHER = 20_000
FIT = """
import resource, sys, time
import feaslearn as fl

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0

def fit(data):
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(9)), cost=data.cost, random_state=0, n_jobs=2)
    return model.fit(data.signals, data.decisions)

fit(fl.datasets.make_power5(200, random_state=1))
before = megabytes()
data = fl.datasets.make_power5(int(sys.argv[1]), random_state=0)
size = (data.signals.nbytes + data.decisions.nbytes) / 2.0**20
began, clock = time.process_time(), time.perf_counter()
fit(data)
print(time.perf_counter() - clock, time.process_time() - began, size, megabytes() - before)
"""


def evaluation(count: int, n_jobs: int) -> Callable[[], object]:
    """Return one evaluation of the annealed loss of random samples."""
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(count), random.normal(size=(count, 5))])
    costs, decisions = random.uniform(0.2, 2.0, (count, 3)), random.normal(size=(count, 3))
    weights = np.full(count, 1.0 / count)
    rows = Samples.of(Block(features, costs, decisions, weights))
    objective = Objective(fl.Affine(fl.Simplex(9)), rows, n_jobs)
    policy = Policy(np.zeros((6, 3)), decisions, weights, np.ones(3))
    problem = AnnealedObjective(objective, policy, Ridge(0.1))
    theta = random.normal(size=objective.size)
    return lambda: problem.evaluate(theta, 0.1)


def seconds(works: list[Callable[[], object]], times: list[int]) -> NDArray[np.float64]:
    """Return the least seconds of each work, of the processor and on the clock."""
    least = np.full((len(works), 2), np.inf)
    for _ in range(ROUNDS):
        for row, work, repeats in zip(least, works, times, strict=True):
            began = time.process_time(), time.perf_counter()
            for _ in range(repeats):
                work()
            ended = time.process_time(), time.perf_counter()
            row[:] = np.minimum(row, np.subtract(ended, began) / repeats)
    return least


def evaluations(counts: tuple[int, ...]) -> bool:
    """Print how time grows with N and shrinks with threads; return whether the claims hold."""
    evaluation(100, 1)()  # compiles
    works = [*(evaluation(count, 1) for count in counts), evaluation(counts[-1], 2)]
    times = [max(1, SAMPLES_TOGETHER // count) for count in (*counts, counts[-1])]
    *alone, together = seconds(works, times)
    for count, (each, _) in zip(counts, alone, strict=True):
        print(f"N = {count:<9}{1e3 * each:10.3f} ms, {1e9 * each / count:6.0f} ns a sample")
    slope = float(np.polyfit(np.log(counts), np.log([each for each, _ in alone]), 1)[0])
    speedup = alone[-1][1] / together[1]
    print(f"slope {slope:.3f} (claim: at most {MOST_SLOPE})")
    print(f"two threads faster by {speedup:.2f} (claim: at least {LEAST_SPEEDUP})", flush=True)
    return slope <= MOST_SLOPE and speedup >= LEAST_SPEEDUP


def whole_fit(count: int) -> bool:
    """Print time and memory of one default fit; return whether the claims hold."""
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(count)], capture_output=True, text=True, check=True
    )
    clock, processor, size, most = (float(number) for number in done.stdout.split())
    print(
        f"default fit of N = {count}: {clock:.0f} s, {processor:.0f} s of processors "
        f"(claim: at most {MOST_SECONDS:.0f})"
    )
    print(
        f"memory: {most:.0f} MB at the most, {most / size:.1f} times the {size:.0f} MB of the data "
        f"(claim: at most {MOST_MEMORY:.0f})"
    )
    return clock <= MOST_SECONDS and most <= MOST_MEMORY * size


def main() -> int:
    """Print times and memory; the exit code says whether the claims hold."""
    quick = "--quick" in sys.argv[1:]
    counts = (1000, 10_000, 100_000) if quick else (1000, 10_000, 100_000, 1_000_000)
    # First of all: a process inherits the greatest memory of the one that starts it.
    held = whole_fit(counts[-1])
    held &= evaluations(counts)
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
