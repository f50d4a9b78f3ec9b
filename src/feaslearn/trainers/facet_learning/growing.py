"""One region, grown on a part of the rows and reconsidered until nothing helps."""

from __future__ import annotations

from functools import partial

import numpy as np

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facet_learning.facet_search import GrowthOptions
from feaslearn.trainers.facet_learning.growth import WORTHWHILE, grow, loss_of
from feaslearn.trainers.facet_learning.polish import polish
from feaslearn.trainers.facet_learning.refine import better_of, completed, prune, refit
from feaslearn.trainers.facet_learning.samples import Samples

#: Growths of one region, each after what has grown was reconsidered.
CYCLES = 3
#: Steps of the last polish, where there is noise.
POLISH = 100
#: A relative squared error below this is rounding.
NEGLIGIBLE = 1e-12


def grown_region(
    start: FacetRows, samples: Samples, options: GrowthOptions, random: np.random.Generator
) -> FacetRows:
    """Grow, reconsider what has grown, and go on growing while that helps."""
    inner, outer = samples.split(options.held_out, random)
    if min(len(inner.weights), len(samples.weights) - options.support) < options.support:
        return start
    rows, loss = start, loss_of(start, inner, options)
    for _ in range(CYCLES):
        grown = grow(rows, inner, outer, options, random)
        better = better_of(refit(grown, inner, options), grown, outer, options)
        rows = prune(better, inner, options)
        last, loss = loss, loss_of(rows, inner, options)
        if loss <= NEGLIGIBLE or loss > (1.0 - WORTHWHILE) * last or options.run.late():
            break
    if options.run.late():
        return rows
    if options.noise:
        polished = polish(rows, inner, POLISH, options)
        return better_of(polished, rows, outer, options)
    if loss <= NEGLIGIBLE:
        return rows
    return completed(rows, samples, options, random)


def held_out_growth(
    start: FacetRows, samples: Samples, options: GrowthOptions, seed: int, name: str
) -> tuple[FacetRows, float]:
    """Grow a region; return it with its loss on the rows that its growth held out."""
    try:
        random = np.random.default_rng(seed)
        work = partial(grown_region, start, samples, options, random)
        rows = FacetRows(*options.run.cached(name, work))
    except KeyboardInterrupt:
        options.run.clock.interrupt()
        rows = start
    _, outer = samples.split(options.held_out, np.random.default_rng(seed))  # the same split
    return rows, loss_of(rows, outer, options)
