"""An order of decisions, points and rows of lifted regions that the samples give.

Where the program of a sample has several optimal bases, the order of its columns decides which of
them is found. Here it is the same however decisions were ordered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.lifted_region import LiftedRegion, LiftedSlopes
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.scaled import Scaled
from feaslearn.known import KnownLimits

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Places(NamedTuple):
    """Which decision, entry of the points y and row ``W y <= w`` stands in each place."""

    decisions: Indices
    points: Indices
    rows: Indices

    @classmethod
    def of(cls, hypothesis: Hypothesis, lifted: LiftedRegion, decisions: Indices) -> Places:
        """Return the places of regions whose decisions stand in a given order.

        Points of sums and of scaled sets belong to decisions and go where these go, told apart by
        the decisions that their rows are about. Those of affine images have an order of their own.
        """
        points, rows = (np.arange(size) for size in reversed(lifted.W.shape))
        if isinstance(hypothesis, Minkowski | Scaled):
            M = np.abs(lifted.M if lifted.M.ndim == 2 else lifted.M.mean(axis=0))[decisions]
            moved, W = (M > 0.0).astype(float), (lifted.W != 0.0).astype(float)
            about = W @ moved.T
            points = np.lexsort((*(W.T @ about).T, *moved))
            rows = np.lexsort((*about.T, np.zeros(len(W))))
        return cls(decisions, points, rows)

    def region(self, lifted: LiftedRegion) -> LiftedRegion:
        """Return lifted regions in this order."""
        return LiftedRegion(
            lifted.M[..., self.decisions, :][..., self.points],
            lifted.m[:, self.decisions],
            lifted.lower[:, self.points],
            lifted.upper[:, self.points],
            lifted.W[np.ix_(self.rows, self.points)],
            lifted.w[:, self.rows],
            lifted.slack[self.rows],
        )

    def known(self, known: KnownLimits) -> KnownLimits:
        """Return known constraints on decisions in this order."""
        own = self.decisions
        return known._replace(
            G=known.G[:, own],
            E=known.E[:, own],
            lower=known.lower[:, own],
            upper=known.upper[:, own],
        )

    def back(self, slopes: LiftedSlopes) -> LiftedSlopes:
        """Return slopes in the order in which regions came."""
        decisions, points, rows = (np.argsort(order) for order in self)
        return LiftedSlopes(
            slopes.M[:, decisions][:, :, points],
            slopes.m[:, decisions],
            slopes.lower[:, points],
            slopes.upper[:, points],
            slopes.w[:, rows],
        )
