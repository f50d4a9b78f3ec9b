"""The samples that facets are learned from, in units that do not matter."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.data import Shard
from feaslearn.hypotheses.facet_rows import FacetRows, FacetSolutions
from feaslearn.known import KnownLimits
from feaslearn.losses import Objective
from feaslearn.runs.memory import check_memory

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
    known: KnownLimits | None = None

    def solve(self, rows: FacetRows) -> FacetSolutions:
        """Minimise each cost over the region of its sample, within what is known."""
        return rows.solve(self.features, self.costs, self.known)

    def equalities(self, rows: FacetRows) -> Array:
        """Return the learned equalities and those known, as one matrix."""
        return rows.E if self.known is None else np.vstack([rows.E, self.known.E])

    def across(self) -> Array:
        """Return an orthonormal basis (n, r) of the directions that known equalities leave open.

        Decisions that never change are no directions either: bounds hold them, and an equality
        that says so once more would differ by rounding.
        """
        n = self.decisions.shape[1]
        if self.known is None or not len(self.known.E):
            return np.eye(n)
        still = np.eye(n)[np.ptp(self.decisions, axis=0) == 0.0]
        return np.asarray(null_space(np.vstack([self.known.E, still])))

    def rows(self, chosen: NDArray[np.generic]) -> Self:
        """Return some of the rows."""
        weights = self.weights[chosen]
        return type(self)(
            np.ascontiguousarray(self.features[chosen]),
            np.ascontiguousarray(self.costs[chosen]),
            np.ascontiguousarray(self.decisions[chosen]),
            weights / weights.sum(),
            self.importance,
            None if self.known is None else self.known.rows(chosen),
        )

    def split(self, held_out: float, random: np.random.Generator) -> tuple[Samples, Samples]:
        """Return rows to grow on, and a share of rows to accept facets by."""
        order = random.permutation(len(self.weights))
        count = max(1, round(held_out * len(order)))
        return self.rows(order[count:]), self.rows(order[:count])

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


def complete_rows(shard: Shard) -> NDArray[np.bool_]:
    """Say which rows facets are learned from: those that count, with every decision observed."""
    return ~np.isnan(shard.decisions).any(axis=1) & (shard.weights > 0.0)


def rows_of(objective: Objective) -> tuple[Shard, KnownLimits | None]:
    """Return all samples of an objective, and what is known of them."""
    whole = objective.whole()
    if objective.known is None:
        return whole, None
    features, known = objective.known.split(whole.features)
    return whole._replace(features=features), known


def check_size(objective: Objective, max_facets: int) -> None:
    """Refuse samples whose copies, limits and prices would not fit into memory."""
    count, n, k = objective.n_samples, objective.n_decisions, objective.n_features
    check_memory(
        count * (6.0 * (2 * n + k) + 3.0 * (max_facets + 3 * n)),
        f"facets of {count} samples with {n} decisions and {k} features",
        "fit to fewer samples, or use Facets(max_facets=...) with fewer",
    )
