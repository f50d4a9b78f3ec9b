"""Facets, one after the other: each the best cut through what is still too cheap.

An optimal decision says that every cheaper point is infeasible. The strongest such point is the
minimiser over the region learned so far; where it is cheaper than the decision, a facet is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.trainers.facet_learning.facet_program import fit_facet
from feaslearn.trainers.facet_learning.polish import polish
from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Rows displaced in directions with at least this cosine may be hindered by the same facet.
COSINES = (0.7, 0.8, 0.9)
#: How often the rows that a facet explains are chosen again.
RESELECTIONS = 8
#: A saving below this is rounding.
CHEAPER = 1e-5
#: A facet must lower the training loss by this share.
WORTHWHILE = 0.005
#: Rounds without a facet after which growth ends.
PATIENCE = 3
#: Steps of polishing after each facet, where there is noise.
POLISH = 30
#: With noise, a decision this many deviations from the minimiser is displaced, ...
DISPLACED = 5.0
#: ... and the minimiser may seem this many deviations dearer than the decision.
SEEMS_DEARER = 2.0


@dataclass(frozen=True)
class GrowthOptions:
    """What growth depends on.

    Attributes
    ----------
    max_facets : int
        Most facets.
    noise : float
        Standard deviation of the noise on decisions, in their units.
    support : int
        Rows that a facet must be tight in.
    tries : int
        Seeds of groups tried in each round.
    """

    max_facets: int
    noise: float
    support: int
    tries: int

    @property
    def tight(self) -> float:
        """Slack below which a facet binds."""
        return max(1e-5, 2.0 * self.noise)

    def hindered(self, shift: Array, costs: Array) -> Mask:
        """Say which decisions are not optimal in the region learned so far.

        Without noise, those with a cheaper minimiser. Noise hides small savings, while minimisers
        far from the decision still show: vertices far apart may cost almost the same.
        """
        gain = -np.einsum("ij,ij->i", shift, costs)
        if not self.noise:
            return np.asarray(gain > CHEAPER)
        far = np.linalg.norm(shift, axis=1) > DISPLACED * self.noise
        return np.asarray(far & (gain > -SEEMS_DEARER * self.noise))

    @property
    def strictness(self) -> float:
        """How much worse a violation is than slack: less strict where there is noise."""
        return 2.5 if self.noise else 5.0


@dataclass(frozen=True)
class Candidate:
    """A facet with the number of hindered rows it is tight in."""

    a: Array
    f: Array
    support: int


def loss_of(rows: FacetRows, samples: Samples) -> float:
    """Return the relative squared error of a region's decisions."""
    solutions = rows.solve(samples.features, samples.costs)
    return samples.loss(solutions.decisions, solutions.status == OPTIMAL)


def grow(
    rows: FacetRows,
    samples: Samples,
    held_out: Samples,
    options: GrowthOptions,
    random: np.random.Generator,
) -> FacetRows:
    """Add facets while they lower the training loss and do not raise that of held-out rows."""
    loss, outer = loss_of(rows, samples), loss_of(rows, held_out)
    failures = 0
    while len(rows.a) < options.max_facets and failures < PATIENCE:
        failures += 1
        best, best_loss = None, loss * (1.0 - WORTHWHILE)
        for candidate in _distinct(_candidates(rows, samples, options, random), options.tries):
            trial = rows.adding(candidate.a, candidate.f)
            value = loss_of(trial, samples)
            if value < best_loss:
                best, best_loss = trial, value
        if best is None:
            continue
        if options.noise:
            best = polish(best, samples, POLISH)
            best_loss = loss_of(best, samples)
        value = loss_of(best, held_out)
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
    """Fit facets to several groups of hindered rows."""
    solutions = rows.solve(samples.features, samples.costs)
    shift = solutions.decisions - samples.decisions
    hindered = (solutions.status == OPTIMAL) & options.hindered(shift, samples.costs)
    if hindered.sum() < options.support:
        return []
    search = _Search(rows, samples, np.where(hindered[:, None], shift, 0.0), hindered, options)
    length = np.linalg.norm(search.shift, axis=1)
    seeds = np.flatnonzero(hindered)
    count = min(options.tries, len(seeds))
    chosen = random.choice(seeds, count, replace=False, p=length[seeds] / length[seeds].sum())
    found = []
    for seed in chosen:
        cosine = search.shift @ search.shift[seed] / np.maximum(length * length[seed], 1e-300)
        found += list(search.facets(hindered & (cosine > random.choice(COSINES))))
    return found


class _Search:
    """Fits facets to groups of rows, choosing again which rows a facet explains."""

    def __init__(
        self,
        rows: FacetRows,
        samples: Samples,
        shift: Array,
        hindered: Mask,
        options: GrowthOptions,
    ) -> None:
        self.samples = samples
        self.shift = shift
        self.hindered = hindered
        self.options = options
        # A facet is only identified modulo the equalities: its normal is sought across them.
        n = samples.decisions.shape[1]
        self.basis = null_space(rows.E) if len(rows.E) else np.eye(n)
        self.points = np.hstack([-samples.decisions @ self.basis, samples.features])

    def facets(self, group: Mask) -> Iterator[Candidate]:
        """Yield the facets met while the group settles."""
        options, weights = self.options, self.samples.weights
        split = self.basis.shape[1]
        for _ in range(RESELECTIONS):
            if group.sum() < options.support:
                return
            share = weights * group
            mean = share @ self.shift / share.sum()
            cut = np.concatenate([mean @ self.basis, np.zeros(self.points.shape[1] - split)])
            w = fit_facet(self.points, weights, cut, group, options.strictness)
            if w is None or not np.linalg.norm(w[:split]) > 1e-12:
                return
            w = w / np.linalg.norm(w[:split])
            a, f = self.basis @ w[:split], w[split:]
            slack = self.points @ w
            depth = self.shift @ a - slack
            cut_off = self.hindered & (depth > options.tight)
            support = int((cut_off & (np.abs(slack) <= options.tight)).sum())
            if support >= options.support:
                yield Candidate(a, f, support)
            again = cut_off & (slack < np.maximum(options.tight, 0.1 * depth))
            if np.array_equal(again, group):
                return
            group = again
