"""Where decisions of least cost tie on the training samples."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.hypotheses import Hypothesis
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers.objective import Objective

#: Tied samples of a block whose faces are computed at most.
MAX_TIES_MEASURED = 200


def tied_share(objective: Objective, theta: Array) -> float:
    """Return the weighted share of samples with several minimisers in the learned region."""
    hypothesis = objective.hypothesis

    def one(block: Block) -> tuple[float, float]:
        rows = np.flatnonzero(_tied(hypothesis, theta, block))
        some = rows[:: 1 + len(rows) // MAX_TIES_MEASURED]
        features, costs = (np.ascontiguousarray(a[some]) for a in (block.features, block.costs))
        first = hypothesis.predict(theta, features, costs, ties="first")
        center = hypothesis.predict(theta, features, costs, ties="center")
        apart = np.abs(first - center) > SAME_TOL * np.maximum(np.abs(first), np.abs(center))
        if not len(some):
            return 0.0, float(block.weights.sum())
        share = np.average(apart.any(axis=1), weights=block.weights[some])
        return float(share * block.weights[rows].sum()), float(block.weights.sum())

    tied, weight = objective.samples.sum(one, objective.n_jobs)
    return tied / weight


def ties_met(objective: Objective, theta: Array) -> int:
    """Return the number of samples at whose cost minimisers tie."""
    hypothesis = objective.hypothesis

    def one(block: Block) -> int:
        return int(_tied(hypothesis, theta, block).sum())

    return objective.samples.sum(one, objective.n_jobs)


def _tied(hypothesis: Hypothesis, theta: Array, block: Block) -> Mask:
    """Say where minimisers may tie; kernels find it on their way."""
    found = hypothesis.solve_coded(theta, block.features, block.costs)
    if found is not None:
        return found[1]
    return hypothesis.tied(theta, block.features, block.costs)
