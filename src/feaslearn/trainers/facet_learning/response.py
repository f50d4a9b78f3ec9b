"""Whether decisions answer to prices, are exact, and do not contradict each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]

#: Standard errors by which costs must be lower than those of decisions blind to prices.
SURE = 4.0
#: Costs that vary less than this, relative to their length, say nothing about the answer to them.
CONSTANT = 1e-9
#: Decisions this close to a row lie on it.
ON_IT = 1e-8
#: Decimal places in which features must agree to be the same signal.
SAME = 9
#: Rows of one signal that are compared with all others.
LOOKED_AT = 1000


def answers_to_prices(samples: Samples) -> bool:
    r"""Say whether decisions are cheaper than the linear policy would be by chance.

    With both regressed on the features, the mean of :math:`-\tilde c_i'\tilde x_i` is positive for
    optimal decisions and zero for decisions that ignore prices. Facets learned from the latter
    would only shrink the region to its middle. Costs that do not vary cannot tell.
    """
    features, weights = samples.features, samples.weights
    roots = np.sqrt(weights)[:, None]
    tables = np.hstack([samples.costs, samples.decisions])
    policy = np.linalg.lstsq(features * roots, tables * roots, rcond=1e-12)[0]
    costs, decisions = np.hsplit(tables - features @ policy, 2)
    if np.abs(costs).max() <= CONSTANT:
        return True
    savings = -np.einsum("ij,ij->i", costs, decisions)
    mean = float(weights @ savings)
    variance = float(weights**2 @ (savings - mean) ** 2)
    return bool(mean > SURE * np.sqrt(variance))


def confirmed(rows: FacetRows, samples: Samples) -> NDArray[np.bool_]:
    """Say on which facets more decisions lie than they have parameters.

    A facet can be laid through as many points as it has parameters. Noise would keep all others
    away from it, and so would a facet that is not there.
    """
    features, decisions = samples.features, samples.decisions
    distances = np.abs(features @ rows.f.T - decisions @ rows.a.T)
    parameters = features.shape[1] + decisions.shape[1]
    return np.asarray((distances <= ON_IT).sum(axis=0) > parameters)


def are_exact(rows: FacetRows, samples: Samples) -> bool:
    """Say whether a facet is confirmed, or more decisions lie on a bound than it has parameters."""
    features, decisions = samples.features, samples.decisions
    sides = (np.abs(features @ side.T - decisions) <= ON_IT for side in (rows.lower, rows.upper))
    on_bounds = any((side.sum(axis=0) > features.shape[1]).any() for side in sides)
    return on_bounds or bool(confirmed(rows, samples).any())


def contradiction(samples: Samples, tolerance: float) -> tuple[int, int] | None:
    """Return the first rows i, j of equal features where ``c_i'x_j < c_i'x_i - tolerance``."""
    keys = samples.features.round(SAME) + 0.0
    _, group, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    first: tuple[int, int] | None = None
    for rows in np.split(order, np.cumsum(counts)[:-1]):
        if len(rows) < 2 or (first is not None and rows[-2] > first[0]):
            continue
        gains = _gains(samples, rows)
        better = np.flatnonzero((gains > tolerance).any(axis=1))
        if len(better) and (first is None or rows[better[0]] < first[0]):
            i = better[0]
            first = int(rows[i]), int(rows[np.argmax(gains[i])])
    return first


def _gains(samples: Samples, rows: NDArray[np.intp]) -> Array:
    """Return ``c_i'(x_i - x_j)``; of a large group, only for the first rows i."""
    some = rows[:LOOKED_AT]
    spent = np.einsum("ij,ij->i", samples.costs[some], samples.decisions[some])
    return np.asarray(spent[:, None] - samples.costs[some] @ samples.decisions[rows].T)
