"""A part of the samples, where that is enough to choose by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from feaslearn.data import Shard, shards
from feaslearn.losses import Objective
from feaslearn.trainers.sample_order import positions

#: Samples on which the ridge is chosen and starts are compared, where there are more.
MOST_SAMPLES = 20_000


def some_samples(objective: Objective, random: np.random.Generator) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part."""
    sizes = [len(shard.weights) for shard in objective.shards]
    if sum(sizes) <= MOST_SAMPLES:
        return objective
    drawn = np.sort(positions(objective.shards)[random.choice(sum(sizes), MOST_SAMPLES, False)])
    ends = np.cumsum(sizes)
    parts = []
    for shard, size, end in zip(objective.shards, sizes, ends, strict=True):
        rows = drawn[(drawn >= end - size) & (drawn < end)] - (end - size)
        parts.append(Shard(*(array[rows] for array in shard)))
    rows = Shard(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    rows = rows._replace(weights=rows.weights / rows.weights.sum())
    return replace(objective, shards=list(shards(rows)))
