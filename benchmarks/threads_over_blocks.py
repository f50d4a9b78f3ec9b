"""What two threads gain on a table in memory.

Claim, on a million samples of 3 decisions, 3 prices and 5 other signals, as ``fit(X, y)`` reads
them: on two free processors, two threads are at least 1.6 times as fast as one for the pass that
adds up the moments of a Minkowski sum, and for one evaluation (value and gradient) of the annealed
loss of ``Affine(Simplex(9))``. Sums are the same, bit for bit.

    python benchmarks/threads_over_blocks.py [--quick]

One and two threads take turns; the least time of each counts. Beside it, what two threads of a loop
that does nothing but compute gain on the machine as it is: no program can gain more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import feaslearn as fl
from annealing_scaling import LEAST_SPEEDUP, seconds
from feaslearn.data import Samples
from feaslearn.regressor.checks import check_fit
from feaslearn.trainers.annealed_objective import AnnealedObjective, Ridge
from feaslearn.trainers.minkowski_fit.fit import MinkowskiFit
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import Policy
from minkowski_speed import make_samples

N = 1_000_000


def moments(rows: Samples, n_jobs: int) -> object:
    """Add up the moments of all samples."""
    terms = fl.Minkowski.hypersimplices(3)
    return MinkowskiFit(terms, rows, 1, np.random.default_rng(0), n_jobs).moments.aa


def annealed(rows: Samples, n_jobs: int) -> Callable[[], object]:
    """Return one evaluation of the annealed loss, in standardised features."""
    plain = Objective(fl.Affine(fl.Simplex(9)), rows, n_jobs)
    objective = Standardization.of(plain).apply(plain)
    policy = Policy(np.zeros((6, 3)), np.zeros((1, 3)), np.ones(1), np.ones(3))
    problem = AnnealedObjective(objective, policy, Ridge(0.1))
    theta = np.random.default_rng(1).normal(size=objective.size)
    return lambda: problem.evaluate(theta, 0.1)[1]


def computing(n_threads: int) -> object:
    """Let each thread compute without a byte of memory traffic."""
    numbers = np.random.default_rng(0).uniform(size=4096)

    def work(_: int) -> float:
        return sum(float(np.exp(numbers)[0]) for _ in range(4000))

    with ThreadPoolExecutor(n_threads) as pool:
        return sum(pool.map(work, range(2)))


def main() -> int:
    """Print what two threads gain; the exit code says whether the claim holds."""
    signals, decisions, _ = make_samples(N // 10 if "--quick" in sys.argv[1:] else N)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(9)), cost=[0, 1, 2])
    rows = check_fit(model, signals, decisions, None, None).samples
    works = {
        "moments of a Minkowski sum": [partial(moments, rows, jobs) for jobs in (1, 2)],
        "annealed value and gradient": [annealed(rows, jobs) for jobs in (1, 2)],
        "computing alone": [partial(computing, threads) for threads in (1, 2)],
    }
    held = True
    with threadpool_limits(1):
        for name, (one, two) in works.items():
            same = np.array_equal(one(), two())  # type: ignore[arg-type]
            (_, alone), (_, together) = seconds([one, two], [1, 1])
            gain = alone / together
            print(
                f"{name:28} one thread {1e3 * alone:7.1f} ms, two {1e3 * together:7.1f} ms: "
                f"{gain:.2f} times as fast, {'equal' if same else 'NOT EQUAL'}",
                flush=True,
            )
            held &= same and (gain >= LEAST_SPEEDUP or name == "computing alone")
    print(f"claim: at least {LEAST_SPEEDUP}")
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
