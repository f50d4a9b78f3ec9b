"""Columns on which no decision depends, and where they could be of use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.trainers.annealed_objective import AnnealedObjective
from feaslearn.trainers.some_samples import some_samples

Array = NDArray[np.float64]


def dead_columns(problem: AnnealedObjective, theta: Array) -> NDArray[np.bool_]:
    """Say which columns of A no returned decision of the training rows depends on."""
    objective = problem.objective
    n, k = objective.n_decisions, objective.n_features
    maps, primitive = objective.maps().maps(theta, n, k), objective.maps().latent(n)

    def one(shard: Shard) -> Array:
        q = np.einsum("inp,in->ip", maps.at(shard.features)[0], shard.costs)
        return np.asarray(np.abs(primitive.argmin(q)).max(axis=0, initial=0.0))

    used = np.max(objective.each_shard(one), axis=0)
    return np.asarray(used == 0.0)


def revive(problem: AnnealedObjective, theta: Array, dead: NDArray[np.bool_]) -> Array:
    """Return parameters whose dead columns go through decisions that are explained worst.

    Such a column is the linear policy moved to meet one sample, as in `DataStart`; where the
    hypothesis has an offset, the column leads from it to that sample. Each is chosen for what the
    columns before it leave unexplained.
    """
    objective = problem.objective
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    some = some_samples(objective, np.random.default_rng(0))
    features, costs, decisions, weights = some.whole()
    maps = hypothesis.maps(theta, n, k)
    offset = "b" in hypothesis.layout(n, k).shapes
    # The policy, or what stands for it: all columns of the centre are the same.
    start = np.zeros((k, n)) if offset else hypothesis.maps(problem.center, n, k).A[:, :, 0]
    around = features @ (maps.b + start)
    A = maps.A.copy()
    left = _squares(hypothesis.predict(theta, features, costs) - decisions)
    for column in np.flatnonzero(dead):
        worst = int(np.argmax(weights * left))
        move = np.nan_to_num(decisions[worst] - around[worst])
        A[:, :, column] = start
        A[0, :, column] += move
        left = np.minimum(left, _squares(around + move - decisions))
    return hypothesis.theta_of(Maps(A, maps.b))


def _squares(residuals: Array) -> Array:
    """Return the squared length of each row; what was not observed does not count."""
    return np.asarray(np.nansum(residuals**2, axis=1))
