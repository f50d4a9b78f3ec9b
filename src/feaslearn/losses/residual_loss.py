"""Losses that look at one thing alone: what is left between a decision and the one returned."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.losses.loss import Loss, RowLosses

Array = NDArray[np.float64]


class ResidualLoss(Loss):
    r"""A loss of the residual between the decision of least cost and the one observed.

    .. math:: \ell_\theta(x, s) = f(\hat x_\theta(s) - x), \qquad f(0) = 0

    A subclass says what f is (`lengths`) and its derivative (`slopes`); everything else follows,
    for every hypothesis. Decisions that were not observed (NaN) have a residual of zero. Where
    several decisions are of least cost, the one that a model returns counts.

    See Also
    --------
    feaslearn.checks.check_loss : Whether a loss of your own is right.
    """

    @abstractmethod
    def lengths(self, residuals: Array) -> Array:
        """Return f of each row of residuals (N, n), as (N,)."""

    @abstractmethod
    def slopes(self, residuals: Array) -> Array:
        """Return the derivative of f in each row of residuals, (N, n)."""

    def rows(self, hypothesis: MapHypothesis, theta: Array, shard: Shard) -> RowLosses:
        """Return the loss of every row with the gradient of the weighted sum."""
        features, costs, decisions, weights = shard
        n, k = decisions.shape[1], features.shape[1]
        primitive, maps = hypothesis.latent(n), hypothesis.maps(theta, n, k)
        A, b = maps.at(features)
        latent_costs = np.einsum("inp,in->ip", A, costs)
        z = primitive.argmin(latent_costs)
        residuals = np.nan_to_num(np.einsum("inp,ip->in", A, z) + b - decisions)
        steps = weights[:, None] * np.where(np.isnan(decisions), 0.0, self.slopes(residuals))
        in_A = np.einsum("ik,in,ip->knp", features, steps, z)
        if not primitive.conic_form().polyhedral:
            # The minimiser of a round set moves with its cost.
            in_z = np.einsum("inp,in->ip", A, steps)
            turned = np.array(list(map(primitive.turn, latent_costs, in_z))).reshape(z.shape)
            in_A += np.einsum("ik,in,ip->knp", features, costs, turned)
        gradient = Maps(in_A, features.T @ steps)
        return RowLosses(self.lengths(residuals), primitive.tied(latent_costs), gradient)

    def samples(self, hypothesis: Hypothesis, theta: Array, shard: Shard) -> Array:
        """Return the loss of every row."""
        return self.general_samples(hypothesis, theta, shard)

    def general_samples(self, hypothesis: Hypothesis, theta: Array, shard: Shard) -> Array:
        """Return the loss of every row, for any hypothesis."""
        found = hypothesis.predict(theta, shard.features, shard.costs)
        return self.lengths(np.nan_to_num(found - shard.decisions))
