r"""Samples whose latent points are listed, and the convex program once points are fixed.

With Z a list of points :math:`w_1, \dots, w_M` (for the binary simplex the unit vectors), the image
of a point is linear in the parameters: :math:`v_{im} = A(s_i) w_m + b(s_i) = \beta' \psi_{im}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import InfeasibleProblemError, SolverError
from feaslearn.paper.descent import Standardization
from feaslearn.paper.losses import Suboptimality
from feaslearn.paper.problem import Clock, OutOfTime, Problem
from feaslearn.paper.regions import Cone, Maps
from feaslearn.solvers.conic import interior_point
from feaslearn.tolerances import ACCEPT_TOL, LEAST_RIDGE, TIE_TOL, TIGHT_TOL


@dataclass(frozen=True)
class EnumeratedSamples:
    r"""Images :math:`\beta' \psi_{im}` of listed points, ``psi`` (N, M, d) and ``beta`` (d, n).

    Features have mean zero and deviation one, and decisions mean zero and size one: programs
    measure what is small by the size of numbers, which an offset would hide. Samples with the same
    features and decisions make a group: whichever point is nearest is nearest for all of them.
    """

    problem: Problem
    psi: Array
    features: Array
    costs: Array
    decisions: Array
    groups: Indices
    standard: Standardization
    #: Mean of the decisions, and the largest distance from it.
    center: Array
    scale: float

    @classmethod
    def of(cls, problem: Problem) -> EnumeratedSamples:
        """Write the samples of a problem whose set lists its points."""
        standard = Standardization.of(problem)
        features, costs, decisions, weights = standard.apply(problem).samples
        center = (weights[:, None] * decisions).sum(axis=0) / weights.sum()
        decisions = decisions - center
        scale = float(np.max(np.abs(decisions))) or 1.0
        points = problem.region.Z.vertices()
        if not problem.region.Z.absorbs_offset:
            points = np.column_stack([points, np.ones(len(points))])
        psi = np.einsum("ik,mj->imkj", features, points).reshape(len(features), len(points), -1)
        groups = np.unique(np.hstack([features, decisions]), axis=0, return_inverse=True)[1].ravel()
        costs, decisions = problem.loss.unit_costs(costs), decisions / scale
        return cls(problem, psi, features, costs, decisions, groups, standard, center, scale)

    @property
    def weights(self) -> Array:
        """The weights of the samples."""
        return self.problem.samples.weights

    def matrix(self, maps: Maps) -> Array:
        """Return ``beta``, given maps in the units of the program."""
        A, b = maps
        if self.problem.region.Z.absorbs_offset:
            columns = A + b[:, :, None] / self.problem.region.Z.center().sum()
        else:
            columns = np.concatenate([A, b[:, :, None]], axis=2)
        return np.asarray(columns.transpose(0, 2, 1).reshape(-1, b.shape[1]))

    def beta(self, theta: Array) -> Array:
        """Return ``beta``, given parameters of the region."""
        A, b = self.problem.maps(self.standard.convert(self.problem, theta))
        return self.matrix(Maps(A, np.vstack([b[:1] - self.center, b[1:]]))) / self.scale

    def theta(self, beta: Array) -> Array:
        """Return the parameters of the region."""
        k, n, p = self.problem.n_features, beta.shape[1], self.problem.region.Z.dimension
        columns = self.scale * beta.reshape(k, -1, n)
        A, b = columns[:, :p].transpose(0, 2, 1), np.zeros((k, n))
        if columns.shape[1] > p:
            b = columns[:, p].copy()
        b[0] += self.center
        return self.standard.revert(self.problem, self.problem.region.theta_of(Maps(A, b)))

    @property
    def interchangeable(self) -> bool:
        """Whether the points can change places: unit vectors with columns of their own."""
        return (
            self.problem.region.Z.absorbs_offset
            and self.psi.shape[1] == self.problem.region.Z.dimension
        )

    @property
    def priced(self) -> bool:
        """Whether excess cost counts on its own: suboptimality."""
        return isinstance(self.problem.loss, Suboptimality)

    def images(self, beta: Array) -> Array:
        """Return the image of each point at each sample (N, M, n)."""
        return np.asarray(self.psi @ beta)

    def prices(self, images: Array) -> Array:
        """Return the cost of each image (N, M)."""
        return np.asarray(np.einsum("imn,in->im", images, self.costs))

    def distances(self, images: Array) -> Array:
        """Return the distance of each decision to each image (N, M), as the loss measures."""
        gaps = images - self.decisions[:, None, :]
        return self.problem.loss.lengths(gaps.reshape(-1, gaps.shape[2])).reshape(gaps.shape[:2])

    def losses(self, images: Array, distances: Array) -> Array:
        """Return the loss of each sample, its nearest minimiser taken where several tie."""
        prices = self.prices(images)
        if not self.priced:
            limits = prices.min(axis=1) + TIE_TOL * np.abs(prices).max(axis=1)
            return np.asarray(np.where(prices <= limits[:, None], distances, np.inf).min(axis=1))
        paid = np.einsum("in,in->i", self.decisions, self.costs)
        excess = np.maximum(paid - prices.min(axis=1), 0.0)
        near = distances.min(axis=1)
        if self.problem.loss.norm == "linf":
            return np.asarray(np.maximum(near, excess))
        return np.asarray(near + (excess**2 if self.problem.loss.norm == "l2" else excess))

    def value(self, beta: Array) -> float:
        """Return the weighted loss, in the units of the program."""
        images = self.images(beta)
        return float(self.weights @ self.losses(images, self.distances(images)))

    def in_units(self, value: float) -> float:
        """Return a loss in the units of the data, given one of the program."""
        return value * (self.scale**2 if self.problem.loss.norm == "l2" else self.scale)


class _Rows(NamedTuple):
    """Rows ``matrix v <= right``; the first unknowns are beta, one decision after the other."""

    matrix: sp.csc_array
    right: Array


class _Terms(NamedTuple):
    """What counts: one sample of each kind, its point, and the weight of all like it."""

    samples: Indices
    points: Indices
    weights: Array


class NodeProgram:
    r"""Least loss of the samples whose points are fixed, all others counting as little as they can.

    .. math::
        \min_\beta \sum_{(i, m)} w_i \|x_i - \beta'\psi_{im}\| \quad \text{s.t.} \quad
        c_i'\beta'\psi_{im} \le c_i'\beta'\psi_{ij} \;\; \forall j

    The sum is over the samples that have a nearest or a chosen point; the rows are those of the
    samples that have a chosen one. Suboptimality has no rows but an excess cost for every sample,
    :math:`J_i \ge c_i'(x_i - \beta'\psi_{ij})` for all j.
    """

    def __init__(self, samples: EnumeratedSamples, clock: Clock) -> None:
        self.samples, self.clock = samples, clock
        _, self._M, self._d = samples.psi.shape
        self._n = samples.decisions.shape[1]
        self._size = self._d * self._n
        self._priced = self._excess_rows() if samples.priced else None

    def solve(
        self, nearest: Mapping[int, int], chosen: Mapping[int, int], margin: float = 0.0
    ) -> tuple[float, Array]:
        """Return the optimum with nearest points of groups and chosen points of samples.

        A lower bound comes first, then its parameters.
        """
        terms = self._terms(nearest, chosen)
        rows = self._optimality(chosen, margin) if self._priced is None else self._priced
        if self.samples.problem.loss.norm == "l2":
            return self._squared(terms, rows)
        return self._linear(terms, rows)

    def _terms(self, nearest: Mapping[int, int], chosen: Mapping[int, int]) -> _Terms:
        samples = self.samples
        by_group = np.full(int(samples.groups.max()) + 1, -1)
        by_group[list(nearest)] = list(nearest.values())
        points = by_group[samples.groups]
        points[list(chosen)] = list(chosen.values())
        counted = np.flatnonzero(points >= 0)
        keys = samples.groups[counted] * self._M + points[counted]
        if self._priced is not None and samples.problem.loss.norm == "linf":
            keys = counted  # each sample has an excess cost of its own to be the larger one
        found, first, members = np.unique(keys, return_index=True, return_inverse=True)
        weights = np.bincount(members.ravel(), samples.weights[counted], minlength=len(found))
        return _Terms(counted[first], points[counted[first]], weights.astype(float))

    def _optimality(self, chosen: Mapping[int, int], margin: float) -> _Rows:
        """Return ``c_i'v_im + margin <= c_i'v_ij``: the dual row without its multiplier."""
        psi, costs = self.samples.psi, self.samples.costs
        rows, points = np.array(list(chosen.items()), dtype=np.intp).reshape(-1, 2).T
        priced = costs[rows].any(axis=1)
        rows, points = rows[priced], points[priced]
        steps = psi[rows, points][:, None] - psi[rows]
        others = np.arange(self._M) != points[:, None]
        matrix = np.einsum("il,imd->imld", costs[rows], steps)[others].reshape(-1, self._size)
        return _Rows(sp.csc_array(matrix), np.full(len(matrix), -margin))

    def _squared(self, terms: _Terms, rows: _Rows) -> tuple[float, Array]:
        samples = self.samples
        psi = samples.psi[terms.samples, terms.points]
        x = samples.decisions[terms.samples]
        weights = np.repeat(2.0 * terms.weights[:, None], self._n, axis=1)
        P = np.einsum("tl,td,te->lde", weights, psi, psi)
        q = -np.einsum("tl,tl,td->ld", weights, x, psi).ravel()
        constant = 0.5 * float((weights * x**2).sum())
        quadratic = sp.block_diag([*P], format="csc")
        if self._priced is not None:
            excess = sp.diags_array(2.0 * samples.weights)
            quadratic = sp.block_diag([quadratic, excess], format="csc")
            q = np.append(q, np.zeros(len(samples.weights)))
        bound, found = _minimize(quadratic, q, rows, self.clock)
        return bound + constant, self._matrix(found)

    def _linear(self, terms: _Terms, rows: _Rows) -> tuple[float, Array]:
        """Add unknowns for the sizes of residuals: one each (l1), or one a term (linf)."""
        samples, n, (height, width) = self.samples, self._n, rows.matrix.shape
        T = len(terms.weights)
        column = width + np.arange(T * n)
        if samples.problem.loss.norm == "linf":
            # With an excess cost, J stands for the larger of both.
            alone = self._priced is not None
            column = np.repeat(self._size + terms.samples if alone else width + np.arange(T), n)
        total = max(width, int(column.max(initial=0)) + 1)
        q = np.zeros(total)
        q[column] = np.repeat(terms.weights, n)
        q[self._size : width] = samples.weights[: width - self._size]
        psi = samples.psi[terms.samples, terms.points]
        x = samples.decisions[terms.samples].ravel()
        residuals = np.einsum("lm,td->tlmd", np.eye(n), psi).reshape(T * n, self._size)
        gaps = sp.hstack([sp.csr_array(residuals), sp.csr_array((T * n, total - self._size))])
        sizes = sp.csr_array((np.ones(T * n), (np.arange(T * n), column)), gaps.shape)
        wide = sp.hstack([rows.matrix, sp.csc_array((height, total - width))])
        matrix = sp.vstack([wide, gaps - sizes, -gaps - sizes])
        right = np.concatenate([rows.right, x, -x])
        nothing = sp.csc_array((total, total))
        bound, found = _minimize(nothing, q, _Rows(sp.csc_array(matrix), right), self.clock)
        return bound, self._matrix(found)

    def _excess_rows(self) -> _Rows:
        """Return ``c_i'x_i - c_i'v_ij - J_i <= 0`` and, where no square says it, ``J >= 0``."""
        samples = self.samples
        N = len(samples.weights)
        prices = -np.einsum("il,imd->imld", samples.costs, samples.psi).reshape(-1, self._size)
        excess = sp.kron(sp.identity(N), -np.ones((self._M, 1)))
        paid = np.einsum("il,il->i", samples.costs, samples.decisions)
        matrix, right = sp.hstack([sp.csr_array(prices), excess]), -np.repeat(paid, self._M)
        if samples.problem.loss.norm != "l2":
            positive = sp.hstack([sp.csr_array((N, self._size)), -sp.identity(N)])
            matrix, right = sp.vstack([matrix, positive]), np.append(right, np.zeros(N))
        return _Rows(sp.csc_array(matrix), right)

    def _matrix(self, point: Array) -> Array:
        return np.ascontiguousarray(point[: self._size].reshape(self._n, self._d).T)


def _minimize(P: sp.csc_array, q: Array, rows: _Rows, clock: Clock) -> tuple[float, Array]:
    """Minimise ``v'P v / 2 + q'v`` over rows; return the dual value, which is a bound."""
    quadratic = sp.triu(P) + LEAST_RIDGE * sp.identity(len(q))
    cones = [Cone("nonnegative", len(rows.right))]
    answer = interior_point(
        quadratic, q, rows.matrix, rows.right, cones, TIGHT_TOL, seconds=clock.left
    )
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        raise InfeasibleProblemError("no parameters give these samples their points")
    if "MaxTime" in status:
        raise OutOfTime
    if "Solved" not in status and max(answer.r_prim, answer.r_dual) > ACCEPT_TOL:
        raise SolverError(f"Clarabel stopped with status {status} on the program of a node")
    return min(float(answer.obj_val), float(answer.obj_val_dual)), np.array(answer.x)
