"""Least squares with the minimisers held: a polish on the exact loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.trainers.annealed_objective import AnnealedObjective

Array = NDArray[np.float64]

#: Rounds of minimisers and least squares.
ROUNDS = 5
#: More parameters for each decision than this are not refitted: the normal equations are dense.
MOST_PARAMETERS = 1000


def polish(problem: AnnealedObjective, theta: Array) -> Array:
    """Return parameters refitted with the ridge, or without it where that explains all samples.

    Where the samples are explained already, a refit with the ridge would lead away from that.
    """
    explained = problem.explained(theta)
    best = theta if explained else refit(problem, theta)
    bare = refit(problem.without_ridge(), best)
    return bare if explained or problem.explained(bare) else best


def refit(problem: AnnealedObjective, theta: Array) -> Array:
    r"""Return better parameters, by least squares with each sample's minimiser held.

    With :math:`z_i` fixed, :math:`x_i \approx A(s_i) z_i + b(s_i)` is linear in the parameters.
    The new ones are kept while the loss of returned decisions, with the ridge, falls. Parameters
    on which no sample depends stay as they are.
    """
    objective = problem.objective
    p = objective.maps().latent(objective.n_decisions).dimension
    if not problem.squared or objective.n_features * (p + 1) > MOST_PARAMETERS:
        return theta
    best = problem.merit(theta)
    for _ in range(ROUNDS):
        if objective.run.late():
            break
        tried = _solved(problem, theta)
        reached = problem.merit(tried)
        if not reached < best:
            break
        done = reached >= best * (1.0 - 1e-9)
        theta, best = tried, reached
        if done:
            break
    return theta


def _solved(problem: AnnealedObjective, theta: Array) -> Array:
    """Solve the normal equations for the step to the best parameters at these minimisers."""
    objective = problem.objective
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    maps = hypothesis.maps(theta, n, k)
    offset = "b" in hypothesis.layout(n, k).shapes
    width = k * (maps.A.shape[2] + offset)
    primitive = hypothesis.latent(n)
    matrix, right = objective.total(lambda shard: _moments(primitive, maps, shard, offset))
    ridge = np.kron(problem.metric, np.eye(width // k))
    ahead = _by_decision(hypothesis.maps(problem.center - theta, n, k), offset)
    step = np.empty((n, width))
    for j in range(n):
        step[j] = np.linalg.lstsq(matrix[j] + ridge, right[j] + ridge @ ahead[j], rcond=1e-12)[0]
    blocks = step.reshape(n, k, -1)
    moved = Maps(
        maps.A + np.moveaxis(blocks[:, :, : maps.A.shape[2]], 0, 1),
        maps.b + blocks[:, :, -1].T if offset else maps.b,
    )
    return hypothesis.theta_of(moved)


def _moments(
    primitive: PrimitiveSet, maps: Maps, shard: Shard, offset: bool
) -> tuple[Array, Array]:
    """Return the normal equations of one shard, for each decision."""
    n = shard.decisions.shape[1]
    A, b = maps.at(shard.features)
    z = primitive.argmin(np.einsum("inp,in->ip", A, shard.costs))
    residuals = shard.decisions - np.einsum("inp,ip->in", A, z) - b
    if offset:
        z = np.column_stack([z, np.ones(len(z))])
    inputs = (shard.features[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    seen = ~np.isnan(residuals)
    weights = shard.weights[:, None] * seen
    right = np.nan_to_num(residuals * shard.weights[:, None]).T @ inputs
    if seen.all():
        product = inputs.T @ (shard.weights[:, None] * inputs)
        return np.tile(product, (n, 1, 1)), right
    return np.array([inputs.T @ (w[:, None] * inputs) for w in weights.T]), right


def _by_decision(maps: Maps, offset: bool) -> Array:
    """Return the entries of the maps in one row for each decision: features, then z."""
    A = np.moveaxis(maps.A, 1, 0)
    blocks = np.concatenate([A, maps.b.T[:, :, None]], axis=2) if offset else A
    return np.ascontiguousarray(blocks).reshape(len(A), -1)
