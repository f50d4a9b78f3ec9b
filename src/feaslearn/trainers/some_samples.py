"""A part of the samples, where that is enough to choose by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from feaslearn.data import Shard, ShardSource, shards
from feaslearn.losses import Objective
from feaslearn.trainers.sample_order import positions

#: Samples on which the ridge is chosen and starts are compared, where there are more.
MOST_SAMPLES = 20_000
#: Samples in chunks up to which all are put in order before some are drawn.
MOST_KEYED = 10_000_000


def some_samples(
    objective: Objective, random: np.random.Generator, most: int | None = None
) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part.

    Of samples that are not in memory the part is, and few of them are taken whole. Up to ten
    million, they are the same that would be drawn in memory.
    """
    if isinstance(objective.shards, ShardSource):
        return replace(objective, shards=list(shards(_drawn(objective.shards, random))))
    sizes = [len(shard.weights) for shard in objective.shards]
    most = MOST_SAMPLES if most is None else most
    if sum(sizes) <= most:
        return objective
    drawn = np.sort(positions(objective.shards)[random.choice(sum(sizes), most, False)])
    ends = np.cumsum(sizes)
    parts = []
    for shard, size, end in zip(objective.shards, sizes, ends, strict=True):
        rows = drawn[(drawn >= end - size) & (drawn < end)] - (end - size)
        parts.append(Shard(*(array[rows] for array in shard)))
    rows = Shard(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    rows = rows._replace(weights=rows.weights / rows.weights.sum())
    return replace(objective, shards=list(shards(rows)))


def _drawn(source: ShardSource, random: np.random.Generator) -> Shard:
    """Return some of the samples that come in chunks."""
    survey = source.survey()
    total = survey.n_samples
    keyed = MOST_SAMPLES < total == survey.n_rows <= MOST_KEYED
    chosen = None
    if keyed:
        chosen = np.sort(positions(source)[random.choice(total, MOST_SAMPLES, replace=False)])
    rows = source.sample(MOST_SAMPLES, random, chosen)
    return rows._replace(weights=rows.weights / rows.weights.sum())
