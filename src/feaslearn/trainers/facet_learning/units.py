"""Units and places of samples' own, in which facets are grown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.known import KnownLimits
from feaslearn.trainers.canonical_view import rounded, rounded_shares
from feaslearn.trainers.facet_learning.samples import Samples, complete_rows
from feaslearn.trainers.sample_order import Indices, places
from feaslearn.trainers.standardize import moments, observed_mean

Array = NDArray[np.float64]

#: Decisions that deviate by less than this share of the usual deviation are in its units.
STILL = 1e-9


class Units(NamedTuple):
    """What makes features, decisions and costs comparable: ``x = center + scale * x'``.

    Growing a region magnifies the last digit: samples in W and in GW, or with columns exchanged,
    would have different facets. So numbers are rounded here, and ``features`` and ``decisions`` say
    which column stands in each place.
    """

    mean: Array
    spread: Array
    center: Array
    scale: Array
    features: Indices
    decisions: Indices

    @classmethod
    def of(cls, shard: Shard) -> Units:
        """Measure a shard; a feature that never changes is left out, divided by infinity."""
        weights = shard.weights / shard.weights.sum()
        center = observed_mean(shard.decisions, weights)
        scale = np.sqrt(observed_mean((shard.decisions - center) ** 2, weights))
        usual = np.sqrt((scale**2).mean()) or 1.0
        scale[scale <= STILL * usual] = usual
        units = *moments([shard.features], [weights]), center, scale
        return cls(*units, *places(shard.features, shard.decisions, weights))

    def apply(self, shard: Shard, known: KnownLimits | None = None) -> Samples:
        """Return the complete rows of a shard in these units, with what is known of them."""
        complete = complete_rows(shard)
        costs = (shard.costs * self.scale)[:, self.decisions]
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        features = (shard.features - self.mean) / self.spread
        squares = self.scale[self.decisions] ** 2
        whole = Samples(
            rounded(features[:, self.features]),
            rounded(costs / np.where(lengths > 0.0, lengths, 1.0)),
            self.points(shard.decisions),
            rounded_shares(shard.weights / shard.weights[complete].mean()),
            rounded_shares(squares / squares.mean()),
            None if known is None else self._scaled(known),
        )
        return whole.rows(complete)

    def points(self, decisions: Array) -> Array:
        """Return decisions, or bounds on them, in these units."""
        return rounded(((decisions - self.center) / self.scale)[:, self.decisions])

    def directions(self, rows: Array) -> Array:
        """Return rows that are multiplied with decisions, for these units and of length one."""
        own = (rows * self.scale)[:, self.decisions]
        return rounded(own / np.linalg.norm(own, axis=1, keepdims=True))

    def _scaled(self, known: KnownLimits) -> KnownLimits:
        """Return known constraints on decisions in these units, in rows of length one."""
        lengths, sizes = (np.linalg.norm(rows * self.scale, axis=1) for rows in (known.G, known.E))
        return KnownLimits(
            self.directions(known.G),
            self.directions(known.E),
            rounded((known.g - known.G @ self.center) / lengths),
            self.points(known.lower),
            self.points(known.upper),
            rounded((known.e - known.E @ self.center) / sizes),
        )

    def revert(self, rows: FacetRows) -> FacetRows:
        """Return rows for the features and decisions as they were."""
        E, e = self._revert_rows(rows.E, rows.e)
        a, f = self._revert_rows(rows.a, rows.f)
        lower, upper = (self._revert_bounds(side) for side in (rows.lower, rows.upper))
        return FacetRows(E, e, lower, upper, a, f)

    def _revert_rows(self, matrix: Array, right: Array) -> tuple[Array, Array]:
        own = np.empty_like(matrix)
        own[:, self.decisions] = matrix / self.scale[self.decisions]
        side = self._coefficients(right)
        side[:, 0] += own @ self.center
        lengths = np.linalg.norm(own, axis=1, keepdims=True)
        return own / lengths, side / lengths

    def _revert_bounds(self, side: Array) -> Array:
        own = np.empty_like(side)
        own[self.decisions] = self._coefficients(side)
        own *= self.scale[:, None]
        own[:, 0] += self.center
        return own

    def _coefficients(self, right: Array) -> Array:
        """Return coefficients of the features as they were."""
        own = np.empty_like(right)
        own[:, self.features] = right
        own = own / self.spread
        own[:, 0] -= own @ self.mean
        return own
