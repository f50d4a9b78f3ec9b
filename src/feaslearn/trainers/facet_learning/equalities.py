"""Equalities hidden in decisions: combinations of them that the features explain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]

#: An equality's residual is at most this share of the largest one, ...
SMALL = 0.1
#: ... and this much smaller than that of the next combination.
GAP = 2.5
#: Under noise, combinations before the largest jump of at least this size may be equalities.
NOISY_GAP = 1.2
#: Residuals below this share of the largest are rounding.
ROUNDING = 1e-6


class Equalities(NamedTuple):
    """``E x = e phi`` with orthonormal rows, and the standard deviation of what is left."""

    E: Array
    e: Array
    noise: float


def find_equalities(samples: Samples, noisy: bool = False) -> Equalities:
    r"""Return the combinations :math:`w'x` that are affine in the features.

    Decisions are regressed on the features; the directions in which the residuals have almost no
    variance are equalities. Their number is where the spectrum jumps (a rank test): noise lifts
    the smallest residuals, but not to those of directions that prices move. Equalities that are
    known are not found again. With ``noisy``, what may be equalities under much noise is returned.
    """
    across = samples.across()
    features, decisions = samples.features, samples.decisions @ across
    n_samples, n = decisions.shape
    nothing = Equalities(np.zeros((0, len(across))), np.zeros((0, features.shape[1])), 0.0)
    roots = np.sqrt(samples.weights)[:, None]
    beta = np.linalg.lstsq(features * roots, decisions * roots, rcond=1e-12)[0]
    residual = (decisions - features @ beta) * roots
    freedom = n_samples - features.shape[1]
    if freedom < n or not n:
        return nothing
    variances, directions = np.linalg.eigh(residual.T @ residual * n_samples / freedom)
    sizes = np.sqrt(np.maximum(variances, 0.0))
    largest = sizes[-1]
    rounding = ROUNDING * max(1.0, float(np.abs(decisions).max()))
    if largest <= rounding:
        count = n
    else:
        floored = np.maximum(sizes, 0.1 * ROUNDING * largest)
        jumps = floored[1:] / floored[:-1]
        clear = np.flatnonzero((jumps > GAP) & (sizes[:-1] < SMALL * largest))
        if noisy and not len(clear) and jumps.max(initial=0.0) > NOISY_GAP:
            clear = np.array([jumps.argmax()])
        count = int(clear.max(initial=-1)) + 1
    noise = float(sizes[count - 1]) if count else 0.0
    E = directions[:, :count].T
    rows = np.ascontiguousarray(E @ across.T)
    return Equalities(rows, E @ beta.T, noise if noise > rounding else 0.0)


def known_noise(samples: Samples) -> float | None:
    """Return the standard deviation of decisions from known equalities, None without any."""
    known = samples.known
    if known is None or not len(known.E):
        return None
    gaps = samples.decisions @ known.E.T - known.e
    noise = float(np.sqrt(samples.weights @ gaps**2).max())
    return noise if noise > ROUNDING * max(1.0, float(np.abs(samples.decisions).max())) else 0.0


def given_equalities(samples: Samples, rows: Array) -> Equalities:
    """Return given combinations of decisions, with right-hand sides fitted to the data."""
    features, across = samples.features, samples.across()
    rows = rows @ across @ across.T
    rows = rows[np.linalg.norm(rows, axis=1) > ROUNDING]
    if len(rows) == 0:
        return Equalities(rows, np.zeros((0, features.shape[1])), 0.0)
    E = np.linalg.svd(rows, full_matrices=False)[2][: np.linalg.matrix_rank(rows)]
    roots = np.sqrt(samples.weights)[:, None]
    targets = samples.decisions @ E.T
    beta = np.linalg.lstsq(features * roots, targets * roots, rcond=1e-12)[0]
    noise = float(np.sqrt(samples.weights @ (targets - features @ beta) ** 2).max())
    return Equalities(np.ascontiguousarray(E), beta.T, noise if noise > ROUNDING else 0.0)
