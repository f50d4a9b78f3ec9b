"""One region, grown on a part of the rows and reconsidered until nothing helps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.facet_loss import facet_loss
from feaslearn.kernels.small_lp import workspace
from feaslearn.trainers.facet_learning.facet_search import FacetSearch, GrowthOptions
from feaslearn.trainers.facet_learning.growth import WORTHWHILE, grow, loss_of
from feaslearn.trainers.facet_learning.response import confirmed
from feaslearn.trainers.facet_learning.samples import Samples
from feaslearn.trainers.quasi_newton import quasi_newton

#: Growths of one region, each after what has grown was reconsidered.
CYCLES = 3
#: Steps of the last polish, where there is noise.
POLISH = 100
#: A relative squared error below this is rounding.
NEGLIGIBLE = 1e-12

Array = NDArray[np.float64]

#: What an empty region costs, in units of the spread of the decisions.
EMPTY = 10.0

#: A facet fitted again must lower the training loss by this share.
BETTER = 1e-6
#: Facets without which the loss rises by no more than this share, or than rounding, go.
NEEDED, ROUNDING = 1e-9, 1e-13


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


# All numbers of a region moved together to lower the exact loss.


def polish(rows: FacetRows, samples: Samples, max_iter: int, options: GrowthOptions) -> FacetRows:
    """Return rows with a lower training loss, by quasi-Newton steps on the squared loss.

    The loss is smooth while the active rows of all samples stay the same, and jumps where they
    change: the search only goes down.
    """
    shapes = [part.shape for part in rows]
    stops = np.cumsum([part.size for part in rows])[:-1]
    fixed = _Fixed.of(rows, samples)
    work = workspace(len(rows.E) + len(rows.a) + len(fixed.G), rows.E.shape[1])
    slack = np.append(rows.slack_limits(), fixed.slack)
    q, m, k = len(rows.E), len(rows.a), rows.e.shape[1]
    penalty = EMPTY * samples.spread()

    def unpack(theta: Array) -> FacetRows:
        parts = zip(np.split(theta, stops), shapes, strict=True)
        return FacetRows(*(np.ascontiguousarray(part.reshape(shape)) for part, shape in parts))

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        E, e, lower, upper, a, f = unpack(theta)
        G, H, L, U = fixed.beside(np.vstack([E, a]), np.vstack([e, f]), lower, upper)
        slopes = [np.zeros_like(part) for part in (G, H, L, U)]
        value = facet_loss(work, G, H, L, U, slack, fixed.features, *samples[1:5], penalty, *slopes)
        dG, dH, d_lower, d_upper = slopes
        dH, d_lower, d_upper = (part[:, :k] for part in (dH, d_lower, d_upper))
        # Bounds that do not move with the features are kept that way, what was given as it is.
        first = 0 if options.firm.bounds else 1
        d_lower[:, first:] = 0.0
        d_upper[:, first:] = 0.0
        if options.firm.equalities:
            dG[:q] = 0.0
        parts = (dG[:q], dH[:q], d_lower, d_upper, dG[q : q + m], dH[q : q + m])
        return value, np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([part.ravel() for part in rows])
    found = quasi_newton(value_and_gradient, start, options.run, maxiter=max_iter)
    return unpack(found.x) if found.fun < value_and_gradient(start)[0] else rows


class _Fixed(NamedTuple):
    """Known rows ``G x <= H phi``, which do not move.

    Their right-hand sides, and bounds where these are known too, stand behind the features.
    """

    G: Array
    slack: Array
    features: Array
    bounded: bool

    @classmethod
    def of(cls, rows: FacetRows, samples: Samples) -> Self:
        """Return what is known of the samples of a region."""
        known, n = samples.known, rows.E.shape[1]
        if known is None:
            return cls(np.zeros((0, n)), np.zeros(0), samples.features, False)
        lower = np.maximum(samples.features @ rows.lower.T, known.lower)
        upper = np.minimum(samples.features @ rows.upper.T, known.upper)
        behind = [samples.features, known.e, -known.g, lower, upper]
        slack = np.repeat([0.0, np.inf], [len(known.E), len(known.G)])
        return cls(np.vstack([known.E, -known.G]), slack, np.hstack(behind), True)

    def beside(self, G: Array, H: Array, lower: Array, upper: Array) -> tuple[Array, ...]:
        """Return rows and bounds with those that are known."""
        if not self.bounded:
            return G, H, lower, upper
        (m, k), (r, n) = H.shape, self.G.shape
        wide = np.zeros((m + r + 2 * n, self.features.shape[1]))
        wide[:m, :k] = H
        wide[m:, k:] = np.eye(r + 2 * n)
        H, lower, upper = np.split(wide, [m + r, m + r + n])
        return np.vstack([G, self.G]), H, lower, upper


# Facets that were learned one after the other, reconsidered all together.


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
