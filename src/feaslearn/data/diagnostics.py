r"""Outliers: rows far beyond all others, as a faulty meter makes them.

Distances from the medians are measured in usual ones, which 70 % of the rows keep. Nothing is left
out because of them: fits and reports name such rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from feaslearn.arrays import Array, Indices
from feaslearn.data.samples import Block
from feaslearn.tolerances import LSTSQ_TOL, SAME_TOL

#: A row this many usual distances away is a gross error, and where there is one, so are those as
#: far as this.
GROSS, FAR = 50.0, 20.0
#: Usual rows are this share of all.
USUAL = 0.7
#: More rows than this share are no outliers but another way to decide.
MOST = 0.25
#: Features and costs must explain the usual decisions as chance would with this probability: what
#: scatters around a single point is noise, and says nothing of how large the region is.
CHANCE = 1e-3


class Outliers(NamedTuple):
    """Indices of the rows, and how many usual distances the nearest of them is away."""

    indices: Indices
    times: float


def outliers(
    values: Array,
    leverage: Array | float = 1.0,
    gross: float = GROSS,
    far: float = FAR,
    most: float = MOST,
) -> Outliers | None:
    """Return the rows of a table that are far from all others, None where there are none."""
    # What was not observed does not count.
    seen = np.nan_to_num(values - _medians(values))
    away = np.sqrt(np.einsum("ij,ij->i", seen, seen))
    usual = float(np.quantile(away, USUAL))
    if not usual > SAME_TOL * np.nanmax(np.abs(values)):
        return None
    times = away / (usual * leverage)
    far_out = times > far
    if times.max() < gross or far_out.mean() > most:
        return None
    return Outliers(np.flatnonzero(far_out), float(times[far_out].min()))


def outlying_decisions(rows: Block) -> Outliers | None:
    """Return the samples whose decisions are outliers, None where there are none."""
    # Samples whose features are as far from those of others are not judged: their decisions may
    # well be right.
    away = outliers(rows.decisions, most=1.0)
    if away is None:
        return None  # as nearly always
    found = outliers(rows.decisions, _leverage(rows.features))
    # Samples that are excused by their features are no usual ones either.
    usual = np.delete(np.arange(len(rows.decisions)), away.indices)
    return found if found is not None and _explained(rows.rows(usual)) else None


def _medians(values: Array) -> Array:
    """Return the median of each column, of what was observed; zero where that is nothing."""
    never = np.isnan(values).all(axis=0)
    return np.asarray(np.nanmedian(np.where(never, 0.0, values), axis=0))


def _leverage(features: Array) -> Array:
    """Return how far each row is from the medians of the features, in usual distances, or 1."""
    # A feature that hardly ever differs from its median excuses the rows in which it does.
    away = np.abs(features - np.median(features, axis=0))
    usual = np.quantile(away, USUAL, axis=0)
    times = np.divide(away, usual, out=np.where(away > 0.0, np.inf, 0.0), where=usual > 0.0)
    return np.asarray(np.maximum(1.0, times.max(axis=1)))


def _explained(rows: Block) -> bool:
    """Say whether features and costs explain some of the decisions, by an F-test of all of them."""
    lengths = np.linalg.norm(rows.costs, axis=1, keepdims=True)
    inputs = np.hstack([rows.features[:, 1:], rows.costs / np.where(lengths > 0.0, lengths, 1.0)])
    count, size = inputs.shape
    freedom = count - 1 - size
    if freedom < 1 or not size:
        return False
    spread = inputs.std(axis=0)
    inputs = (inputs - inputs.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    total = left = 0.0
    for column in rows.decisions.T:
        seen = ~np.isnan(column)
        if seen.any():
            x = column[seen] - column[seen].mean()
            A = inputs[seen] - inputs[seen].mean(axis=0)
            total += float(x @ x)
            left += float(np.sum((x - A @ np.linalg.lstsq(A, x, rcond=LSTSQ_TOL)[0]) ** 2))
    noise = left / freedom
    ratio = (total - left) / (size * noise) if noise > 0.0 else np.inf
    return bool(fdtrc(size, freedom, max(0.0, ratio)) < CHANCE)
