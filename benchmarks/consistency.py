"""Are consistent data accepted, and is one wrong sample found and named?

Noiseless data of Minkowski sums, three samples for each parameter; then one decision is moved by a
fifth of the range of the decisions in a random direction.

    python benchmarks/consistency.py [--quick]
"""

from __future__ import annotations

import argparse
import time

import feaslearn as fl
from common.consistent_data import corrupted, drawn


def run(seeds: range) -> dict[str, float]:
    """Return how many were accepted and named, with the mean size of a contradiction and time."""
    accepted = named = sizes = 0
    began = time.perf_counter()
    for seed in seeds:
        hypothesis, data = drawn(seed, n=3 + seed % 3)
        accepted += bool(fl.consistency(data, hypothesis))
        changed, wrong = corrupted(data, seed)
        answer = fl.consistency(changed, hypothesis)
        named += answer.consistent is False and answer.suspects == (wrong,)
        sizes += len(answer.contradiction)
    seconds = time.perf_counter() - began
    count = len(seeds)
    return {
        "accepted": accepted,
        "named": named,
        "samples in a contradiction": sizes / count,
        "seconds for both questions": seconds / count,
    }


def main() -> None:
    """Print how many of 20 data sets were accepted, and in how many the sample was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 data sets instead of 20")
    count = 5 if parser.parse_args().quick else 20
    for name, value in run(range(count)).items():
        of = f" of {count}" if name in ("accepted", "named") else ""
        print(f"{name:<28} {value:.4g}{of}")


if __name__ == "__main__":
    main()
