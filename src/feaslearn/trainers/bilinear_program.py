"""The training problem of a free affine map, with its products of unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Suboptimality
from feaslearn.trainers.bilinear_solvers import BilinearSolver, Ended
from feaslearn.trainers.mixed_integer.ternary_program import check_program

Array = NDArray[np.float64]


class BilinearProgram:
    r"""Every sample's optimality conditions, with one map for all of them.

    .. math::
        \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
        & x_i + \gamma_i = A(s_i) z_i + b(s_i), \quad Hz_i - h \in K, \\
        & A(s_i)'c_i = H'\lambda_i, \quad \lambda_i \in K^*, \quad
          c_i'(x_i + \gamma_i - b(s_i)) \le \lambda_i'h

    Only :math:`A z` multiplies unknowns. Suboptimality has an excess cost
    :math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h` instead of the last row. Decisions are measured
    from their mean, in units of the largest distance from it, and features in units of their
    largest value; in these, entries of A and b are at most ``radius``.

    Parameters
    ----------
    objective : Objective
        What to minimise; its hypothesis is `Affine`.
    solver : BilinearSolver
        What solves it.
    radius : float
        Bound of the entries of A and b.
    """

    def __init__(self, objective: Objective, solver: BilinearSolver, radius: float) -> None:
        hypothesis = objective.maps()
        parts = zip(*objective.shards, strict=True)
        self._whole = whole = Shard(*(np.concatenate(part) for part in parts))
        self._solver, self._hypothesis, self._loss = solver, hypothesis, objective.loss
        n, k = whole.decisions.shape[1], whole.features.shape[1]
        primitive = hypothesis.latent(n)
        self._form, p = primitive.conic_form(), primitive.dimension
        self._priced = isinstance(self._loss, Suboptimality)
        self.middle = np.nan_to_num(np.nanmean(whole.decisions, axis=0))
        self.scale = float(np.nanmax(np.abs(whole.decisions - self.middle))) or 1.0
        self._units = np.abs(whole.features).max(axis=0)
        self._units[self._units == 0.0] = 1.0
        unit = self._loss if isinstance(self._loss, Suboptimality) else Suboptimality()
        self._costs = unit.unit_costs(whole.costs)
        check_program(len(whole.weights), 2 * (n * p + p + len(self._form.h)))
        limits = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self.A = self._variables((k, n, p), -radius, radius)
        free = 0.0 if primitive.absorbs_offset else radius
        self.b = self._variables((k, n), -free, free)
        self._cost: Any = 0.0
        for i in range(len(whole.weights)):
            self._cost = self._cost + float(whole.weights[i]) * self._sample(i)

    def _variables(
        self, shape: tuple[int, ...], low: float | Array, high: float | Array
    ) -> NDArray[Any]:
        made = np.empty(shape, dtype=object)
        lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        for at in np.ndindex(*shape):
            made[at] = self._solver.variable(float(lows[at]), float(highs[at]))
        return made

    def _sample(self, i: int) -> Any:
        """Add the rows of a sample; return its loss."""
        whole, form, add = self._whole, self._form, self._solver.add
        phi, c = whole.features[i] / self._units, self._costs[i]
        x = (whole.decisions[i] - self.middle) / self.scale
        A, b = np.einsum("k,knp->np", phi, self.A), phi @ self.b
        z = self._variables(self._low.shape, self._low, self._high)
        multipliers = self._variables((len(form.h),), -np.inf, np.inf)
        self._in_cone(form.H @ z - form.h, dual=False)
        self._in_cone(multipliers, dual=True)
        for j in range(len(z)):
            add(c @ A[:, j] - form.H[:, j] @ multipliers == 0.0)
        hidden = np.isnan(x)
        image = self._variables(x.shape, -np.inf, np.inf)
        for row in range(len(x)):
            add(A[row] @ z + b[row] - image[row] == 0.0)
        bound = multipliers @ form.h
        if not self._priced:
            add(c @ (image - b) - bound <= 0.0)
            return self._norm((image - np.where(hidden, 0.0, x))[~hidden])
        known = np.where(hidden, self._variables(x.shape, -np.inf, np.inf), x)
        excess = self._solver.variable(0.0, np.inf)
        add(c @ (known - b) - bound - excess <= 0.0)
        return self._norm(np.append(image - known, excess))

    def _in_cone(self, slack: NDArray[Any], dual: bool) -> None:
        """Add ``slack in K``, or in the dual cone, which is free where K is zero."""
        for cone, rows in self._form.blocks():
            part = slack[rows]
            if cone.size == 0 or (cone.kind == "zero" and dual):
                continue
            if cone.kind == "second-order":
                self._solver.add(part[0] >= 0.0)
                self._solver.add((part[1:] ** 2).sum() - part[0] * part[0] <= 0.0)
                continue
            for entry in part:
                self._solver.add(entry == 0.0 if cone.kind == "zero" else entry >= 0.0)

    def _norm(self, residuals: NDArray[Any]) -> Any:
        """Return an expression that is at least the norm of expressions, squared where asked."""
        solver, norm = self._solver, self._loss.norm
        if len(residuals) == 0:
            return 0.0
        if norm == "l2":
            total = solver.variable(0.0, np.inf)
            square = (residuals**2).sum()
            solver.add(square - (total if self._loss.squared else total * total) <= 0.0)
            return total
        sizes = self._variables((len(residuals) if norm == "l1" else 1,), 0.0, np.inf)
        for residual, size in zip(residuals, np.broadcast_to(sizes, len(residuals)), strict=True):
            solver.add(size - residual >= 0.0)
            solver.add(size + residual >= 0.0)
        return sizes.sum()

    @property
    def unit(self) -> float:
        """The unit of the loss."""
        squared = self._loss.norm == "l2" and self._loss.squared
        return self.scale**2 if squared else self.scale

    def solve(self, cutoff: float, seconds: float, gap: float) -> tuple[Array | None, Ended]:
        """Minimise below a loss; return parameters of the hypothesis, and how it ended."""
        wanted = [*self.A.ravel(), *self.b.ravel()]
        ended = self._solver.minimize(self._cost, wanted, cutoff / self.unit, seconds, gap)
        ended = ended._replace(bound=ended.bound * self.unit)
        if ended.values is None:
            return None, ended
        A = ended.values[: self.A.size].reshape(self.A.shape)
        b = ended.values[self.A.size :].reshape(self.b.shape)
        units = self.scale / self._units
        offset = b * units[:, None]
        offset[0] += self.middle
        return self._hypothesis.theta_of(Maps(A * units[:, None, None], offset)), ended
