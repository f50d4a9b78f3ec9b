"""The same samples in units and in an order of columns of their own.

A search on a loss with many minima magnifies rounding errors: samples in W and in GW, or with
columns exchanged, would lead to different minima. Here numbers are centred, divided by their own
spread, put in the order of their columns' ranks and rounded, so that such data are the same to the
last bit before a search begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, ShardSource
from feaslearn.hypotheses import Affine
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.trainers.sample_order import MOST_SORTED, places
from feaslearn.trainers.standardize import Standardization, least_squares, weighted_sum

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Numbers of size one are rounded to multiples of this: far above rounding errors, far below noise.
GRAIN = 2.0**-33


@dataclass(frozen=True)
class CanonicalView:
    """How samples came: units and places of their features and decisions.

    ``features`` and ``decisions`` say which column stands in each place of the view.
    """

    standard: Standardization
    features: Indices
    decisions: Indices
    center: Array
    unit: float
    #: What a sample weighs on average.
    weight: float

    @classmethod
    def of(cls, objective: Objective) -> CanonicalView | None:
        """Measure an objective; None where units matter, or where the class has places of its own.

        Suboptimality of costs as they are depends on the unit of money. A copy of many samples
        would cost more than it is worth.
        """
        loss = objective.loss
        unit_free = isinstance(loss, Predictability) or (
            isinstance(loss, Suboptimality) and loss.normalize_cost
        )
        many = isinstance(objective.shards, ShardSource) or objective.n_samples > MOST_SORTED
        if many or not unit_free or type(objective.hypothesis) is not Affine:
            return None
        features, _, decisions, weights = objective.whole()
        center = least_squares(features[:, :1], decisions, weights)[0]
        squares = weighted_sum(np.nan_to_num(decisions - center) ** 2, weights)
        unit = float(np.sqrt(squares.sum() / weights.sum()))
        weight, columns = 1.0 / objective.n_samples, places(features, decisions, weights)
        return cls(Standardization.of(objective), *columns, center, unit or 1.0, weight)

    def apply(self, objective: Objective) -> Objective:
        """Return the objective in this view."""
        return self.standard.apply(objective).changed(self._rows)

    def _rows(self, shard: Shard) -> Shard:
        lengths = np.linalg.norm(shard.costs, axis=1, keepdims=True)
        costs = shard.costs / np.where(lengths > 0.0, lengths, 1.0)
        decisions = (shard.decisions - self.center) / self.unit
        return Shard(
            rounded(shard.features[:, self.features]),
            rounded(costs[:, self.decisions]),
            rounded(decisions[:, self.decisions]),
            rounded(shard.weights / self.weight) * self.weight,
        )

    def revert(self, objective: Objective, theta: Array) -> Array:
        """Return the parameters for the samples as they came."""
        hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
        maps = hypothesis.maps(theta, n, k)
        A, b = np.empty_like(maps.A), np.empty_like(maps.b)
        cells = np.ix_(self.features, self.decisions)
        A[cells], b[cells] = self.unit * maps.A, self.unit * maps.b
        b[0] += self.center
        return self.standard.revert(objective, hypothesis.theta_of(Maps(A, b)))


def rounded(table: Array) -> Array:
    """Return numbers of size one without the digits that only rounding made."""
    return np.ascontiguousarray(np.round(table / GRAIN) * GRAIN)


def rounded_shares(sizes: Array) -> Array:
    """Return positive numbers of any size without the digits that only rounding made."""
    parts, powers = np.frexp(sizes)
    return np.ldexp(rounded(parts), powers)
