r"""An order of the samples that their content gives, not the place they were handed over in.

Folds refer to this order, so that an exact fit does not depend on how the rows of a table were
sorted. The key of a sample is

.. math:: \kappa_i = \sum_j g(z_{ij}), \qquad z_{ij} = (v_{ij} - m_j) / d_j

over its features, costs and decisions :math:`v_{ij}` in units of their own spread: neither units
nor the order of columns enter it, and equal samples have equal keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, ShardSource, shards
from feaslearn.losses import Objective
from feaslearn.trainers.standardize import moments, weighted_sum

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Coefficients of z, z^2 and z^3 in the keys of features, costs and decisions: no two alike.
SHAPES = ((1.0, 0.3141, 0.0271), (0.7173, 0.2236, 0.0141), (0.5772, 0.1618, 0.0173))
#: Where a decision that was not observed stands, in deviations from the mean.
UNOBSERVED = 3.3
#: Keys closer than this are those of one group, which no fold cuts in two.
SAME = 1e-9
#: Tables with more samples are not sorted: their sums differ by rounding alone.
MOST_SORTED = 20_000


def sample_keys(parts: Sequence[Shard]) -> Array:
    """Return one number for each sample, the same for equal samples."""
    weights = [part.weights for part in parts]
    keys = np.zeros(sum(len(each) for each in weights))
    for i, shape in enumerate(SHAPES):
        tables = [part[i] for part in parts]
        mean, scale = moments([_numbers(table) for table in tables], weights, constant_first=False)
        shrink = 1.0 / scale
        keys += np.concatenate([_key(_places(table, mean, shrink), shape) for table in tables])
    return keys


def in_order(rows: Shard) -> Shard:
    """Return the samples in an order of their own, equal ones as one of their weights together.

    A table of more than 20 000 samples is returned as it is.
    """
    if len(rows.weights) > MOST_SORTED:
        return rows
    keys = sample_keys([rows])
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0.0).any():
        # Equal samples must stand together, also where others have the same key.
        order = np.lexsort((*np.hstack(rows[:3]).T, keys))
    table = np.hstack(rows[:3])[order]
    unseen = np.isnan(table)
    differs = (table[1:] != table[:-1]) & ~(unseen[1:] & unseen[:-1])
    first = np.flatnonzero(np.append(True, differs.any(axis=1)))
    weights = np.add.reduceat(rows.weights[order], first)
    # Sorted rows would make neighbours of rows that are alike: no part may be one of a kind.
    shuffled = np.random.default_rng(0).permutation(len(first))
    chosen = order[first[shuffled]]
    features, costs, decisions = (np.ascontiguousarray(part[chosen]) for part in rows[:3])
    return Shard(features, costs, decisions, np.ascontiguousarray(weights[shuffled]))


def ordered(objective: Objective) -> Objective:
    """Return an objective whose samples are `in_order`; with many samples, or in chunks, itself."""
    if isinstance(objective.shards, ShardSource) or objective.n_samples > MOST_SORTED:
        return objective
    return replace(objective, shards=list(shards(in_order(objective.whole()))))


def folds_of(parts: Sequence[Shard], n_folds: int, random: np.random.Generator) -> Indices:
    """Return the fold of each sample; equal samples are in one fold, folds are about as large.

    Where there are fewer different samples than folds, there are fewer folds.
    """
    keys = sample_keys(parts)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    gap = SAME * (1.0 + np.abs(sorted_keys[1:]))
    group = np.append(0, np.cumsum(np.diff(sorted_keys) > gap))
    count = int(group[-1]) + 1
    fold = np.empty(len(keys), dtype=np.intp)
    fold[order] = (random.permutation(count) % min(n_folds, count))[group]
    return fold


def column_ranks(table: Array, weights: Array) -> Indices:
    """Return the rank of each column by the shape of its distribution, whatever its units.

    What is drawn for columns in the order of their ranks moves with them when they are exchanged.
    """
    mean, scale = moments([_numbers(table)], [weights], constant_first=False)
    shrink = 1.0 / scale
    z = _places(table, mean, shrink)
    marks = weighted_sum(z**3 + 0.1 * z**4, weights) / weights.sum()
    # Columns that do not change come last, so that what is drawn for the others is the same.
    marks = np.where(shrink > 0.0, marks, np.inf)
    return np.argsort(np.argsort(marks, kind="stable"), kind="stable")


def places(features: Array, decisions: Array, weights: Array) -> tuple[Indices, Indices]:
    """Return the columns of features, the constant first, and of decisions by their ranks."""
    of_features = np.append(0, 1 + np.argsort(column_ranks(features[:, 1:], weights)))
    return of_features, np.argsort(column_ranks(decisions, weights))


def _places(table: Array, mean: Array, shrink: Array) -> Array:
    """Return a table in deviations from the mean; what was not observed has a place of its own."""
    z = (_numbers(table) - mean) * shrink
    z[~np.isfinite(table)] = UNOBSERVED
    return np.asarray(z)


def _numbers(table: Array) -> Array:
    """Return a table with zeros for what was not observed, and for limits that are none."""
    finite = np.isfinite(table)
    return table if finite.all() else np.where(finite, table, 0.0)


def _key(z: Array, shape: tuple[float, float, float]) -> Array:
    first, second, third = shape
    return np.asarray((z * (first + z * (second + z * third))).sum(axis=1))
