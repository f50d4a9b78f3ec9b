"""A part of the samples, where that is enough to choose by."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from feaslearn.data import Shard, ShardList, ShardSource, TableShards, shards
from feaslearn.data.shard_source import rows_taken
from feaslearn.losses import Objective
from feaslearn.trainers.sample_order import positions

#: Samples on which the ridge is chosen and starts are compared, where there are more.
MOST_SAMPLES = 20_000
#: Samples in chunks up to which all are put in order before some are drawn.
MOST_KEYED = 10_000_000


def some_samples(objective: Objective, random: np.random.Generator) -> Objective:
    """Return the objective itself, or with so many samples that a part will do, that part.

    Of samples that are not in memory the part is, and few of them are taken whole. Up to ten
    million, they are the same that would be drawn in memory.
    """
    if isinstance(objective.shards, ShardSource):
        return replace(objective, shards=list(shards(_drawn(objective.shards, random))))
    if objective.n_samples <= MOST_SAMPLES:
        return objective
    places = positions(objective.shards, objective.n_jobs)
    drawn = np.sort(places[random.choice(len(places), MOST_SAMPLES, replace=False)])
    if isinstance(objective.shards, TableShards):
        rows = objective.shards.rows(drawn)
    else:
        parts = list(ShardList(objective.shards).map(partial(rows_taken, drawn)))
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
        places = positions(source, source.n_jobs)
        chosen = np.sort(places[random.choice(total, MOST_SAMPLES, replace=False)])
    rows = source.sample(MOST_SAMPLES, random, chosen)
    return rows._replace(weights=rows.weights / rows.weights.sum())
