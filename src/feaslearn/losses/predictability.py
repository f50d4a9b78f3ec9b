"""Predictability: the distance to the set of optimal decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import nnls

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.losses.kernels import (
    L1,
    UNIQUE,
    UNSERVED,
    column_losses,
    predictability_rows,
)
from feaslearn.losses.loss import Loss, Norm, RowLosses, no_gradient
from feaslearn.region.form import RegionForm, combined
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.nearest_kernels import can_project
from feaslearn.solvers.oracle_kernels import SetCode, is_simplex
from feaslearn.tolerances import ROUNDING, SUM_ROUNDING, TIE_TOL, TINY, ZERO_PRICE


@dataclass(eq=False, repr=False)
class Predictability(Loss):
    r"""The distance of x to the optimal face of the learned region.

    .. math:: \ell^p_\theta(x, s) = \min \{ \|x - y\| : y \in \arg\min_{R_\theta(s)} c(s)'y \}

    Decisions that were not observed (NaN) do not count. For polyhedral sets the loss jumps where
    two columns tie; the gradient is the one of the side that is taken.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of the distance.
    squared : bool, default=True
        Whether the l2 norm is squared. The other norms never are.

    References
    ----------
    Aswani, Shen and Siddiq, "Inverse optimization with noisy data", Operations Research 66(3),
    2018. Ren, Mohajerin Esfahani and Georghiou, ICML 2025, equation (4a).

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Affine, Predictability, Simplex
    >>> from feaslearn.data import Block
    >>> block = Block(np.ones((1, 1)), np.array([[0.2, 0.8]]), np.array([[0.0, 1.0]]), np.ones(1))
    >>> Predictability().samples(Affine(Simplex(2)), np.eye(2).ravel(), block)
    array([2.])
    """

    norm: Norm = "l2"
    squared: bool = True

    def rows(self, hypothesis: MapHypothesis, theta: Array, block: Block) -> RowLosses:
        """Return the loss of every row of a block with the gradient of their weighted sum."""
        n, k = block.decisions.shape[1], block.features.shape[1]
        primitive, maps = hypothesis.latent(n), hypothesis.maps(theta, n, k)
        values = np.empty(len(block.features))
        states = np.full(len(values), UNSERVED, dtype=np.int8)
        gradient = no_gradient(maps)
        code = primitive.code()
        if code is not None:
            self._by_kernel(code, maps, block, values, states, gradient)
        for i in np.flatnonzero(states == UNSERVED):
            values[i], tied = self._solve_row(primitive, maps, block, i, gradient)
            states[i] = UNSERVED if tied else UNIQUE
        return RowLosses(values, states != UNIQUE, gradient)

    def samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the loss of every row of a block.

        That of a decision is enough where it is the only one of least cost.
        """
        found = hypothesis.solve_coded(theta, block.features, block.costs)
        if found is None:
            return super().samples(hypothesis, theta, block)
        decisions, tied = found
        seen = ~np.isnan(block.decisions)
        values = self.lengths(np.where(seen, decisions - block.decisions, 0.0))
        if tied.any():
            values[tied] = super().samples(hypothesis, theta, block.rows(tied))
        return values

    def _by_kernel(
        self,
        code: SetCode,
        maps: Maps,
        block: Block,
        values: Array,
        states: NDArray[np.int8],
        gradient: Maps,
    ) -> None:
        """Measure the rows that kernels serve; those of a simplex with one minimiser come first."""
        norm = self.norm_code()
        rest = np.ones(len(values), dtype=bool)
        if is_simplex(code):
            unique = np.empty(len(values), dtype=bool)
            column_losses(*maps, *block, TIE_TOL, norm, values, unique, *gradient)
            states[unique], rest = UNIQUE, ~unique
        if rest.any():
            part = block if rest.all() else block.rows(rest)
            found, met = np.empty(len(part.weights)), np.empty(len(part.weights), dtype=np.int8)
            faces = norm < L1 and can_project(code)
            predictability_rows(code, *maps, *part, TIE_TOL, norm, faces, found, met, *gradient)
            values[rest], states[rest] = found, met

    def general_samples(self, hypothesis: Hypothesis, theta: Array, block: Block) -> Array:
        """Return the distance to the decision, and to the whole optimal face where there is one."""
        features, costs, decisions, _ = block
        solved = hypothesis.solve_duals(theta, features, costs)
        values = self.lengths(np.nan_to_num(solved.decisions - decisions))
        ties = np.flatnonzero(solved.tied_or_all())
        rows = None
        if len(ties) and solved.duals is not None and self.norm == "l2":
            rows = hypothesis.describe(theta, decisions.shape[1], features.shape[1])
        for i in ties:
            if rows is not None and solved.duals is not None and not np.isnan(decisions[i]).any():
                held = np.abs(solved.duals[i]) > ZERO_PRICE * np.abs(costs[i]).max()
                gap = _distance_to_face(rows, features[i], held, solved.decisions[i], decisions[i])
            else:
                image = hypothesis.image(theta, features[i], decisions.shape[1])
                gap = image.optimal_face(costs[i]).distance(decisions[i], self.norm)
            values[i] = self.lengths(np.array([[gap]]))[0]
        return values

    def _solve_row(
        self, primitive: PrimitiveSet, maps: Maps, block: Block, i: np.intp, gradient: Maps
    ) -> tuple[float, bool]:
        """Measure the distance to one optimal face with a solver; add to the gradient."""
        phi, c, x = block.features[i], block.costs[i], block.decisions[i]
        (A,), (b,) = maps.at(phi[None, :])
        q = A.T @ c
        rounding = SUM_ROUNDING * float(np.abs(phi) @ np.abs(maps.A).max(axis=2) @ np.abs(c))
        q[np.abs(q) <= rounding] = 0.0
        face = primitive.face(q, max(TIE_TOL * np.abs(q).max(initial=0.0), rounding))
        optimal = AffineImage(face.primitive, A @ face.matrix, A @ face.offset + b)
        w, slope = optimal.nearest(x, self.norm)
        value, slope = self.measure(np.nan_to_num(optimal.at(w) - x), slope)
        step = block.weights[i] * slope
        z = face.matrix @ w + face.offset
        gradient.A[...] += phi[:, None, None] * np.outer(step, z)
        gradient.b[...] += np.outer(phi, step)
        if face.is_point:
            turned = primitive.turn(q, A.T @ step)
            gradient.A[...] += phi[:, None, None] * np.outer(c, turned)
        return value, not face.is_point


def _distance_to_face(form: RegionForm, phi: Array, held: Mask, best: Array, x: Array) -> float:
    """Return the distance of x to the decisions for which all rows with a dual bind."""
    # They are best + N w, N a basis of what keeps these rows: a least-distance program in w, by
    # non-negative least squares (Lawson and Hanson).
    weights = form.weights(phi[None, : form.n_features], phi[None, form.n_features :])
    X, right = form.X.toarray(), combined(weights, form.r)[0]
    binding = form.equality | held
    basis = null_space(X[binding]) if binding.any() else np.eye(len(best))
    start = basis.T @ (x - best)
    across = float(np.linalg.norm(x - best - basis @ start))
    kept = ~binding & np.isfinite(right)
    G, slack = X[kept] @ basis, np.maximum(X[kept] @ best - right[kept], 0.0)
    lengths = np.linalg.norm(G, axis=1)
    moves = lengths > ROUNDING * np.abs(X[kept]).max(axis=1, initial=0.0)
    G, slack = G[moves] / lengths[moves, None], slack[moves] / lengths[moves]
    size = max(float(np.linalg.norm(start)), TINY)
    violated = (-slack - G @ start) / size
    if not (violated > 0.0).any():
        return across
    program = np.vstack([G.T, violated])
    residual = program @ nnls(program, np.eye(len(program))[-1])[0]
    residual[-1] -= 1.0
    return float(np.hypot(across, size * np.linalg.norm(residual[:-1] / residual[-1])))
