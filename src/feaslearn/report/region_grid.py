"""Regions on a grid of signals, for models that the page cannot compute by itself."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import EmptySetError, FeaslearnWarning, InfeasibleProblemError
from feaslearn.region import Region
from feaslearn.report.samples import Samples
from feaslearn.trainers.progress import ProgressBar

Array = NDArray[np.float64]

#: Values of each signal, directions for each pair of decisions, and decisions that have pairs.
VALUES, DIRECTIONS, PAIRED = 7, 16, 6
#: Signals that move; those that change features least stay.
MOST_SIGNALS = 12


def region_grid(samples: Samples) -> dict[str, Any]:
    """Return points of the region while one signal moves and the others stay as they were.

    Parameters
    ----------
    samples : Samples
        The model and its rows; the typical row is where signals stay.

    Returns
    -------
    dict
        The signals ``base``, the points there, and for each signal that moves the region its
        values and the points at each; null where no decision is possible.
    """
    data = samples.data.signals
    base = np.array(data[samples.typical])
    moving = _moving(samples, base)
    directions = _directions(samples.observed.shape[1])
    moves: dict[str, Any] = {}
    with ProgressBar("regions", VALUES * len(moving) + 1) as bar:
        start = _points(samples, base, directions)
        for done, k in enumerate(moving):
            values = np.linspace(data[:, k].min(), data[:, k].max(), VALUES)
            places = []
            for value in values:
                row = base.copy()
                row[k] = value
                places.append(_points(samples, row, directions))
            moves[str(k)] = {"values": values.tolist(), "points": places}
            bar.update(VALUES * (done + 1))
    return {"base": base.tolist(), "points": start, "moves": moves}


def _moving(samples: Samples, base: Array) -> list[int]:
    """Return the signals that change the features, those that change them most if many."""
    data, features = samples.data.signals, samples.model.features_
    ends = np.tile(base, (2 * len(base), 1))
    for k in range(len(base)):
        ends[2 * k, k], ends[2 * k + 1, k] = data[:, k].min(), data[:, k].max()
    spread = samples.features.std(axis=0)
    scaled = features.transform(ends) / np.where(spread > 0.0, spread, 1.0)
    change = np.abs(scaled[1::2] - scaled[::2]).max(axis=1)
    strongest = np.argsort(-change, kind="stable")[:MOST_SIGNALS]
    return sorted(int(k) for k in strongest if change[k] > 0.0)


def _directions(n: int) -> Array:
    """Return costs whose minimisers show the outline along every pair of the first decisions."""
    rows = [*np.eye(n), *-np.eye(n)]
    angles = 2.0 * np.pi * (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS
    for i, j in combinations(range(min(n, PAIRED)), 2):
        for angle in angles:
            row = np.zeros(n)
            row[i], row[j] = np.cos(angle), np.sin(angle)
            rows.append(row)
    return np.array(rows)


def _points(samples: Samples, signal: Array, directions: Array) -> list[list[float]] | None:
    """Return distinct points where the region at a signal is reached in each direction."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FeaslearnWarning)
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            region = samples.model.region(signal)
        found = _reached(region, directions)
    except (EmptySetError, FeaslearnWarning, InfeasibleProblemError):
        return None
    size = max(1e-300, float(np.abs(found).max()))
    _, first = np.unique((found / size).round(9), axis=0, return_index=True)
    points: list[list[float]] = found[np.sort(first)].tolist()
    return points


def _reached(region: Region, directions: Array) -> Array:
    """Return a minimiser for each direction; both decisions of a pair count alike."""
    lower, upper = region.bounding_box()
    span = np.where(upper > lower, upper - lower, 1.0)
    return np.array([region.minimize(direction / span) for direction in directions])
