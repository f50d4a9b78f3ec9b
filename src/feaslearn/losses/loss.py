"""The base of losses: values on samples, and the gradient of a weighted sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.losses.kernels import L1, L2, LINF, SQUARED_L2

Norm = Literal["l2", "l1", "linf"]
ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}


class RowLosses(NamedTuple):
    """The loss of each row, whether its minimiser tied, and the gradient of the weighted sum."""

    values: Array
    tied: Mask
    gradient: Maps


class Loss(BaseEstimator, ABC):
    """A loss of a decision under a learned region; zero exactly where the decision is optimal.

    A new loss says what it is for affine images of a set (`rows`, with the gradient) and for other
    regions (`general_samples`). Where it is a function of the residual alone, `ResidualLoss`
    asks for less.

    See Also
    --------
    ResidualLoss : Losses of the residual: two functions are enough.
    """

    #: How distances are reported beside the loss.
    norm: str = "l2"
    squared: bool = True

    @abstractmethod
    def rows(self, hypothesis: MapHypothesis, theta: Array, block: Block) -> RowLosses:
        """Return the loss of every row of a block with the gradient of their weighted sum."""

    def samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row of a block."""
        maps = hypothesis.as_maps()
        if maps is not None:
            return self.rows(maps, theta, block).values
        return self.general_samples(hypothesis, theta, block)

    @abstractmethod
    def general_samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row for a hypothesis that is not one affine map."""

    def value_and_gradient(
        self, hypothesis: MapHypothesis, theta: Array, block: Block
    ) -> tuple[float, Array]:
        """Return the weighted sum over a block and its gradient in theta.

        Losses of unbounded or tied rows are treated as in `rows`; rows add up, so sums over
        blocks of any split agree.
        """
        values, _, gradient = self.rows(hypothesis, theta, block)
        return float(block.weights @ values), hypothesis.pull_back(gradient)

    def norm_code(self) -> int:
        """Return the number the kernels know this norm by; refuse an unknown one."""
        codes = {"l2": SQUARED_L2 if self.squared else L2, "l1": L1, "linf": LINF}
        if self.norm not in codes:
            raise UnsupportedError(
                f"norm={self.norm!r} is not known; use one of {', '.join(map(repr, codes))}"
            )
        return codes[self.norm]

    def unit_costs(self, costs: Array) -> Array:
        """Return costs of length one; where a loss depends on their length, as they are."""
        if not getattr(self, "normalize_cost", True):
            return costs
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        return np.ascontiguousarray(costs / np.where(lengths > 0.0, lengths, 1.0))

    def lengths(self, residuals: Array) -> Array:
        """Return the norm of each row of residuals, squared where asked."""
        if self.norm_code() == SQUARED_L2:
            return np.asarray(np.einsum("ij,ij->i", residuals, residuals))
        return np.asarray(np.linalg.norm(residuals, ord=ORDERS[self.norm], axis=1))

    def measure(self, residual: Array, slope: Array) -> tuple[float, Array]:
        """Return the norm of a residual and its derivative, both squared where asked.

        ``slope`` is the derivative of the norm itself.
        """
        length = float(np.linalg.norm(residual, ORDERS[self.norm]))
        if self.norm == "l2" and self.squared:
            return length * length, 2.0 * length * slope
        return length, slope


def no_gradient(maps: Maps) -> Maps:
    """Return zero maps to add gradients to."""
    return Maps(np.zeros_like(maps.A), np.zeros_like(maps.b))


# Losses that look at one thing alone: what is left between a decision and the one returned.


class ResidualLoss(Loss):
    r"""A loss of the residual between the decision of least cost and the one observed.

    .. math:: \ell_\theta(x, s) = f(\hat x_\theta(s) - x), \qquad f(0) = 0

    A subclass says what f is (`lengths`) and its derivative (`slopes`); everything else follows,
    for every hypothesis. Decisions that were not observed (NaN) have a residual of zero. Where
    several decisions are of least cost, the one that a model returns counts.
    """

    @abstractmethod
    def lengths(self, residuals: Array) -> Array:
        """Return f of each row of residuals (N, n), as (N,)."""

    @abstractmethod
    def slopes(self, residuals: Array) -> Array:
        """Return the derivative of f in each row of residuals, (N, n)."""

    def rows(self, hypothesis: MapHypothesis, theta: Array, block: Block) -> RowLosses:
        """Return the loss of every row with the gradient of the weighted sum."""
        features, costs, decisions, weights = block
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

    def samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row."""
        return self.general_samples(hypothesis, theta, block)

    def general_samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row, for any hypothesis."""
        found = hypothesis.predict(theta, block.features, block.costs)
        return self.lengths(np.nan_to_num(found - block.decisions))
