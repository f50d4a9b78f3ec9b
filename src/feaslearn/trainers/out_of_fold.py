r"""Folds of samples.

Equal samples share a fold, so that copies count as a weight does. Folds are drawn in the order of a
key of each sample,

.. math:: \kappa_i = \sum_j g(z_{ij}), \qquad z_{ij} = (v_{ij} - m_j) / d_j

over its features, costs and decisions :math:`v_{ij}` in units of their own spread: neither units
nor the order of rows and columns change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import moments

#: Coefficients of z, z^2 and z^3 in the keys of features, costs and decisions: no two alike.
SHAPES = ((1.0, 0.3141, 0.0271), (0.7173, 0.2236, 0.0141), (0.5772, 0.1618, 0.0173))
#: Where a decision that was not observed stands, in deviations from the mean.
UNOBSERVED = 3.3
#: Samples on which penalties and hypotheses are chosen and starts are compared, of more.
MOST_SAMPLES = 20_000


def folds_of(parts: Sequence[Block], n_folds: int, random: np.random.Generator) -> Indices:
    """Return the fold of each sample; equal samples are in one fold, folds are about as large."""
    # Where there are fewer different samples than folds, there are fewer folds.
    keys = sample_keys(parts)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    # Closer keys are those of one group, which no fold cuts in two.
    gap = SAME_TOL * (1.0 + np.abs(sorted_keys[1:]))
    group = np.append(0, np.cumsum(np.diff(sorted_keys) > gap))
    count = int(group[-1]) + 1
    fold = np.empty(len(keys), dtype=np.intp)
    fold[order] = (random.permutation(count) % min(n_folds, count))[group]
    return fold


def sample_keys(parts: Sequence[Block]) -> Array:
    """Return one number for each sample, the same for equal samples."""
    weights = [part.weights for part in parts]
    keys = np.zeros(sum(len(each) for each in weights))
    for i, shape in enumerate(SHAPES):
        tables = [part[i] for part in parts]
        finite = [numbers_of(table) for table in tables]
        mean, scale = moments(finite, weights, constant_first=False)
        shrink = 1.0 / scale
        first, second, third = shape
        for start, table in zip(np.cumsum([0, *map(len, weights)]), tables, strict=False):
            z = (numbers_of(table) - mean) * shrink
            z[~np.isfinite(table)] = UNOBSERVED
            key = z * (first + z * (second + z * third))
            keys[start : start + len(z)] += key.sum(axis=1)
    return keys


def numbers_of(table: Array) -> Array:
    """Return a table with zeros for what was not observed, and for limits that are none."""
    finite = np.isfinite(table)
    return table if finite.all() else np.where(finite, table, 0.0)


def subsample(objective: Objective, random: np.random.Generator) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part."""
    return replace(objective, samples=objective.samples.subsample(MOST_SAMPLES, random))
