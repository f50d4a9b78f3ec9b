"""How long it takes to measure parameters, and how many samples a time limit has room for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, ShardSource, shards
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.losses import Objective
from feaslearn.trainers.returned_decisions import returned_loss, tied_share, ties_met
from feaslearn.trainers.some_samples import some_samples

Array = NDArray[np.float64]
#: Does with the samples of an objective what is to be timed.
Work = Callable[[Objective], object]

#: Share of the time left that is enough to find out how long a pass takes, and that is too much.
LOOK, MOST_LOOKED = 0.02, 0.04
#: A first look that takes a larger share of the time left is not repeated: it is not loading alone.
LOADED = 0.1
#: Seconds by which a limit may well be exceeded: shorter work is not planned for.
GRACE = 0.5
#: How often all samples must be measurable within a limit: otherwise a part of them is fitted to.
ROUNDS = 10.0
#: The same for parameters that are found already.
OFTEN_ENOUGH = 4.0
#: No part that is fitted to has fewer samples.
FEWEST = 50


def with_time_to_measure(objective: Objective, theta: Array | None = None) -> Objective:
    """Return the objective with less time, so that what is found can be measured in the rest.

    Without parameters to try, typical ones are measured.
    """
    clock = objective.run.clock
    tried = _typical(objective) if theta is None and clock.limited else theta
    if not clock.limited or tried is None:
        return objective
    seconds = seconds_of(objective, lambda part: measure_all(part, tried))
    return objective.limited(max(0.0, clock.left - max(0.0, seconds - GRACE)))


def affordable(
    objective: Objective, work: Work | None = None, rounds: float = ROUNDS, fewest: int = FEWEST
) -> tuple[Objective, list[str]]:
    """Return the objective, or with a limit that has no room for all samples, a part of them.

    Parameters
    ----------
    objective : Objective
        What a trainer is to minimise.
    work : callable, optional
        What a trainer does to all samples again and again; by default, parameters are measured,
        where the hypothesis is an affine image or has facets.
    rounds : float, default=ROUNDS
        How often that must be possible within the limit.
    fewest : int, default=FEWEST
        No part has fewer samples.

    Returns
    -------
    objective : Objective
        With all samples or some.
    warnings : list of str
        That they are some.
    """
    clock = objective.run.clock
    if work is None:
        theta = _typical(objective) if clock.limited else None
        work = None if theta is None else lambda part: measure_all(part, theta)
    if not clock.limited or work is None:
        return objective, []
    needed = rounds * seconds_of(objective, work)
    if needed <= clock.left + GRACE:
        return objective, []
    total = objective.n_samples
    count = min(total, max(fewest, int(total * clock.left / needed)))
    if count == total:
        return objective, []
    # What is written down of a part is no use to a run that has time for all.
    part = replace(_drawn(objective, count).within(f"{count} samples"), drawn=True)
    return part, [
        f"the time limit has no room for all samples: the model was fitted to {part.n_samples} of "
        f"{total}, drawn at random, and losses are those of these"
    ]


def measurable(objective: Objective, theta: Array) -> tuple[Objective, list[str]]:
    """Return as many samples as parameters can be measured on in time, and a warning if not all.

    How long that takes depends on the parameters: ties and known constraints that leave no decision
    take programs.
    """
    # Nothing is fitted to them: one sample may be all that there is time for.
    part, told = affordable(objective, lambda part: measure_all(part, theta), OFTEN_ENOUGH, 1)
    few = f"there was time to measure {part.n_samples} samples alone: losses are those of these"
    return part, [few] if told else []


def measure_all(objective: Objective, theta: Array) -> None:
    """Find out all that a result says of parameters."""
    objective.value(theta)
    returned_loss(objective, theta)
    tied_share(objective, theta)
    ties_met(objective, theta)


def seconds_of(objective: Objective, work: Work) -> float:
    """Return about how many seconds some work on all samples takes; it is done on some."""
    look = LOOK * objective.run.clock.left
    if isinstance(objective.shards, ShardSource):
        return _of_source(objective, objective.shards, work, look)
    first, total = objective.first, objective.n_samples
    alone = _timed(objective, next(shards(first, 1)), work)
    if alone < LOADED * objective.run.clock.left:
        alone = _timed(objective, next(shards(first, 1)), work)  # all is loaded now
    seconds, count, most = alone, 1, MOST_LOOKED * objective.run.clock.left
    while count < len(first.weights) and seconds < min(max(look, 2.0 * alone), most):
        part = next(shards(first, 4 * count))
        seconds, count = _timed(objective, part, work), len(part.weights)
    if count == 1:
        return alone * total
    # Some of it is done once, however many samples there are.
    return alone + max(0.0, seconds - alone) / (count - 1) * (total - 1)


def _of_source(objective: Objective, source: ShardSource, work: Work, look: float) -> float:
    """Return the seconds of a pass that reads its samples."""
    total, seen, began = source.survey().n_samples, 0, time.monotonic()
    answers = source.map(lambda shard, _: (_timed(objective, shard, work), len(shard.weights))[1])
    for count in answers:
        seen += count
        if time.monotonic() - began > look:
            break
    return (time.monotonic() - began) * total / max(1, seen)


def _timed(objective: Objective, shard: Shard, work: Work) -> float:
    began = time.monotonic()
    work(replace(objective, shards=[shard], n_jobs=1))
    return time.monotonic() - began


def _drawn(objective: Objective, count: int) -> Objective:
    """Return the objective with so many samples; of those in chunks, with some that were kept."""
    return some_samples(kept_samples(objective), np.random.default_rng(0), count)


def kept_samples(objective: Objective) -> Objective:
    """Return the objective with samples that a pass over chunks has kept; in memory, with all."""
    if not isinstance(objective.shards, ShardSource):
        return objective
    rows = objective.shards.survey().rows
    rows = rows._replace(weights=rows.weights / rows.weights.sum())
    return replace(objective, shards=list(shards(rows)))


def _typical(objective: Objective) -> Array | None:
    """Return parameters of a region around the mean decision; None for classes without a formula.

    Their decisions take about as long to find as those of parameters that are learned.
    """
    hypothesis, n = without_known(objective.hypothesis), objective.n_decisions
    if not isinstance(hypothesis, MapHypothesis | Facets):
        return None
    first, random = objective.learned().first, np.random.default_rng(0)
    k = first.features.shape[1]
    seen = ~np.isnan(first.decisions)
    mean = np.nan_to_num(first.decisions).sum(axis=0) / np.maximum(1, seen.sum(axis=0))
    spread = float(np.sqrt(np.nan_to_num((first.decisions - mean) ** 2).mean()))
    if isinstance(hypothesis, Facets):
        a = random.normal(size=(min(n, int(hypothesis.max_facets)), n))
        lower, upper, f = np.zeros((n, k)), np.zeros((n, k)), np.zeros((len(a), k))
        lower[:, 0], upper[:, 0], f[:, 0] = mean - spread, mean + spread, a @ mean + 0.5 * spread
        rows = FacetRows(np.zeros((0, n)), np.zeros((0, k)), lower, upper, a, f)
        return hypothesis.theta_of_rows(rows)
    p = hypothesis.latent(n).dimension
    maps = Maps(np.zeros((k, n, p)), np.zeros((k, n)))
    maps.b[0], maps.A[0] = mean, spread * random.normal(size=(n, p))
    return hypothesis.theta_of(maps)
