"""What a fit remembers of its data: ranges, directions of prices, what they pushed to."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.data.column_ends import column_ends
from feaslearn.data.survey import Survey
from feaslearn.hypotheses import MapHypothesis, Minkowski
from feaslearn.hypotheses.constrained import constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.regressor.explanation.exposure import exposure, is_curved

if TYPE_CHECKING:
    from feaslearn.regressor.checks import FitData

Array = NDArray[np.float64]

#: Samples that are looked at, and those where each decision takes known constraints, a linear or a
#: conic program.
LOOKED_AT, BY_KNOWN, BY_LINEAR, BY_CONIC = 2000, 60, 200, 60
#: Fewest that are, in so many seconds and this share of a time limit.
FEWEST, GRACE, SHARE = 5, 0.2, 0.05
#: Directions of prices that are kept.
DIRECTIONS = 64
#: Entries of a latent point below this are zero.
UNUSED = 1e-9


@dataclass(frozen=True, eq=False)
class Seen:
    """A summary of the samples of a fit.

    Parameters
    ----------
    n_samples, looked_at : int
        Their number, and how many were looked at for the shares.
    signals, decisions : ndarray of shape (2, K) and (2, n)
        Least and greatest values.
    directions : ndarray of shape (m, n)
        Prices of length one that stand for all others.
    upper, lower : ndarray of shape (n,)
        Share of the samples that show the upper and the lower limit of each decision.
    parts : ndarray
        Share of the samples in which each entry of a latent point is used, or the mean scale of
        each term; empty for other hypotheses.
    """

    n_samples: int
    looked_at: int
    signals: Array
    decisions: Array
    directions: Array
    upper: Array
    lower: Array
    parts: Array


def look(
    hypothesis: Hypothesis,
    theta: Array,
    data: FitData,
    maximises: bool,
    max_seconds: float | None = None,
) -> Seen:
    """Return what is to be remembered of a fit; one with a time limit looks at fewer samples."""
    rows = data.minimized(maximises)
    count, n = rows.n_rows, rows.n_decisions
    most = _most(hypothesis, n) if data.known is None else min(BY_KNOWN, _most(hypothesis, n))
    region = hypothesis if data.known is None else constrained(hypothesis, data.known.shape)
    some, shown = None, None
    if max_seconds is not None and np.isfinite(max_seconds):
        began, some = time.monotonic(), rows.every(-(-count // FEWEST))
        shown = exposure(region, theta, some.features, some.costs)
        each = (time.monotonic() - began) / len(some.weights)
        most = min(most, max(FEWEST, int((GRACE + SHARE * float(max_seconds)) / each)))
    if some is None or shown is None or most > FEWEST:
        some = rows.every(-(-count // most))
        shown = exposure(region, theta, some.features, some.costs)
    if data.known is not None:
        shape = data.known.shape
        some = some._replace(features=shape.split(some.features)[0])
    return Seen(
        count,
        len(some.weights),
        data.signals,
        column_ends(rows.table.decisions),
        _spread_out(some.costs),
        shown.upper.mean(axis=0),
        shown.lower.mean(axis=0),
        _parts(hypothesis, theta, some),
    )


def look_at_part(
    hypothesis: Hypothesis, theta: Array, data: FitData, survey: Survey, maximises: bool
) -> Seen:
    """Return what is to be remembered of a fit to chunks, of which ``data`` hold some rows."""
    seen = look(hypothesis, theta, data, maximises)
    return replace(seen, n_samples=survey.n_samples, decisions=survey.decisions)


def look_on(seen: Seen, hypothesis: Hypothesis, theta: Array, rows: Shard, signals: Array) -> Seen:
    """Return what is remembered after some more rows, whose costs are to be minimised.

    Shares count every row alike.
    """
    count, n = rows.decisions.shape
    step = -(-count // _most(hypothesis, n))
    some = Shard(*(np.ascontiguousarray(part[::step]) for part in rows))
    shown = exposure(hypothesis, theta, some.features, some.costs)
    share = len(some.weights) / (seen.looked_at + len(some.weights))

    def mixed(before: Array, now: Array) -> Array:
        return np.asarray((1.0 - share) * before + share * now)

    ends = np.vstack([seen.decisions, rows.decisions])
    reach = np.vstack([seen.signals, signals])
    return Seen(
        seen.n_samples + count,
        seen.looked_at + len(some.weights),
        np.array([reach.min(axis=0), reach.max(axis=0)]),
        np.array([np.nanmin(ends, axis=0), np.nanmax(ends, axis=0)]),
        _spread_out(np.vstack([seen.directions, some.costs])),
        mixed(seen.upper, shown.upper.mean(axis=0)),
        mixed(seen.lower, shown.lower.mean(axis=0)),
        mixed(seen.parts, _parts(hypothesis, theta, some)),
    )


def angle(cost: Array, directions: Array) -> float | None:
    """Return the least angle in degrees between a price and those kept, if there are any."""
    size = float(np.linalg.norm(cost))
    if size == 0.0 or not len(directions):
        return None
    return float(np.degrees(np.arccos(np.clip((directions @ cost / size).max(), -1.0, 1.0))))


def _most(hypothesis: Hypothesis, n: int) -> int:
    """Return how many samples to look at: fewer where a decision takes a solver."""
    if not isinstance(hypothesis, MapHypothesis) or hypothesis.latent(n).code() is not None:
        return LOOKED_AT
    return BY_CONIC if is_curved(hypothesis.latent(n)) else BY_LINEAR


def _spread_out(costs: Array) -> Array:
    """Return directions of prices, each the farthest from those before."""
    sizes = np.linalg.norm(costs, axis=1)
    units = costs[sizes > 0.0] / sizes[sizes > 0.0, None]
    if not len(units):
        return np.zeros((0, costs.shape[1]))
    chosen, nearest = [0], units @ units[0]
    while len(chosen) < DIRECTIONS and nearest.min() < 1.0 - 1e-9:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, units @ units[chosen[-1]])
    return np.ascontiguousarray(units[chosen])


def _parts(hypothesis: Hypothesis, theta: Array, some: Shard) -> Array:
    n, k = some.costs.shape[1], some.features.shape[1]
    if isinstance(hypothesis, Minkowski):
        return np.asarray(hypothesis.scales(theta, some.features, n).mean(axis=0))
    if isinstance(hypothesis, MapHypothesis):
        A, _ = hypothesis.maps(theta, n, k).at(some.features)
        z = hypothesis.latent(n).argmin(np.einsum("inp,in->ip", A, some.costs))
        return np.asarray((np.abs(z) > UNUSED).mean(axis=0))
    return np.zeros(0)
