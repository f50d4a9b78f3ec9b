"""A part of the samples, where that is enough to choose by."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from feaslearn.data import Shard, ShardList, ShardSource, TableShards, shards
from feaslearn.data.shard_source import rows_taken
from feaslearn.losses import Objective

#: Samples on which the ridge is chosen and starts are compared, where there are more.
MOST_SAMPLES = 20_000


def some_samples(objective: Objective, random: np.random.Generator) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part.

    Of samples that are not in memory the part is, and few of them are taken whole.
    """
    if isinstance(objective.shards, ShardSource):
        rows = objective.shards.sample(MOST_SAMPLES, random)
    elif objective.n_samples <= MOST_SAMPLES:
        return objective
    else:
        drawn = np.sort(random.choice(objective.n_samples, MOST_SAMPLES, replace=False))
        if isinstance(objective.shards, TableShards):
            rows = objective.shards.rows(drawn)
        else:
            parts = list(ShardList(objective.shards).map(partial(rows_taken, drawn)))
            rows = Shard(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    rows = rows._replace(weights=rows.weights / rows.weights.sum())
    return replace(objective, shards=list(shards(rows)))
