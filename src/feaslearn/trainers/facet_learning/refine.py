"""Facets that were learned one after the other, reconsidered all together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facet_learning.facet_search import FacetSearch, GrowthOptions
from feaslearn.trainers.facet_learning.growth import loss_of
from feaslearn.trainers.facet_learning.samples import Samples

#: A facet fitted again must lower the training loss by this share.
BETTER = 1e-6
#: Facets without which the loss rises by no more than this share, or than rounding, go.
NEEDED, ROUNDING = 1e-9, 1e-13


def refit(rows: FacetRows, samples: Samples, options: GrowthOptions) -> FacetRows:
    """Fit each facet again, given all others, as long as that lowers the training loss.

    A facet learned early had to explain rows that belong to facets learned later.
    """
    loss = loss_of(rows, samples)
    place = 0
    for _ in range(10 * len(rows.a)):
        if place == len(rows.a):
            break
        a, f = rows.a[place], rows.f[place]
        others = _keeping(rows, [j for j in range(len(rows.a)) if j != place])
        search = FacetSearch(others, samples, options)
        depth = search.shift @ a - (samples.features @ f - samples.decisions @ a)
        better = None
        for candidate in search.facets(search.hindered & (depth > options.tight)):
            trial = others.adding(candidate.a, candidate.f)
            value = loss_of(trial, samples)
            if value < loss * (1.0 - BETTER):
                better, loss = trial, value
        if better is None:
            place += 1
        else:
            # The new facet stands last; the next one has moved to this place.
            rows = better
    return rows


def prune(rows: FacetRows, samples: Samples) -> FacetRows:
    """Drop the facets that no sample needs, those that bind least often first."""
    prices = rows.solve(samples.features, samples.costs).prices[:, len(rows.E) :]
    limit = loss_of(rows, samples) * (1.0 + NEEDED) + ROUNDING
    kept = list(range(len(rows.a)))
    for facet in np.argsort((prices > 0.0).sum(axis=0), kind="stable"):
        fewer = [j for j in kept if j != facet]
        if loss_of(_keeping(rows, fewer), samples) <= limit:
            kept = fewer
    return _keeping(rows, kept)


def _keeping(rows: FacetRows, facets: Sequence[int]) -> FacetRows:
    """Return the rows with some of their facets."""
    chosen = np.asarray(facets, dtype=int)
    return rows._replace(a=rows.a[chosen], f=rows.f[chosen])
