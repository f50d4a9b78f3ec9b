"""Columns on which no decision depends, and where they could be of use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.trainers.annealed_objective import AnnealedObjective

Array = NDArray[np.float64]


def dead_columns(problem: AnnealedObjective, theta: Array) -> NDArray[np.bool_]:
    """Say which columns of A no returned decision of the training rows depends on."""
    objective = problem.objective
    n, k = objective.n_decisions, objective.n_features
    maps, primitive = objective.maps().maps(theta, n, k), objective.maps().latent(n)

    def one(shard: Shard) -> Array:
        q = np.einsum("inp,in->ip", maps.at(shard.features)[0], shard.costs)
        return np.asarray(np.abs(primitive.argmin(q)).max(axis=0, initial=0.0))

    used = np.max(objective.each(one, objective.shards), axis=0)
    return np.asarray(used == 0.0)


def revive(problem: AnnealedObjective, theta: Array, dead: NDArray[np.bool_]) -> Array:
    """Return parameters whose dead columns go through the decisions that are explained worst.

    Such a column is the linear policy moved to meet one sample, as in `DataStart`; where the
    hypothesis has an offset, the column leads from it to that sample.
    """
    objective = problem.objective
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    features, costs, decisions, weights = objective.whole()
    found = hypothesis.predict(theta, features, costs)
    worst = np.argsort(-weights * np.nansum((found - decisions) ** 2, axis=1), kind="stable")
    maps = hypothesis.maps(theta, n, k)
    A = maps.A.copy()
    center = hypothesis.maps(problem.center, n, k)
    for column, row in zip(np.flatnonzero(dead), worst, strict=False):
        start = center.A[:, :, column] if "b" not in hypothesis.layout(n, k).shapes else None
        offset = features[row] @ (maps.b if start is None else start)
        A[:, :, column] = 0.0 if start is None else start
        A[0, :, column] += np.nan_to_num(decisions[row] - offset)
    return hypothesis.theta_of(Maps(A, maps.b))
