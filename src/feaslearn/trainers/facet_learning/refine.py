"""Facets that were learned one after the other, reconsidered all together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facet_learning.facet_search import FacetSearch, GrowthOptions
from feaslearn.trainers.facet_learning.growth import grow, loss_of
from feaslearn.trainers.facet_learning.response import confirmed
from feaslearn.trainers.facet_learning.samples import Samples

#: A facet fitted again must lower the training loss by this share.
BETTER = 1e-6
#: Facets without which the loss rises by no more than this share, or than rounding, go.
NEEDED, ROUNDING = 1e-9, 1e-13


def refit(rows: FacetRows, samples: Samples, options: GrowthOptions) -> FacetRows:
    """Fit each facet again, given all others, as long as that lowers the training loss.

    A facet learned early had to explain rows that belong to facets learned later.
    """
    loss = loss_of(rows, samples, options)
    place = 0
    for _ in range(10 * len(rows.a)):
        if place == len(rows.a) or options.run.late():
            break
        a, f = rows.a[place], rows.f[place]
        others = _keeping(rows, [j for j in range(len(rows.a)) if j != place])
        search = FacetSearch(others, samples, options)
        depth = search.shift @ a - (samples.features @ f - samples.decisions @ a)
        better = None
        for candidate in search.facets(search.hindered & (depth > options.tight)):
            trial = others.adding(candidate.a, candidate.f)
            value = loss_of(trial, samples, options)
            if value < loss * (1.0 - BETTER):
                better, loss = trial, value
        if better is None:
            place += 1
        else:
            # The new facet stands last; the next one has moved to this place.
            rows = better
    return rows


def prune(rows: FacetRows, samples: Samples, options: GrowthOptions) -> FacetRows:
    """Drop the facets that no sample needs, those that bind least often first."""
    prices = samples.solve(rows).prices[:, len(rows.E) :]
    limit = loss_of(rows, samples, options) * (1.0 + NEEDED) + ROUNDING
    kept = list(range(len(rows.a)))
    for facet in np.argsort((prices > 0.0).sum(axis=0), kind="stable"):
        fewer = [j for j in kept if j != facet]
        if options.run.late():
            break
        if loss_of(_keeping(rows, fewer), samples, options) <= limit:
            kept = fewer
    return _keeping(rows, kept)


def better_of(
    new: FacetRows, old: FacetRows, held_out: Samples, options: GrowthOptions
) -> FacetRows:
    """Return the new rows unless held-out rows speak against them."""
    return new if loss_of(new, held_out, options) <= loss_of(old, held_out, options) else old


def completed(
    rows: FacetRows, samples: Samples, options: GrowthOptions, random: np.random.Generator
) -> FacetRows:
    """Grow once more on all rows, and keep the facets that confirm themselves."""
    grown = refit(grow(rows, samples, samples, options, random), samples, options)
    sure = confirmed(grown, samples)
    both = rows.with_facets(np.vstack([rows.a, grown.a[sure]]), np.vstack([rows.f, grown.f[sure]]))
    pruned = prune(both, samples, options)
    return pruned if len(pruned.a) <= options.max_facets else rows


def _keeping(rows: FacetRows, facets: Sequence[int]) -> FacetRows:
    """Return the rows with some of their facets."""
    chosen = np.asarray(facets, dtype=int)
    return rows.with_facets(rows.a[chosen], rows.f[chosen])
