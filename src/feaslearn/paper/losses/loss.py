r"""The two losses of a decision under a region, equations (5a) and (5b).

.. math::
    \ell^p_\theta(x, s) &= \min \{ \|x - y\| : y \in \arg\min_{R_\theta(s)} c(s)'y \} \\
    \ell^s_\theta(x, s) &= \|(g, \max(J, 0))\|, \quad g = \min_{z \in Z} \|x - A z - b\|, \quad
    J = c'(x - b) - \min_{z \in Z} (A'c)'z

Both are zero exactly where x is optimal in the learned region. g is in units of x and J in units of
money, so that the second depends on the unit of money (``normalize_cost=False``, the paper's
convention) unless each cost is divided by its length.

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
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.paper.kernels import (
    L1,
    L2,
    LINF,
    SQUARED_L2,
    UNIQUE,
    UNSERVED,
    can_project,
    code_of,
    predictability_rows,
    suboptimality_rows,
)
from feaslearn.paper.regions.image import Image, face_of, turn_of
from feaslearn.paper.regions.maps import Maps
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import SUM_ROUNDING, TIE_TOL

if TYPE_CHECKING:
    from feaslearn.paper.problem import Samples

Norm = Literal["l2", "l1", "linf"]
ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}


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
        if self.norm not in ORDERS:
            raise DataError(f"norm={self.norm!r} is not known; use one of {', '.join(ORDERS)}")

    @abstractmethod
    def rows(self, Z: PrimitiveSet, maps: Maps, samples: Samples) -> RowLosses:
        """Return the loss of every sample with the gradient of their weighted sum."""

    @property
    def is_squared_l2(self) -> bool:
        """Whether distances are squared Euclidean ones."""
        return self.norm == "l2" and self.squared

    @property
    def code(self) -> int:
        """The number that kernels know the norm by."""
        return {"l2": SQUARED_L2 if self.squared else L2, "l1": L1, "linf": LINF}[self.norm]

    def unit_costs(self, costs: Array) -> Array:
        """Return costs of length one; where a loss depends on their length, as they are."""
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        return np.ascontiguousarray(costs / np.where(lengths > 0.0, lengths, 1.0))

    def lengths(self, residuals: Array) -> Array:
        """Return the norm of each row of residuals, squared where asked."""
        if self.is_squared_l2:
            return np.asarray(np.einsum("ij,ij->i", residuals, residuals))
        return np.asarray(np.linalg.norm(residuals, ord=ORDERS[self.norm], axis=1))

    def measure(self, residual: Array, slope: Array) -> tuple[float, Array]:
        """Return the norm of a residual and its derivative, given that of the norm itself."""
        length = float(np.linalg.norm(residual, ORDERS[self.norm]))
        return (length**2, 2.0 * length * slope) if self.is_squared_l2 else (length, slope)


def no_gradient(maps: Maps) -> Maps:
    """Return zero maps to add gradients to."""
    return Maps(np.zeros_like(maps.A), np.zeros_like(maps.b))


@dataclass(frozen=True)
class Predictability(Loss):
    r"""The distance of x to the set of optimal decisions of the region, equation (5a).

    Decisions that were not observed (NaN) do not count.

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
        values = np.empty(len(samples.weights))
        states = np.full(len(values), UNSERVED, dtype=np.int8)
        gradient, code = no_gradient(maps), code_of(Z)
        if code is not None:
            faces = self.code < L1 and can_project(code)
            predictability_rows(
                code, *maps, *samples, TIE_TOL, self.code, faces, values, states, *gradient
            )
        for i in np.flatnonzero(states == UNSERVED):
            values[i], tied = self._solve(Z, maps, samples, int(i), gradient)
            states[i] = UNSERVED if tied else UNIQUE
        return RowLosses(values, states != UNIQUE, gradient)

    def _solve(
        self, Z: PrimitiveSet, maps: Maps, samples: Samples, i: int, gradient: Maps
    ) -> tuple[float, bool]:
        """Measure the distance to one optimal face with a solver; add to the gradient."""
        phi, c, x, weight = (each[i] for each in samples)
        (A,), (b,) = maps.at(phi[None, :])
        q = A.T @ c
        rounding = SUM_ROUNDING * float(np.abs(phi) @ np.abs(maps.A).max(axis=2) @ np.abs(c))
        q[np.abs(q) <= rounding] = 0.0
        face = face_of(Z, q, max(TIE_TOL * np.abs(q).max(initial=0.0), rounding))
        optimal = Image(face.Z, A @ face.matrix, A @ face.offset + b)
        w, slope = optimal.nearest(x, self.norm)
        value, slope = self.measure(np.nan_to_num(optimal.at(w) - x), slope)
        step = weight * slope
        gradient.A[...] += phi[:, None, None] * np.outer(step, face.at(w))
        gradient.b[...] += np.outer(phi, step)
        if face.is_point:
            gradient.A[...] += phi[:, None, None] * np.outer(c, turn_of(Z, q, A.T @ step))
        return value, not face.is_point


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
        if np.isnan(samples.decisions).any():
            raise UnsupportedError(
                "Suboptimality needs every decision of a sample; Predictability takes what was "
                "observed"
            )
        samples = samples._replace(costs=self.unit_costs(samples.costs))
        values = np.empty(len(samples.weights))
        gradient, code = no_gradient(maps), code_of(Z)
        if code is not None and can_project(code) and self.code < L1:
            suboptimality_rows(code, *maps, *samples, self.code, values, *gradient)
        else:
            for i in range(len(values)):
                values[i] = self._solve(Z, maps, samples, i, gradient)
        return RowLosses(values, np.zeros(len(values), dtype=bool), gradient)

    def _solve(
        self, Z: PrimitiveSet, maps: Maps, samples: Samples, i: int, gradient: Maps
    ) -> float:
        """Find g and J of one row, with the help of a solver; add to the gradient."""
        phi, c, x, weight = (each[i] for each in samples)
        (A,), (b,) = maps.at(phi[None, :])
        target, best = x - b, Z.argmin(A.T @ c)
        excess = max(float(c @ (target - A @ best)), 0.0)
        z, slope = Image(Z, A, np.zeros(len(x))).nearest(target, self.norm)
        pair = np.append(A @ z - target, excess)
        value, slope = self.measure(pair, self._joined(pair[:-1], slope, excess))
        step, price = weight * slope[:-1], weight * slope[-1]
        in_A = np.outer(step, z) - price * np.outer(c, best)
        gradient.A[...] += phi[:, None, None] * in_A
        gradient.b[...] += np.outer(phi, step - price * c)
        return value

    def _joined(self, residual: Array, slope: Array, excess: float) -> Array:
        """Return the derivative of ``|(g, J)|``, given that of g alone."""
        if self.norm == "l1":
            return np.append(slope, float(excess > 0.0))
        if self.norm == "linf":
            costly = excess > np.abs(residual).max()
            return np.append(0.0 * slope if costly else slope, float(costly))
        g = float(np.linalg.norm(residual))
        length = float(np.hypot(g, excess))
        return np.append(g * slope, excess) / (length if length > 0.0 else 1.0)
