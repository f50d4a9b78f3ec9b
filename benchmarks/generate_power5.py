"""100 000 power5 decisions: cheapest-first dispatch against one linear program after the other.

Run it with ``python benchmarks/generate_power5.py``; it prints the seconds, the ratio against HiGHS
solving the same samples from the last basis (timed on a part and scaled up), and the largest
difference between the two on that part.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import feaslearn as fl

N_SAMPLES, N_COMPARED = 100_000, 1_000
LIMIT_SECONDS = 10.0


def run(n_samples: int = N_SAMPLES, n_compared: int = N_COMPARED) -> dict[str, float]:
    """Time both ways and compare their decisions.

    Parameters
    ----------
    n_samples : int
        How many decisions to generate.
    n_compared : int
        How many of them HiGHS solves too.

    Returns
    -------
    dict of str to float
        ``seconds``, ``highs_seconds`` (scaled up), ``ratio`` and ``difference``.
    """
    make = fl.datasets.make_power5  # loads the module, which is not to be timed
    start = perf_counter()
    data = make(n_samples, random_state=0)
    seconds = perf_counter() - start
    part = data[:n_compared]
    start = perf_counter()
    solved = part.forward.solve(part.signals, part.cost_matrix)
    highs_seconds = (perf_counter() - start) * n_samples / len(part)
    return {
        "seconds": seconds,
        "highs_seconds": highs_seconds,
        "ratio": highs_seconds / seconds,
        "difference": float(np.abs(solved - part.decisions).max()),
    }


def main() -> None:
    """Print the comparison."""
    result = run()
    print(f"{N_SAMPLES} decisions      {result['seconds']:.3f} s (limit {LIMIT_SECONDS:.0f} s)")
    print(f"one LP at a time      {result['highs_seconds']:.3f} s, scaled up from {N_COMPARED}")
    print(f"ratio                 {result['ratio']:.0f}")
    print(f"largest difference    {result['difference']:.1e}")


if __name__ == "__main__":
    main()
