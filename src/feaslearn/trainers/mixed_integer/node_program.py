"""The convex program of a node: some samples have their points, the others are free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError, SolverError
from feaslearn.trainers.mixed_integer.listed_samples import ListedSamples

Array = NDArray[np.float64]

#: Parameters that nothing determines are drawn to zero by this; it moves no bound by more than
#: itself times their square.
RIDGE = 1e-10


class Relaxed(NamedTuple):
    """The optimum of a node: a lower bound, and the parameters that reach it."""

    bound: float
    beta: Array


class NodeProgram:
    r"""Least loss of the samples whose points are fixed, all others counting as little as they can.

    .. math::
        \min_\beta \sum_{(i, m)} w_i \|x_i - \beta'\psi_{im}\| \quad \text{s.t.} \quad
        c_i'\beta'\psi_{im} \le c_i'\beta'\psi_{ij} \;\; \forall j

    The sum is over the samples that have a nearest or a chosen point; the rows are those of the
    samples that have a chosen one. Suboptimality has no rows but an excess cost for every sample,
    :math:`J_i \ge c_i'(x_i - \beta'\psi_{ij})` for all j.

    Parameters
    ----------
    samples : ListedSamples
        The samples.
    """

    def __init__(self, samples: ListedSamples) -> None:
        self._samples = samples
        _, self._M, self._d = samples.psi.shape
        self._n = samples.decisions.shape[1]
        self._size = self._d * self._n
        self._priced = self._excess_rows() if samples.priced else None

    def solve(
        self, nearest: Mapping[int, int], chosen: Mapping[int, int], margin: float = 0.0
    ) -> Relaxed:
        """Solve the program.

        Parameters
        ----------
        nearest : mapping of int to int
            The point that is nearest to all samples of a group.
        chosen : mapping of int to int
            The point that is the prediction of a sample.
        margin : float, default=0.0
            By how much the chosen point must be cheaper than all others.
        """
        terms = self._terms(nearest, chosen)
        rows, right = self._optimality(chosen, margin)
        if self._samples.loss.norm == "l2":
            return self._squared(terms, rows, right)
        return self._linear(terms, rows, right)

    def _terms(
        self, nearest: Mapping[int, int], chosen: Mapping[int, int]
    ) -> list[tuple[int, int, float]]:
        """Return (a sample, a point, the weight of all samples like it) for what counts."""
        samples = self._samples
        points = np.full(len(samples.weights), -1)
        for group, point in nearest.items():
            points[samples.groups == group] = point
        for i, point in chosen.items():
            points[i] = point
        counted = np.flatnonzero(points >= 0)
        keys = samples.groups[counted] * self._M + points[counted]
        found, first, members = np.unique(keys, return_index=True, return_inverse=True)
        weights = np.bincount(members.ravel(), samples.weights[counted], minlength=len(found))
        rows = counted[first]
        return [(int(i), int(points[i]), float(w)) for i, w in zip(rows, weights, strict=True)]

    def _optimality(self, chosen: Mapping[int, int], margin: float) -> tuple[Array, Array]:
        """Return rows B and limits d of ``B beta <= d``, beta one decision after the other."""
        psi, costs = self._samples.psi, self._samples.costs
        blocks = [np.zeros((0, self._size))]
        for i, point in chosen.items():
            if costs[i].any():
                steps = psi[i, point] - np.delete(psi[i], point, axis=0)
                blocks.append(np.einsum("l,md->mld", costs[i], steps).reshape(-1, self._size))
        rows = np.vstack(blocks)
        return rows, np.full(len(rows), -margin)

    def _squared(
        self, terms: Sequence[tuple[int, int, float]], rows: Array, right: Array
    ) -> Relaxed:
        samples, d = self._samples, self._d
        P, slopes, constant = np.zeros((self._n, d, d)), np.zeros((self._n, d)), 0.0
        for i, point, weight in terms:
            psi, x, seen = samples.psi[i, point], samples.known[i], samples.seen[i]
            P += 2.0 * weight * np.outer(psi, psi) * seen[:, None, None]
            slopes -= 2.0 * weight * np.outer(x * seen, psi)
            constant += weight * float(x @ x)
        quadratic = sp.block_diag([*P], format="csc")
        q = slopes.ravel()
        if self._priced is not None:
            rows, right = self._priced
            count = rows.shape[1] - self._size
            quadratic = sp.block_diag([quadratic, sp.diags(2.0 * samples.weights)], format="csc")
            q = np.append(q, np.zeros(count))
        bound, point_ = _clarabel(quadratic, q, sp.csc_matrix(rows), right)
        return Relaxed(bound + constant, self._matrix(point_))

    def _linear(
        self, terms: Sequence[tuple[int, int, float]], rows: Array, right: Array
    ) -> Relaxed:
        """Add variables for the sizes of residuals: one each (l1), or one a term (linf)."""
        samples, n = self._samples, self._n
        maximum = samples.loss.norm == "linf"
        sizes = 1 if maximum else n
        base, limits = (rows, right) if self._priced is None else self._priced
        width, count = base.shape[1], len(terms) * sizes
        blocks, offsets = [], [limits]
        q = np.concatenate([np.zeros(width), np.zeros(count)])
        for t, (i, point, weight) in enumerate(terms):
            residual = np.kron(np.eye(n), samples.psi[i, point])[samples.seen[i]]
            size = np.zeros((n, count))
            size[:, t * sizes : (t + 1) * sizes] = 1.0 if maximum else np.eye(n)
            size, x = size[samples.seen[i]], samples.known[i][samples.seen[i]]
            wide = np.zeros((len(x), width - self._size))
            blocks += [np.hstack([residual, wide, -size]), np.hstack([-residual, wide, -size])]
            offsets += [x, -x]
            q[width + t * sizes : width + (t + 1) * sizes] = weight
        matrix = np.vstack([np.hstack([base, np.zeros((len(base), count))]), *blocks])
        matrix, right, q = self._joined(terms, matrix, np.concatenate(offsets), q, width)
        quadratic = sp.csc_matrix((len(q), len(q)))
        bound, found = _clarabel(quadratic, q, sp.csc_matrix(matrix), right)
        return Relaxed(bound, self._matrix(found))

    def _joined(
        self,
        terms: Sequence[tuple[int, int, float]],
        matrix: Array,
        right: Array,
        q: Array,
        width: int,
    ) -> tuple[Array, Array, Array]:
        """Make excess costs count: added to the distances (l1), or the larger of the two (linf)."""
        samples = self._samples
        if self._priced is None:
            return matrix, right, q
        q[self._size : width] = samples.weights
        if samples.loss.norm == "l1":
            return matrix, right, q
        # J_i stands for the larger of both: it is at least the distance of the sample's term.
        q[width:] = 0.0
        rows = []
        for t, (first, _, _) in enumerate(terms):
            for i in np.flatnonzero(samples.groups == samples.groups[first]):
                row = np.zeros(len(q))
                row[width + t], row[self._size + i] = 1.0, -1.0
                rows.append(row)
        extra = np.array(rows).reshape(-1, len(q))
        return np.vstack([matrix, extra]), np.append(right, np.zeros(len(extra))), q

    def _excess_rows(self) -> tuple[Array, Array]:
        """Return the rows ``c_i'x_i - c_i'v_ij - J_i <= 0`` and, where it matters, ``J >= 0``."""
        samples = self._samples
        N = len(samples.weights)
        prices = -np.einsum("il,imd->imld", samples.costs, samples.psi).reshape(-1, self._size)
        excess = np.repeat(-np.eye(N), self._M, axis=0)
        paid = np.einsum("il,il->i", samples.costs, samples.known)
        rows, right = np.hstack([prices, excess]), -np.repeat(paid, self._M)
        if samples.loss.norm == "l2":
            return rows, right
        positive = np.hstack([np.zeros((N, self._size)), -np.eye(N)])
        return np.vstack([rows, positive]), np.append(right, np.zeros(N))

    def _matrix(self, point: Array) -> Array:
        return np.ascontiguousarray(point[: self._size].reshape(self._n, self._d).T)


def _clarabel(P: sp.csc_matrix, q: Array, B: sp.csc_matrix, d: Array) -> tuple[float, Array]:
    """Minimise ``x'P x / 2 + q'x`` over ``B x <= d``; return the dual value, which is a bound."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    quadratic = sp.csc_matrix(sp.triu(P) + RIDGE * sp.identity(len(q)))
    cones = [clarabel.NonnegativeConeT(len(d))] if len(d) else []
    answer = clarabel.DefaultSolver(quadratic, q, B, d, cones, settings).solve()
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        raise InfeasibleProblemError("no parameters give these samples their points")
    if "Solved" not in status and max(answer.r_prim, answer.r_dual) > 1e-6:
        raise SolverError(f"Clarabel stopped with status {status} on the program of a node")
    return min(float(answer.obj_val), float(answer.obj_val_dual)), np.array(answer.x)
