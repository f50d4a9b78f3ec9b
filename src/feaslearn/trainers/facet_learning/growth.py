"""Facets, one after the other: each the best cut through what is still too cheap.

An optimal decision says that every cheaper point is infeasible. The strongest such point is the
minimiser over the region learned so far; where it is cheaper than the decision, a facet is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.trainers.facet_learning.facet_search import Candidate, FacetSearch, GrowthOptions
from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]

#: Rows displaced in directions with at least this cosine may be hindered by the same facet.
COSINES = (0.7, 0.8, 0.9)
#: A facet must lower the training loss by this share.
WORTHWHILE = 0.005
#: Squared loss of a sample whose region is empty, in units of the decisions' spread.
EMPTY = 2.0
#: Rounds without a facet after which growth ends.
PATIENCE = 3


def loss_of(rows: FacetRows, samples: Samples, options: GrowthOptions) -> float:
    """Return the squared loss of a region, relative to the spread of the data.

    By predictability, the error of its decisions. By suboptimality, what a cheaper point saves and
    the largest violation of a row, which is at most the distance to the region.
    """
    solutions = samples.solve(rows)
    solved = solutions.status == OPTIMAL
    if not options.by_cost:
        return samples.loss(solutions.decisions, solved)
    shift = solutions.decisions - samples.decisions
    saved = np.maximum(0.0, -np.einsum("ij,ij->i", shift, samples.costs))
    broken = rows.largest_violation(samples.features, samples.decisions)
    return float(samples.weights @ np.where(solved, saved**2 + broken**2, EMPTY))


def grow(
    rows: FacetRows,
    samples: Samples,
    held_out: Samples,
    options: GrowthOptions,
    random: np.random.Generator,
) -> FacetRows:
    """Add facets while they lower the training loss and do not raise that of held-out rows."""
    loss, outer = (loss_of(rows, each, options) for each in (samples, held_out))
    failures, run = 0, options.run
    while len(rows.a) < options.max_facets and failures < PATIENCE and not run.late():
        failures += 1
        best, best_loss = None, loss * (1.0 - WORTHWHILE)
        for candidate in _distinct(_candidates(rows, samples, options, random), options.tries):
            if run.late():
                break
            trial = rows.adding(candidate.a, candidate.f)
            value = loss_of(trial, samples, options)
            if value < best_loss:
                best, best_loss = trial, value
        if best is not None:
            value = loss_of(best, held_out, options)
            if value <= outer:
                rows, loss, outer, failures = best, best_loss, value, 0
    return rows


def _distinct(candidates: list[Candidate], most: int) -> list[Candidate]:
    """Return the candidates that are tight in most rows, without repetitions."""
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda item: -item.support):
        if len(kept) == most:
            break
        if not any(np.abs(candidate.a - other.a).max() < 1e-6 for other in kept):
            kept.append(candidate)
    return kept


def _candidates(
    rows: FacetRows, samples: Samples, options: GrowthOptions, random: np.random.Generator
) -> list[Candidate]:
    """Fit facets to several groups of hindered rows, each displaced like one of them."""
    search = FacetSearch(rows, samples, options)
    seeds = np.flatnonzero(search.hindered)
    if len(seeds) < options.support:
        return []
    length = np.linalg.norm(search.shift, axis=1)
    count = min(options.tries, len(seeds))
    chosen = random.choice(seeds, count, replace=False, p=length[seeds] / length[seeds].sum())
    found = []
    for seed in chosen:
        cosine = search.shift @ search.shift[seed] / np.maximum(length * length[seed], 1e-300)
        found += list(search.facets(search.hindered & (cosine > random.choice(COSINES))))
    return found
