"""Least squares with the minimisers held: a polish on the exact loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Predictability
from feaslearn.losses.kernels import L2, LINF, SQUARED_L2
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import LSTSQ_TOL, NUDGE, SAME_TOL
from feaslearn.trainers.annealed_objective import AnnealedObjective

#: Rounds of minimisers and least squares, and with norms that are not squared: there, samples are
#: weighed anew in each.
ROUNDS, REWEIGHED = 5, 10
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
    on which no sample depends stay as they are. A length :math:`|r|` that is not squared counts as
    :math:`r^2 / 2|r_0|` with the residual :math:`r_0` of the round before, which has the same slope
    there.
    """
    objective = problem.objective
    p = objective.maps().latent(objective.n_decisions).dimension
    # Suboptimality in other norms takes a program for each sample, again in each round.
    served = problem.squared or isinstance(objective.loss, Predictability)
    if not served or objective.n_features * (p + 1) > MOST_PARAMETERS:
        return theta
    best = problem.merit(theta)
    for _ in range(ROUNDS if problem.squared else REWEIGHED):
        if objective.run.late():
            break
        tried = _solved(problem, theta)
        reached = problem.merit(tried)
        if not reached < best:
            break
        done = reached >= best * (1.0 - SAME_TOL)
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
    norm, shortest = objective.loss.norm_code(), NUDGE * problem.scale

    def one(block: Block) -> tuple[Array, Array]:
        return _moments(primitive, maps, block, offset, lambda r: _as_squares(norm, r, shortest))

    matrix, right = objective.total(one)
    ridge = np.kron(problem.metric, np.eye(width // k))
    ahead = _by_decision(hypothesis.maps(problem.center - theta, n, k), offset)
    step = np.empty((n, width))
    for j in range(n):
        step[j] = np.linalg.lstsq(matrix[j] + ridge, right[j] + ridge @ ahead[j], rcond=LSTSQ_TOL)[
            0
        ]
    blocks = step.reshape(n, k, -1)
    moved = Maps(
        maps.A + np.moveaxis(blocks[:, :, : maps.A.shape[2]], 0, 1),
        maps.b + blocks[:, :, -1].T if offset else maps.b,
    )
    return hypothesis.theta_of(moved)


def _as_squares(norm: int, residuals: Array, shortest: float) -> Array | float:
    """Return what squared residuals count in a norm, for each decision or for all together."""
    if norm == SQUARED_L2:
        return 1.0
    sizes = np.abs(np.nan_to_num(residuals))
    if norm == L2:
        sizes = np.linalg.norm(sizes, axis=1, keepdims=True)
    elif norm == LINF:
        sizes = sizes.max(axis=1, keepdims=True)
    return np.asarray(0.5 / np.maximum(sizes, shortest or 1.0))


def _moments(
    primitive: PrimitiveSet,
    maps: Maps,
    block: Block,
    offset: bool,
    as_squares: Callable[[Array], Array | float],
) -> tuple[Array, Array]:
    """Return the normal equations of one block, for each decision."""
    n = block.decisions.shape[1]
    A, b = maps.at(block.features)
    z = primitive.argmin(np.einsum("inp,in->ip", A, block.costs))
    residuals = block.decisions - np.einsum("inp,ip->in", A, z) - b
    if offset:
        z = np.column_stack([z, np.ones(len(z))])
    inputs = (block.features[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    seen = ~np.isnan(residuals)
    weights = block.weights[:, None] * as_squares(residuals)
    right = np.nan_to_num(residuals * weights).T @ inputs
    if seen.all() and weights.shape[1] == 1:
        return np.tile(inputs.T @ (weights * inputs), (n, 1, 1)), right
    return np.array([inputs.T @ (w[:, None] * inputs) for w in (weights * seen).T]), right


def _by_decision(maps: Maps, offset: bool) -> Array:
    """Return the entries of the maps in one row for each decision: features, then z."""
    A = np.moveaxis(maps.A, 1, 0)
    blocks = np.concatenate([A, maps.b.T[:, :, None]], axis=2) if offset else A
    return np.ascontiguousarray(blocks).reshape(len(A), -1)
