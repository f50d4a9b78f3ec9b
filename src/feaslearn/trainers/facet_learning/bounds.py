"""Bounds seen in the data, and those that were given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import SolverError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.results import remark
from feaslearn.sets.checked_program import CheckedProgram
from feaslearn.trainers.facet_learning.samples import Samples
from feaslearn.trainers.facet_learning.units import Units

Array = NDArray[np.float64]

#: Weight of the size of an affine bound's slopes: where the data do not need them, they are zero.
FLATTEN = 1e-6
#: Share of the values that may lie beyond a bound where there is noise.
BEYOND = 0.01
#: Bounds this close to the least or greatest value, relative to the range, are that value.
ROUNDED = 1e-9
#: Values this many standard deviations of the noise from there may be at the bound.
REACH = 4.0


def bounds_of(
    hypothesis: Facets, units: Units, samples: Samples, noise: float
) -> tuple[Array, Array]:
    """Return the bounds (n, k) that the hypothesis asks for, in these units."""
    if hypothesis.bounds == "affine":
        return affine_bounds(samples)
    if hypothesis.bounds == "data":
        return bounds_from_data(samples, noise)
    n, k = samples.decisions.shape[1], samples.features.shape[1]
    sides = np.zeros((2, n, k))
    sides[:, :, 0] = units.points(np.array(hypothesis.given_bounds(n)))
    return sides[0], sides[1]


def bounds_from_data(samples: Samples, noise: float) -> tuple[Array, Array]:
    """Return constant bounds (n, k) in the features.

    Without noise the least and the greatest value. With noise those overshoot: decisions at a
    bound scatter around it, and the median of the values within reach of the extreme is taken.
    """
    ends = np.empty((2, samples.decisions.shape[1]))
    for side, sign in enumerate((1.0, -1.0)):
        values = sign * samples.decisions
        if not noise:
            ends[side] = sign * values.min(axis=0)
            continue
        extreme = np.quantile(values, BEYOND, axis=0)
        near = np.where(values <= extreme + REACH * noise, values, np.nan)
        ends[side] = sign * np.nanmedian(near, axis=0)
    bounds = np.zeros((2, samples.decisions.shape[1], samples.features.shape[1]))
    bounds[:, :, 0] = ends
    return bounds[0], bounds[1]


def affine_bounds(samples: Samples) -> tuple[Array, Array]:
    """Return the bounds (n, k), affine in the features, that lie closest to the decisions.

    For each decision and side, the affine function that is nowhere beyond a decision and has the
    least mean distance to them: one linear program.
    """
    features, n = samples.features, samples.decisions.shape[1]
    k = features.shape[1]
    flat = np.full(2 * k, FLATTEN)
    flat[[0, k]] = 0.0
    both = np.hstack([features, -features])
    cost, ends = flat - samples.weights @ both, (np.zeros(2 * k), np.full(2 * k, np.inf))
    bounds = np.empty((2, n, k))
    for side, sign in enumerate((1.0, -1.0)):
        for j in range(n):
            values = sign * samples.decisions[:, j]
            program = CheckedProgram(cost, *ends, both, values)
            try:
                slopes = program.solve("bounds").point
            except SolverError as error:
                remark(f"a bound of decision {j} is constant: {error}")
                slopes = values.min() * np.eye(2 * k)[0]
            bounds[side, j] = sign * (slopes[:k] - slopes[k:])
    return bounds[0], bounds[1]


def exact_bounds(hypothesis: Facets, rows: FacetRows, decisions: Array) -> FacetRows:
    """Return rows with bounds that were given, or seen, as they were to the last digit.

    Growing works on rounded numbers: a bound of zero would otherwise be one of 1e-12.
    """
    if not isinstance(hypothesis.bounds, str):
        sides = np.zeros((2, *rows.lower.shape))
        sides[:, :, 0] = hypothesis.given_bounds(len(rows.lower))
        return rows._replace(lower=sides[0], upper=sides[1])
    seen = decisions[~np.isnan(decisions).any(axis=1)]
    near = ROUNDED * np.ptp(seen, axis=0)
    lower, upper = rows.lower.copy(), rows.upper.copy()
    for side, ends in ((lower, seen.min(axis=0)), (upper, seen.max(axis=0))):
        same = ~side[:, 1:].any(axis=1) & (np.abs(side[:, 0] - ends) <= near)
        side[same, 0] = ends[same]
    return rows._replace(lower=lower, upper=upper)
