"""Suboptimality: infeasibility and excess cost, apart from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.losses.kernels import L1, suboptimality_rows
from feaslearn.losses.loss import Loss, Norm, RowLosses, no_gradient
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.nearest_kernels import can_project


@dataclass(eq=False, repr=False)
class Suboptimality(Loss):
    r"""Distance to the learned region, and excess cost over its optimum.

    .. math::
        \ell^s_\theta(x, s) = \|(g, \max(J, 0))\|, \quad
        g = \min_{z \in Z} \|x - A z - b\|, \quad
        J = c'(x - b) - \min_{z \in Z} (A'c)'z

    Decisions that were not observed (NaN) are completed in the way that makes the loss least.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of g and of the pair.
    squared : bool, default=True
        Whether the l2 norm is squared. The other norms never are.
    normalize_cost : bool, default=True
        Divide each cost vector by its length. Otherwise the loss depends on the unit of money,
        as in the paper.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, equation (4b).

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Affine, Simplex, Suboptimality
    >>> from feaslearn.data import Block
    >>> block = Block(np.ones((1, 1)), np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]]), np.ones(1))
    >>> Suboptimality().samples(Affine(Simplex(2)), np.eye(2).ravel(), block)
    array([1.])
    """

    norm: Norm = "l2"
    squared: bool = True
    normalize_cost: bool = True

    def rows(self, hypothesis: MapHypothesis, theta: Array, block: Block) -> RowLosses:
        """Return the loss of every row of a block with the gradient of their weighted sum."""
        n, k = block.decisions.shape[1], block.features.shape[1]
        primitive, maps = hypothesis.latent(n), hypothesis.maps(theta, n, k)
        block = block._replace(costs=self.unit_costs(block.costs))
        values = np.empty(len(block.features))
        gradient = no_gradient(maps)
        code = primitive.code()
        served: Mask = np.zeros(len(values), dtype=bool)
        if code is not None and can_project(code) and self.norm_code() < L1:
            served = np.asarray(~np.isnan(block.decisions).any(axis=1))
            part = block if served.all() else block.rows(served)
            found = np.empty(len(part.features))
            suboptimality_rows(code, *maps, *part, self.norm_code(), found, *gradient)
            values[served] = found
        for i in np.flatnonzero(~served):
            values[i] = self._solve_row(primitive, maps, block, i, gradient)
        return RowLosses(values, np.zeros(len(values), dtype=bool), gradient)

    def general_samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row by a conic program over its region."""
        n = block.decisions.shape[1]
        costs = self.unit_costs(block.costs)
        values = np.empty(len(costs))
        alone = Block(np.ones((1, 1)), costs, block.decisions, np.ones(1))
        for i, phi in enumerate(block.features):
            image = hypothesis.image(theta, phi, n)
            maps = Maps(image.matrix[None], image.offset[None])
            row = alone._replace(costs=costs[i : i + 1], decisions=block.decisions[i : i + 1])
            values[i] = self._solve_row(image.primitive, maps, row, np.intp(0), no_gradient(maps))
        return values

    def _solve_row(
        self, primitive: PrimitiveSet, maps: Maps, block: Block, i: np.intp, gradient: Maps
    ) -> float:
        """Find g and J of one row, with the help of a solver; add to the gradient."""
        phi, c, x = block.features[i], block.costs[i], block.decisions[i]
        (A,), (b,) = maps.at(phi[None, :])
        target = x - b
        best = primitive.argmin(A.T @ c)
        least = float(c @ (A @ best))
        if np.isnan(x).any() and primitive.discrete:
            z, slope = self._completed_enumerated(primitive, A, c, target, least)
        elif np.isnan(x).any():
            z, slope = self._completed(primitive, A, c, target, least)
        else:
            z, slope = AffineImage(primitive, A, np.zeros(len(x))).nearest(target, self.norm)
            slope = self._joined(A @ z - target, slope, max(c @ target - least, 0.0))
        excess = max(c @ target - least, 0.0)
        value, slope = self.measure(np.append(A @ z - target, excess), slope)
        step, price = block.weights[i] * slope[:-1], block.weights[i] * slope[-1]
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

    def _completed(
        self, primitive: PrimitiveSet, A: Array, c: Array, target: Array, least: float
    ) -> tuple[Array, Array]:
        """Fill in the unobserved entries of ``target``; return z and the derivative of the norm."""
        hidden = np.flatnonzero(np.isnan(target))
        target[hidden] = 0.0
        lifted = self._lifted(primitive, c[hidden], float(c @ target) - least)
        p, last = A.shape[1], lifted.H.shape[1] - 1
        M = np.zeros((len(target) + 1, last + 1))
        M[:-1, :p], M[hidden, np.arange(p, last)], M[-1, last] = A, -1.0, 1.0
        found = nearest_by_solver(lifted, M, np.append(target, 0.0), self.norm)
        target[hidden] = found.latent[p:last]
        return found.latent[:p], found.slope

    def _completed_enumerated(
        self, primitive: PrimitiveSet, A: Array, c: Array, target: Array, least: float
    ) -> tuple[Array, Array]:
        """Do as `_completed` does for each point of a discrete set, and keep the best."""
        one, best = Simplex(1), np.inf
        for point in primitive.vertices():
            column, completed = A @ point, target.copy()
            _, tried = self._completed(one, column[:, None], c, completed, least)
            excess = max(float(c @ completed) - least, 0.0)
            length, _ = self.measure(np.append(column - completed, excess), tried)
            if length < best:
                best, z, slope, kept = length, point, tried, completed
        target[:] = kept
        return z, slope

    def _lifted(self, primitive: PrimitiveSet, slope: Array, known: float) -> ConicForm:
        """Return ``{(z, u, t) : z in Z, t >= known + slope'u}``."""
        form = primitive.conic_form()
        excess = np.concatenate([np.zeros(form.H.shape[1]), -slope, [1.0]])
        rows = np.vstack([excess, np.pad(form.H, ((0, 0), (0, len(slope) + 1)))])
        return ConicForm(rows, np.append(known, form.h), (Cone("nonnegative", 1), *form.cones))
