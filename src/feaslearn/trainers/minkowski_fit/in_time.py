"""How many samples a time limit has room for in the fit of a Minkowski sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.data import Shard, ShardSource, shards
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Objective
from feaslearn.trainers.minkowski_fit.fit import MinkowskiFit
from feaslearn.trainers.time_to_measure import affordable, measure_all

#: How often moments and losses of all samples must be possible within a limit, and moments alone.
ROUNDS, MOMENTS_ALONE = 4.0, 2.0
#: Samples whose fit says how long losses take.
SOME = 200


def affordable_samples(
    model: Minkowski, objective: Objective, squared: bool
) -> tuple[Objective, list[str]]:
    """Return the objective, or a part of its samples with a warning; see `affordable`.

    Squared predictability needs the moments alone, other losses are measured with parameters that
    some of the samples suggest.
    """
    if not objective.run.clock.limited or isinstance(objective.shards, ShardSource):
        return objective, []
    learned = objective.learned()

    def fit(rows: Sequence[Shard]) -> MinkowskiFit:
        return MinkowskiFit(model, rows, 1, np.random.default_rng(0), 1, learned.run)

    theta = None
    if not squared or learned is not objective:
        theta = fit([next(shards(learned.first, SOME))]).solve(0.0, 0.0).theta

    def work(part: Objective) -> None:
        _ = fit([part.learned().whole()]).moments
        if theta is not None:
            measure_all(part, theta)

    return affordable(objective, work, MOMENTS_ALONE if theta is None else ROUNDS)
