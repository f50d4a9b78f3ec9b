"""Moments of very many terms, against the same in one piece.

Claim: the moments of all pairs of 24 decisions, decision by decision, are at least 4 times as fast
as of all decisions together, with the same sums to 1e-10. In turns, on one thread.
"""

from __future__ import annotations

import os
import sys
from time import process_time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.trainers.minkowski_fit.block_moments import BlockMoments, Units

Array = NDArray[np.float64]

PAIRS, SAMPLES = (12, 24), 2_000
FASTER, SAME = 4.0, 1e-10


def moments(n: int) -> tuple[float, float]:
    """Print the times of moments both ways; return their ratio and the largest difference."""
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(SAMPLES), random.normal(size=(SAMPLES, 2))])
    costs, decisions = random.normal(size=(2, SAMPLES, n))
    block = Block(features, costs, decisions, np.full(SAMPLES, 1.0 / SAMPLES))
    made = BlockMoments(fl.Minkowski.pairs(n), n, 3, Units.of(block, True, True), None)
    seconds, sums = {}, {}
    for made.by_decision in (True, False):
        made.of(block.rows(np.arange(SAMPLES) < 50))
        began = process_time()
        sums[made.by_decision] = made.of(block)
        seconds[made.by_decision] = process_time() - began
    ratio = seconds[False] / seconds[True]
    off = float(np.abs(sums[True].aa - sums[False].aa).max() / np.abs(sums[False].aa).max())
    print(f"moments of {n * (n - 1) // 2:4} pairs: {seconds[True]:6.2f} s, ", end="")
    print(f"together {seconds[False]:6.2f} s, ratio {ratio:5.1f}, differ by {off:.0e}", flush=True)
    return ratio, off


def main() -> int:
    """Print all; the exit code says whether the claims hold."""
    pairs = [moments(n) for n in PAIRS]
    return int(pairs[-1][0] < FASTER or max(off for _, off in pairs) > SAME)


if __name__ == "__main__":
    sys.exit(main())
