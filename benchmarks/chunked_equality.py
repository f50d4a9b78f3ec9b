"""Fits in memory and from chunks are the same fits.

Claims, on 400 000 samples: predictions and loss of a Minkowski sum from chunks differ from those in
memory by at most 1e-9 of their size; so does the loss of `Annealing` by at most 1e-6. Both are
printed as ratios of the difference to that.

    python benchmarks/chunked_equality.py [--quick]
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from minkowski_speed import make_samples

Array = NDArray[np.float64]

MOST_APART, MOST_LOSS_APART = 1e-9, 1e-6


def compared(model: fl.RegionRegressor, X: Array, y: Array) -> tuple[float, float]:
    """Return how far predictions and losses of both fits are apart, relative to their size."""
    whole, loss = model.fit(X, y).predict(X), model.result_.objective
    bounds = np.linspace(0, len(X), 8).astype(int)
    pairs = list(pairwise(bounds))
    chunks = fl.Chunks(lambda: ((X[a:b], y[a:b]) for a, b in pairs))
    parts, other = model.fit(chunks).predict(X), model.result_.objective
    apart = float(np.abs(parts - whole).max() / np.abs(whole).max())
    return apart, abs(other - loss) / loss


def main() -> int:
    """Print the ratios; the exit code says whether the claims hold."""
    n_samples = 40_000 if "--quick" in sys.argv[1:] else 400_000
    X, y, _ = make_samples(n_samples)
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], random_state=0)
    apart, loss = compared(model, X, y)
    minkowski = max(apart, loss) / MOST_APART
    print(f"Minkowski: predictions {apart:.2g} apart, losses {loss:.2g}; ratio {minkowski:.2g}")
    trainer = fl.trainers.Annealing(max_iter=20, n_starts=1, ridge=0.1, ridge_floor=1.0)
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(3)), cost=[0, 1, 2], trainer=trainer, random_state=0
    )
    count = n_samples // 10
    _, loss = compared(model, X[:count], y[:count])
    annealing = loss / MOST_LOSS_APART
    print(f"Annealing, {count} samples: losses {loss:.2g} apart; ratio {annealing:.2g}")
    return int(minkowski > 1.0 or annealing > 1.0)


if __name__ == "__main__":
    sys.exit(main())
