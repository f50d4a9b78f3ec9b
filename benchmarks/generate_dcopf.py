"""1000 dispatches of a congested 118-bus grid: one warm program against one cold LP at a time.

Run it with ``python benchmarks/generate_dcopf.py``; it prints the seconds, the ratio against HiGHS
that builds and solves a new model for each sample (timed on a part and scaled up), and the largest
relative difference between the costs of the two on that part. Both times are of this process alone,
not of the clock, so that other work on the machine does not count.
"""

from __future__ import annotations

from time import process_time

import numpy as np

import feaslearn as fl

N_SAMPLES, N_COMPARED = 1_000, 100
LIMIT_SECONDS = 2.0


def run(n_samples: int = N_SAMPLES, n_compared: int = N_COMPARED) -> dict[str, float]:
    """Time both ways and compare their costs.

    Parameters
    ----------
    n_samples : int
        How many decisions to generate.
    n_compared : int
        How many of them are solved one at a time too.

    Returns
    -------
    dict of str to float
        ``seconds``, ``cold_seconds`` (scaled up), ``ratio`` and ``difference``.
    """
    grid = fl.datasets.DcGrid("case118_ieee", variant="api")
    fl.datasets.make_dcopf(grid, 2, random_state=0)  # loads HiGHS, which is not to be timed
    start = process_time()
    data = fl.datasets.make_dcopf(grid, n_samples, random_state=0)
    seconds = process_time() - start
    part = data[:n_compared]
    costs = (part.cost_matrix * part.decisions).sum(axis=1)
    start = process_time()
    cold = np.array([solve_cold(part[i : i + 1]) for i in range(len(part))])
    cold_seconds = (process_time() - start) * n_samples / len(part)
    return {
        "seconds": seconds,
        "cold_seconds": cold_seconds,
        "ratio": cold_seconds / seconds,
        "difference": float((np.abs(cold - costs) / costs).max()),
    }


def solve_cold(sample: fl.Decisions) -> float:
    """Return the least cost of one sample: a new model of HiGHS, solved without a basis."""
    return float(sample.forward.optimal_value(sample.signals, sample.cost_matrix)[0])


def main() -> None:
    """Print the comparison."""
    result = run()
    print(f"{N_SAMPLES} dispatches       {result['seconds']:.3f} s (limit {LIMIT_SECONDS:.0f} s)")
    print(f"one cold LP at a time  {result['cold_seconds']:.3f} s, scaled up from {N_COMPARED}")
    print(f"ratio                  {result['ratio']:.1f}")
    print(f"largest difference     {result['difference']:.1e} of the cost")


if __name__ == "__main__":
    main()
