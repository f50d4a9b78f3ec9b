r"""The two losses of a decision under a region (Section 2.1), equations (5a), (5b) and J of (4).

.. math::
    \ell^p_\theta(x, s) &= \min \{ \|x - y\| : y \in \arg\min_{R_\theta(s)} c(s)'y \} \\
    \ell^s_\theta(x, s) &= \|(g, \max(J, 0))\|, \quad g = \min_{z \in Z} \|x - A z - b\|, \quad
    J = c'(x - b) - \min_{z \in Z} (A'c)'z

Predictability is the distance to all minimisers, the optimal face, and not to one of them. Both are
zero exactly where x is optimal in the learned region (Proposition 2.1). g is in units of x and J in
units of money, so that suboptimality depends on the unit of money (``normalize_cost=False``, the
paper's convention) unless each cost is divided by its length.

Gradients are closed forms, for :math:`d = 2 \gamma` (squared) or :math:`\gamma / \|\gamma\|`:
:math:`\partial A_k = \phi_k d z'`, :math:`\partial b_k = \phi_k d`; where J is positive, it adds
:math:`-\phi_k c z^{*\prime}` and :math:`-\phi_k c` times its share. For polyhedral Z predictability
jumps where columns tie; the gradient is that of the side that is taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.kernels import projection_code
from feaslearn.paper.regions.image import (
    NORM_ORDERS,
    Image,
    nearest_latents,
    slopes_of,
    turn_of,
)
from feaslearn.paper.regions.maps import Maps, minimizers
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import divisors

if TYPE_CHECKING:
    from feaslearn.paper.problem import Samples

Norm = Literal["l2", "l1", "linf"]


class RowLosses(NamedTuple):
    """The loss of each row, whether its minimiser tied, and the gradient of the weighted sum."""

    values: Array
    tied: Mask
    gradient: Maps


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of a decision under a learned region; zero exactly where the decision is optimal.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of the distance.
    squared : bool, default=True
        Whether the l2 norm is squared. The other norms never are.
    """

    norm: Norm = "l2"
    squared: bool = True

    def __post_init__(self) -> None:
        if self.norm not in NORM_ORDERS:
            raise DataError(f"norm={self.norm!r} is not known; use one of {', '.join(NORM_ORDERS)}")

    @abstractmethod
    def rows(self, Z: PrimitiveSet, maps: Maps, samples: Samples) -> RowLosses:
        """Return the loss of every sample with the gradient of their weighted sum."""

    @property
    def is_squared_l2(self) -> bool:
        """Whether distances are squared Euclidean ones."""
        return self.norm == "l2" and self.squared

    def unit_costs(self, costs: Array) -> Array:
        """Return costs of length one; where a loss depends on their length, as they are."""
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        return np.ascontiguousarray(costs / np.where(lengths > 0.0, lengths, 1.0))

    def lengths(self, residuals: Array) -> Array:
        """Return the norm of each row of residuals, squared where asked."""
        if self.is_squared_l2:
            return np.asarray(np.einsum("ij,ij->i", residuals, residuals))
        return np.asarray(np.linalg.norm(residuals, ord=NORM_ORDERS[self.norm], axis=1))

    def measured(self, residuals: Array, slopes: Array) -> tuple[Array, Array]:
        """Return the norm of each row of residuals and its derivative, given the norm's own."""
        return self.lengths(residuals), 2.0 * residuals if self.is_squared_l2 else slopes


def gradient_of(samples: Samples, steps: Array, z: Array) -> Maps:
    """Return ``sum_i w_i phi_ik d_i (z_i', 1)``: the gradient in A and b of steps d of an image."""
    weighted = samples.weights[:, None] * samples.features
    return Maps(np.einsum("ik,in,ip->knp", weighted, steps, z), weighted.T @ steps)


@dataclass(frozen=True)
class Predictability(Loss):
    r"""The distance of x to the set of optimal decisions of the region, equation (5a).

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of the distance.
    squared : bool, default=True
        Whether the l2 norm is squared. The other norms never are.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.paper import Maps, Predictability, Samples
    >>> one = Samples(np.ones((1, 1)), np.array([[0.2, 0.8]]), np.array([[0.0, 1.0]]), np.ones(1))
    >>> Predictability().rows(Simplex(2), Maps(np.eye(2)[None], np.zeros((1, 2))), one).values
    array([2.])
    """

    def rows(self, Z: PrimitiveSet, maps: Maps, samples: Samples) -> RowLosses:
        """Return the loss of every sample with the gradient of their weighted sum."""
        features, costs, decisions, _ = samples
        (A, b), latent = maps.at(features), maps.latent_costs(features, costs)
        z, tied = minimizers(Z, *latent)
        by_solver = tied
        if self.norm == "l2" and (code := projection_code(Z)) is not None:
            tables = A, decisions - b, *latent
            z[tied] = nearest_latents(code, *(table[tied] for table in tables))
            by_solver = np.zeros_like(tied)
        residuals = maps.images(features, z) - decisions
        slopes = slopes_of(residuals, self.norm)
        for i in np.flatnonzero(by_solver):
            face = Z.face(latent.costs[i], latent.tolerances[i])
            optimal = Image(face.primitive, A[i] @ face.matrix, A[i] @ face.offset + b[i])
            w, slopes[i] = optimal.nearest(decisions[i], self.norm)
            z[i], tied[i] = face.at(w), not face.is_point
            residuals[i] = optimal.at(w) - decisions[i]
        values, steps = self.measured(residuals, slopes)
        gradient = gradient_of(samples, steps, z)
        if not Z.conic_form().polyhedral:
            turns = np.zeros_like(z)
            for i in np.flatnonzero(~tied):
                turns[i] = turn_of(Z, latent.costs[i], A[i].T @ steps[i])
            gradient.A[...] += gradient_of(samples, costs, turns).A
        return RowLosses(values, tied, gradient)


@dataclass(frozen=True)
class Suboptimality(Loss):
    r"""Infeasibility and excess cost of x in the region, equation (5b).

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of g and of the pair.
    squared : bool, default=True
        Whether the l2 norm is squared. The other norms never are.
    normalize_cost : bool, default=True
        Divide each cost by its length. Otherwise the loss depends on the unit of money, as in the
        paper.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.paper import Maps, Samples, Suboptimality
    >>> one = Samples(np.ones((1, 1)), np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]]), np.ones(1))
    >>> Suboptimality().rows(Simplex(2), Maps(np.eye(2)[None], np.zeros((1, 2))), one).values
    array([1.])
    """

    normalize_cost: bool = True

    def unit_costs(self, costs: Array) -> Array:
        """Return costs of length one, or as they are."""
        return super().unit_costs(costs) if self.normalize_cost else costs

    def rows(self, Z: PrimitiveSet, maps: Maps, samples: Samples) -> RowLosses:
        """Return the loss of every sample with the gradient of their weighted sum."""
        samples = samples._replace(costs=self.unit_costs(samples.costs))
        features, costs, decisions, _ = samples
        (A, b), (q, _) = maps.at(features), maps.latent_costs(features, costs)
        targets = decisions - b
        cheapest, _ = minimizers(Z, q, np.zeros(len(q)))
        J = np.einsum("in,in->i", costs, targets) - np.einsum("ip,ip->i", q, cheapest)
        excess = np.maximum(J, 0.0)
        if (code := projection_code(Z)) is not None and self.norm == "l2":
            z = nearest_latents(code, A, targets)
            slopes = slopes_of(np.einsum("inp,ip->in", A, z) - targets, self.norm)
        else:
            pairs = zip(A, targets, strict=True)
            nearest = [Image(Z, M).nearest(x, self.norm) for M, x in pairs]
            z, slopes = (np.array(part) for part in zip(*nearest, strict=True))
        residuals = np.einsum("inp,ip->in", A, z) - targets
        both = np.column_stack([residuals, excess])
        values, steps = self.measured(both, self._joined(residuals, slopes, excess))
        near, dear = gradient_of(samples, steps[:, :-1], z), -steps[:, -1:] * costs
        in_J = gradient_of(samples, dear, cheapest)
        gradient = Maps(near.A + in_J.A, near.b + in_J.b)
        return RowLosses(values, np.zeros(len(values), dtype=bool), gradient)

    def _joined(self, residuals: Array, slopes: Array, excess: Array) -> Array:
        """Return the derivative of each ``|(g, J)|``, given that of g alone."""
        if self.norm == "l2":
            g = np.linalg.norm(residuals, axis=1, keepdims=True)
            pairs = np.column_stack([g * slopes, excess])
            return pairs / divisors(np.hypot(g, excess[:, None]))
        costly = excess > (0.0 if self.norm == "l1" else np.abs(residuals).max(axis=1))
        kept = costly & (self.norm == "linf")
        return np.column_stack([np.where(kept[:, None], 0.0, slopes), costly])
