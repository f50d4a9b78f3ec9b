"""The samples that facets are learned from, in units that do not matter."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.facet_rows import FacetRows

Array = NDArray[np.float64]


class Samples(NamedTuple):
    """Features, costs and decisions of complete rows, with weights that sum to one.

    Decisions are in units of their own spread; ``importance`` says what a squared error of each
    counts in the units they came in.
    """

    features: Array
    costs: Array
    decisions: Array
    weights: Array
    importance: Array

    def rows(self, chosen: NDArray[np.generic]) -> Self:
        """Return some of the rows."""
        weights = self.weights[chosen]
        return type(self)(
            np.ascontiguousarray(self.features[chosen]),
            np.ascontiguousarray(self.costs[chosen]),
            np.ascontiguousarray(self.decisions[chosen]),
            weights / weights.sum(),
            self.importance,
        )

    def loss(self, decisions: Array, solved: NDArray[np.bool_]) -> float:
        """Return the squared error of decisions, relative to the spread of the data.

        Where there is no decision (an empty region), twice the spread counts.
        """
        spread = self.spread()
        squares = (decisions - self.decisions) ** 2 @ self.importance
        return float(self.weights @ np.where(solved, squares, 2.0 * spread)) / max(spread, 1e-300)

    def spread(self) -> float:
        """Return the weighted variance of the decisions, summed as they count."""
        center = self.weights @ self.decisions
        return float(self.weights @ ((self.decisions - center) ** 2 @ self.importance))


class Units(NamedTuple):
    """Scales that make features, decisions and costs comparable: ``x = offset + scale * x'``."""

    mean: Array
    spread: Array
    scale: Array

    @classmethod
    def of(cls, shard: Shard) -> Units:
        """Measure a shard; what is constant keeps its unit."""
        weights = shard.weights / shard.weights.sum()
        mean = weights @ shard.features
        spread = np.sqrt(weights @ (shard.features - mean) ** 2)
        spread[spread <= 1e-12 * np.maximum(1.0, np.abs(mean))] = 1.0
        mean[0], spread[0] = 0.0, 1.0
        scale = np.nanstd(shard.decisions, axis=0)
        usual = np.sqrt((scale**2).mean()) or 1.0
        scale[scale <= 1e-9 * usual] = usual
        return cls(mean, spread, scale)

    def apply(self, shard: Shard) -> Samples:
        """Return the complete rows of a shard in these units."""
        complete = ~np.isnan(shard.decisions).any(axis=1) & (shard.weights > 0.0)
        costs = shard.costs * self.scale
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        whole = Samples(
            (shard.features - self.mean) / self.spread,
            costs / np.where(lengths > 0.0, lengths, 1.0),
            shard.decisions / self.scale,
            shard.weights,
            self.scale**2 / (self.scale**2).mean(),
        )
        return whole.rows(complete)

    def revert(self, rows: FacetRows) -> FacetRows:
        """Return rows for the features and decisions as they were."""

        def coefficients(f: Array) -> Array:
            own = f / self.spread
            own[:, 0] -= own @ self.mean
            return own

        E, e = rows.E / self.scale, coefficients(rows.e)
        a, f = rows.a / self.scale, coefficients(rows.f)
        lengths, sizes = (np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in (a, E))
        return FacetRows(
            E / sizes,
            e / sizes,
            coefficients(rows.lower) * self.scale[:, None],
            coefficients(rows.upper) * self.scale[:, None],
            a / lengths,
            f / lengths,
        )
