"""A part of the samples, where that is enough to choose by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from feaslearn.data import Shard, ShardSource, TableShards, shards
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
    table = objective.shards
    if not isinstance(table, TableShards):
        table = TableShards(objective.whole())
    places = positions(table, objective.n_jobs)
    rows = table.rows(np.sort(places[random.choice(table.n_rows, MOST_SAMPLES, False)]))
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
