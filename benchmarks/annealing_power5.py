"""The default trainer of Affine on power5: against regressors, Algorithm 2, and by p.

Claims, 100 rows to train and 200 to test, mean squared loss of the returned decisions over ten
seeds: at most 0.32 with p = 9, and below each of seven tuned regressors of scikit-learn; at most
0.13 with 1000 rows; a fit at least 100 times as fast as 3000 iterations of Algorithm 2 through
CVXPY (30 are timed and scaled up), at a lower test loss than Algorithm 2 by our kernels. Then test
losses by p, on power5 and ieee14. Seeds 300-309; development used others.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import feaslearn as fl
from common.regressors import tuned_regressors
from feaslearn.formulations import SmoothedPredictability

SEEDS = range(300, 310)
N_TEST = 200
MOST_LOSS, MOST_LOSS_1000, LEAST_RATIO = 0.32, 0.13, 100.0
SIZES = range(1, 17)


def annealed(p: int, data: fl.Decisions, seed: int) -> Any:
    """Return the default model with p columns."""
    return fl.RegionRegressor(fl.Affine(fl.Simplex(p)), cost=data.cost, random_state=seed)


def test_loss(model: Any, data: fl.Decisions, count: int) -> tuple[float, float]:
    """Return the mean squared test loss of a model fitted on the first rows, and its seconds."""
    train, test = data[:count], data[count:]
    with warnings.catch_warnings():
        # Kernel widths at the ends of their range, networks that stop early: not what is measured.
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        model.fit(train.signals, train.decisions)
        seconds = time.perf_counter() - began
    residuals = model.predict(test.signals) - test.decisions
    return float((residuals**2).sum(axis=1).mean()), seconds


def over_seeds(
    name: str, make: Callable[[fl.Decisions, int], Any], count: int, seeds: range, kind: str
) -> float:
    """Print mean and spread of the test loss of one model; return the mean."""
    maker = getattr(fl.datasets, f"make_{kind}")
    found = []
    for seed in seeds:
        data = maker(count + N_TEST, random_state=seed)
        found.append(test_loss(make(data, seed), data, count))
    losses, seconds = np.array(found).T
    print(
        f"{kind}, N = {count:<5}{name:<22}{losses.mean():8.4f} +- {losses.std():.4f}"
        f"{seconds.mean():9.2f} s",
        flush=True,
    )
    return float(losses.mean())


def seconds_of_algorithm_2(iterations: int) -> float:
    """Return the seconds of 3000 iterations through CVXPY, from some that are timed."""
    data = fl.datasets.make_power5(100, random_state=SEEDS[0])
    features = np.column_stack([np.ones(100), data.signals[:, 3:]])
    random = np.random.default_rng(0)
    A = random.normal(size=(6, 3, 9))
    program = SmoothedPredictability(fl.Simplex(9), 3, 100)
    weights = np.full(100, 0.01)
    began = 0.0
    for iteration in range(iterations + 1):
        if iteration == 1:
            began = time.perf_counter()  # the first one compiles the program
        maps = np.einsum("ik,knp->inp", features, A)
        solution = program.solve(
            maps, np.zeros((100, 3)), data.cost_matrix, data.decisions, weights, 1.0, 1.0
        )
        A = A - 0.01 * solution.gradient(features, data.cost_matrix, weights)[0]
    return 3000.0 * (time.perf_counter() - began) / iterations


def speed(quick: bool, loss: float, seeds: range) -> bool:
    """Print how much faster a default fit is, and what Algorithm 2 reaches."""
    data = fl.datasets.make_power5(100 + N_TEST, random_state=SEEDS[0])
    times = [test_loss(annealed(9, data, seed), data, 100)[1] for seed in range(3)]
    ratio = seconds_of_algorithm_2(3 if quick else 30) / float(np.median(times))
    steps = 100 if quick else 3000

    def paper(data: fl.Decisions, seed: int) -> Any:
        trainer = fl.trainers.AdaptiveSmoothing(max_iter=steps)
        return annealed(9, data, seed).set_params(trainer=trainer)

    reached = over_seeds(f"Algorithm 2, {steps}", paper, 100, seeds[: 1 if quick else 3], "power5")
    print(f"default fit faster than Algorithm 2 by {ratio:.0f} (claim: {LEAST_RATIO:.0f})")
    return ratio >= LEAST_RATIO and loss < reached


def run(quick: bool = False) -> bool:
    """Print all tables; return whether the claims hold."""
    seeds = SEEDS[:3] if quick else SEEDS

    def nine(data: fl.Decisions, seed: int) -> Any:
        return annealed(9, data, seed)

    ours = over_seeds("Annealing, p = 9", nine, 100, seeds, "power5")
    held = ours <= MOST_LOSS
    held &= over_seeds("Annealing, p = 9", nine, 1000, seeds, "power5") <= MOST_LOSS_1000
    held &= speed(quick, ours, seeds)
    for kind in ("power5", "ieee14"):
        for p in (1, 9) if quick else SIZES:
            over_seeds(
                f"Annealing, p = {p}", lambda d, s, p=p: annealed(p, d, s), 100, seeds[:3], kind
            )
    for name, make in tuned_regressors(8, quick).items():
        held &= ours < over_seeds(name, lambda _d, _s, make=make: make(), 100, seeds, "power5")
    return bool(held)


def main() -> int:
    """Print the tables; the exit code says whether the claims hold."""
    return int(not run("--quick" in sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
