"""How signals and decisions become what a loss reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import ResolvedCost
from feaslearn.data import Block
from feaslearn.features import FeatureMap

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SampleReader:
    """Makes features and costs of signals; an object, so that it can be sent.

    Parameters
    ----------
    features : FeatureMap
        How features are made of signals.
    cost : ResolvedCost or None
        How costs are read from signals; without, they stand beside them or are zero.
    """

    features: FeatureMap
    cost: ResolvedCost | None

    def __call__(self, rows: Block) -> Block:
        """Return samples whose signals stand in the place of features, in double precision."""
        signals, costs, decisions, weights = (
            # Kernels compile once more for arrays that cannot be written to.
            np.require(array, dtype=np.float64, requirements=["C", "W"])
            for array in rows
        )
        made = self.made(signals, decisions, weights)
        return made._replace(costs=costs) if costs.shape[1] else made

    def made(self, signals: Array, decisions: Array, weights: Array) -> Block:
        """Return samples with features and costs made of their signals."""
        columns = self.features.transform(signals)
        costs = np.zeros(decisions.shape) if self.cost is None else self.cost.evaluate(signals)
        return Block(columns, costs, decisions, weights)
