"""Affine images that go on learning: stochastic steps, each in the metric of the samples so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from feaslearn.data import Shard, shards
from feaslearn.losses import Objective
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.streaming.fading import faded

Array = NDArray[np.float64]

#: Least samples of a step.
STEP_ROWS = 32
#: Share of the mean curvature that is added to all directions, so that rare ones do not run away.
LIFT = 1e-3
#: The minimiser of a curved set turns with the parameters, which moves decisions about as much
#: again: twice the slope, four times the curvature.
TURNING = 4.0
#: How often a step that does not help its own samples is halved before it is left out.
HALVINGS = 4


@dataclass(frozen=True, eq=False)
class AffineStream:
    r"""Where the stochastic steps of an affine image stand.

    With the minimiser :math:`z_i` held, decisions are linear in the parameters of each decision j:
    :math:`\hat x_{ij} = \psi_i'\theta_j`, :math:`\psi_i = \phi(s_i) \otimes (z_i, 1)`. A step for
    some samples B is

    .. math:: \theta \leftarrow \theta - \tfrac12 P^{-1} \nabla_\theta \sum_{i \in B} w_i \ell_i,
              \qquad P \leftarrow \lambda^{|B|} P + \sum_{i \in B} w_i \psi_i \psi_i'

    that is recursive least squares along minimisers that move. Since P holds the samples of the
    step itself, the step does not go beyond their own optimum; without forgetting, steps shrink
    like one over the number of samples, and with it they keep a size that follows the plant.

    Parameters
    ----------
    mean, scale : ndarray of shape (k,)
        What features are measured from and in, fixed by the first chunk.
    metric : ndarray of shape (d, d)
        The matrix P.
    loss, weight : float
        Sums of losses before each step and of weights, older ones counting less.
    """

    mean: Array
    scale: Array
    metric: Array
    loss: float = 0.0
    weight: float = 0.0

    @classmethod
    def begun(cls, objective: Objective, theta: Array, forgetting: float) -> Self:
        """Return the stream after the samples of an objective, to which ``theta`` was fitted."""
        standard = Standardization.of(objective)
        # What does not change in the first chunk may do so later.
        scale = standard.scale
        fixed = np.where(np.isfinite(scale), scale, np.maximum(np.abs(standard.mean), 1.0))
        standard = Standardization(standard.mean, fixed)
        inner = standard.apply(objective)
        at = standard.convert(objective, theta)
        parts = list(shards(faded(inner.whole(), forgetting)))
        metric = np.sum([_curvature(inner, at, part) for part in parts], axis=0)
        value = replace(inner, shards=parts).value(at)
        weight = sum(float(part.weights.sum()) for part in parts)
        return cls(standard.mean, fixed, metric, value, weight)

    def scaled(self, factor: float) -> Self:
        """Return the stream with all weights multiplied by a factor."""
        return replace(
            self,
            metric=factor * self.metric,
            loss=factor * self.loss,
            weight=factor * self.weight,
        )

    def after(
        self, objective: Objective, theta: Array, shard: Shard, forgetting: float
    ) -> tuple[Self, Array]:
        """Return the stream and the parameters after steps for some more samples, in order."""
        standard = Standardization(self.mean, self.scale)
        (whole,) = standard.apply(replace(objective, shards=[shard])).shards
        at, stream = standard.convert(objective, theta), self
        for batch in shards(whole, max(STEP_ROWS, len(self.metric))):
            at, stream = stream._step(objective, at, batch, forgetting)
        return stream, standard.revert(objective, at)

    def _step(
        self, objective: Objective, theta: Array, batch: Shard, forgetting: float
    ) -> tuple[Array, Self]:
        batch = Shard(*(np.require(part, requirements=["C", "W"]) for part in batch))
        count = len(batch.weights)
        fresh = faded(batch, forgetting)
        old = self.scaled(forgetting**count)
        metric = old.metric + _curvature(objective, theta, fresh)
        before, gradient = objective.loss.value_and_gradient(objective.maps(), theta, fresh)
        step = _in_metric(objective, metric, gradient)
        for _ in range(HALVINGS):
            tried = theta + step
            after = fresh.weights @ objective.loss.samples(objective.hypothesis, tried, fresh)
            if float(after) <= before:
                theta = tried
                break
            step = step / 2.0
        weight = old.weight + float(fresh.weights.sum())
        return theta, replace(self, metric=metric, loss=old.loss + before, weight=weight)


def _curvature(objective: Objective, theta: Array, shard: Shard) -> Array:
    """Return the sum of ``w psi psi'`` over samples."""
    hypothesis = objective.maps()
    n, k = shard.decisions.shape[1], shard.features.shape[1]
    primitive, maps = hypothesis.latent(n), hypothesis.maps(theta, n, k)
    A, _ = maps.at(shard.features)
    z = primitive.argmin(np.einsum("inp,in->ip", A, shard.costs))
    if not primitive.absorbs_offset:
        z = np.hstack([z, np.ones((len(z), 1))])
    psi = np.einsum("ik,ip->ikp", shard.features, z).reshape(len(z), -1)
    total = np.asarray((psi * shard.weights[:, None]).T @ psi)
    return total if primitive.conic_form().polyhedral else TURNING * total


def _in_metric(objective: Objective, metric: Array, gradient: Array) -> Array:
    """Return the step: half the gradient against the metric, for each decision."""
    hypothesis, n, k = objective.maps(), objective.n_decisions, objective.n_features
    blocks = hypothesis.layout(n, k).unpack(gradient)
    parts = [blocks["A"]]
    if "b" in blocks:
        parts.append(blocks["b"][:, :, None])
    table = np.concatenate(parts, axis=2)
    right = table.transpose(0, 2, 1).reshape(-1, n)
    lift = LIFT * float(np.trace(metric)) / len(metric)
    if lift <= 0.0:
        return np.zeros(len(gradient))
    factor = cho_factor(metric + lift * np.eye(len(metric)), check_finite=False)
    step = -0.5 * cho_solve(factor, right, check_finite=False)
    moved = step.reshape(k, table.shape[2], n).transpose(0, 2, 1)
    found = {"A": moved[:, :, : blocks["A"].shape[2]]}
    if "b" in blocks:
        found["b"] = moved[:, :, -1]
    return hypothesis.layout(n, k).pack(found)
