"""Where cost falls and where it stays the same, within the flat that a region spans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.region import Region

Array = NDArray[np.float64]

#: A region that extends less than this across a direction, relative to its size, is flat there.
FLAT = 1e-6


def slopes(region: Region, cost: Array) -> tuple[Array, Array | None]:
    """Return the direction in which cost falls fastest, and that in which it does not change.

    Where decisions must balance, a region is flat, and only what the cost is within the flat
    counts: its part across is the same for every decision.

    Parameters
    ----------
    region : Region
        The region.
    cost : ndarray of shape (n,)
        What is minimised.

    Returns
    -------
    down : ndarray of shape (n,)
        Zero where cost is the same everywhere in the region.
    level : ndarray of shape (n,) or None
        None where the flat has more than two dimensions, so that there are many.
    """
    rng = np.random.default_rng(0)
    directions = np.vstack([np.eye(region.n), rng.standard_normal((region.n, region.n))])
    points = np.array([region.minimize(d) for d in np.vstack([directions, -directions])])
    center = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - center, full_matrices=False)
    size = max(float(sizes[0]), FLAT * max(1.0, float(np.abs(center).max())))
    basis = axes[sizes > FLAT * size]
    down = -(basis.T @ (basis @ cost))
    if np.linalg.norm(down) <= FLAT * np.linalg.norm(cost):
        return np.zeros(region.n), None
    if len(basis) != 2:
        return down, None
    u, v = basis @ down
    return down, np.asarray(basis.T @ np.array([-v, u]))
