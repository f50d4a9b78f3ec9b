"""The convex program of a node: some samples have their points, the others are free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import InfeasibleProblemError, SolverError
from feaslearn.results import Status
from feaslearn.runs import Clock, OutOfTime
from feaslearn.solvers.conic import interior_point
from feaslearn.solvers.conic_form import Cone
from feaslearn.tolerances import ACCEPT_TOL, LEAST_RIDGE, TIGHT_TOL
from feaslearn.trainers.mixed_integer.enumerated_samples import EnumeratedSamples

Callback = Callable[[int, float, float], object]


class Relaxed(NamedTuple):
    """The optimum of a node: a lower bound, and the parameters that reach it."""

    bound: float
    beta: Array


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

    def __init__(self, samples: EnumeratedSamples, clock: Clock | None = None) -> None:
        self.samples, self.clock = samples, Clock() if clock is None else clock
        _, self._M, self._d = samples.psi.shape
        self._n = samples.decisions.shape[1]
        self._size = self._d * self._n
        self._priced = self._excess_rows() if samples.priced else None

    def solve(
        self, nearest: Mapping[int, int], chosen: Mapping[int, int], margin: float = 0.0
    ) -> Relaxed:
        """Solve the program."""
        terms = self._terms(nearest, chosen)
        rows = self._optimality(chosen, margin) if self._priced is None else self._priced
        if self.samples.loss.norm == "l2":
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
        found, first, members = np.unique(keys, return_index=True, return_inverse=True)
        weights = np.bincount(members.ravel(), samples.weights[counted], minlength=len(found))
        return _Terms(counted[first], points[counted[first]], weights.astype(float))

    def _optimality(self, chosen: Mapping[int, int], margin: float) -> _Rows:
        psi, costs = self.samples.psi, self.samples.costs
        rows, points = np.array(list(chosen.items()), dtype=np.intp).reshape(-1, 2).T
        priced = costs[rows].any(axis=1)
        rows, points = rows[priced], points[priced]
        steps = psi[rows, points][:, None] - psi[rows]
        others = np.arange(self._M) != points[:, None]
        matrix = np.einsum("il,imd->imld", costs[rows], steps)[others].reshape(-1, self._size)
        return _Rows(sp.csc_array(matrix), np.full(len(matrix), -margin))

    def _squared(self, terms: _Terms, rows: _Rows) -> Relaxed:
        samples = self.samples
        psi = samples.psi[terms.samples, terms.points]
        x, seen = samples.known[terms.samples], samples.seen[terms.samples]
        weights = 2.0 * terms.weights[:, None] * seen
        P = np.einsum("tl,td,te->lde", weights, psi, psi)
        q = -np.einsum("tl,tl,td->ld", weights, x, psi).ravel()
        constant = 0.5 * float((weights * x**2).sum())
        quadratic = sp.block_diag([*P], format="csc")
        if self._priced is not None:
            excess = sp.diags_array(2.0 * samples.weights)
            quadratic = sp.block_diag([quadratic, excess], format="csc")
            q = np.append(q, np.zeros(len(samples.weights)))
        bound, found = _minimize(quadratic, q, rows, self.clock)
        return Relaxed(bound + constant, self._matrix(found))

    def _linear(self, terms: _Terms, rows: _Rows) -> Relaxed:
        """Add unknowns for the sizes of residuals: one each (l1), or one a term (linf)."""
        samples, n = self.samples, self._n
        maximum = samples.loss.norm == "linf"
        T, width = len(terms.weights), rows.matrix.shape[1]
        psi = samples.psi[terms.samples, terms.points]
        x, seen = samples.known[terms.samples].ravel(), samples.seen[terms.samples].ravel()
        residuals = np.einsum("lm,td->tlmd", np.eye(n), psi).reshape(T * n, self._size)[seen]
        one_each = sp.identity(T) if maximum else sp.identity(T * n)
        sizes = sp.csr_array(sp.kron(one_each, np.ones((n, 1))) if maximum else one_each)[seen]
        gaps = sp.hstack([sp.csr_array(residuals), sp.csr_array((seen.sum(), width - self._size))])
        above, below = sp.hstack([gaps, -sizes]), sp.hstack([-gaps, -sizes])
        wide = sp.hstack([rows.matrix, sp.csc_array((rows.matrix.shape[0], sizes.shape[1]))])
        matrix = sp.vstack([wide, above, below])
        right = np.concatenate([rows.right, x[seen], -x[seen]])
        q = np.zeros(width + sizes.shape[1])
        q[width:] = terms.weights if maximum else np.repeat(terms.weights, n)
        q[self._size : width] = samples.weights[: width - self._size]
        if maximum and self._priced is not None:
            # J stands for the larger of both: it is at least the distance of the sample's term.
            q[width:] = 0.0
            larger = self._at_least_the_distance(terms, len(q))
            matrix = sp.vstack([matrix, larger])
            right = np.append(right, np.zeros(larger.shape[0]))
        nothing = sp.csc_array((len(q), len(q)))
        bound, found = _minimize(nothing, q, _Rows(sp.csc_array(matrix), right), self.clock)
        return Relaxed(bound, self._matrix(found))

    def _at_least_the_distance(self, terms: _Terms, width: int) -> sp.csr_array:
        """Return the rows ``distance_t - J_i <= 0`` for every sample of the group of a term."""
        groups = self.samples.groups
        first = self._size + len(groups)
        members = [np.flatnonzero(groups == groups[sample]) for sample in terms.samples]
        term = np.repeat(np.arange(len(members)), [len(each) for each in members])
        sample = np.concatenate([np.zeros(0, dtype=np.intp), *members])
        row = np.arange(len(term))
        entries = np.repeat([1.0, -1.0], len(term))
        places = np.tile(row, 2), np.append(first + term, self._size + sample)
        return sp.csr_array((entries, places), shape=(len(term), width))

    def _excess_rows(self) -> _Rows:
        """Return ``c_i'x_i - c_i'v_ij - J_i <= 0`` and, where no square says it, ``J >= 0``."""
        samples = self.samples
        N = len(samples.weights)
        prices = -np.einsum("il,imd->imld", samples.costs, samples.psi).reshape(-1, self._size)
        excess = sp.kron(sp.identity(N), -np.ones((self._M, 1)))
        paid = np.einsum("il,il->i", samples.costs, samples.known)
        matrix, right = sp.hstack([sp.csr_array(prices), excess]), -np.repeat(paid, self._M)
        if samples.loss.norm != "l2":
            positive = sp.hstack([sp.csr_array((N, self._size)), -sp.identity(N)])
            matrix, right = sp.vstack([matrix, positive]), np.append(right, np.zeros(N))
        return _Rows(sp.csc_array(matrix), right)

    def _matrix(self, point: Array) -> Array:
        return np.ascontiguousarray(point[: self._size].reshape(self._n, self._d).T)


def _minimize(P: sp.csc_array, q: Array, rows: _Rows, clock: Clock) -> tuple[float, Array]:
    """Minimise ``v'P v / 2 + q'v`` over rows; return the dual value, which is a bound."""
    quadratic = sp.triu(P) + LEAST_RIDGE * sp.identity(len(q))
    cones = [Cone("nonnegative", len(rows.right))]
    seconds = clock.left if clock.limited else np.inf
    answer = interior_point(
        quadratic, q, rows.matrix, rows.right, cones, TIGHT_TOL, seconds=seconds
    )
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        raise InfeasibleProblemError("no parameters give these samples their points")
    if "MaxTime" in status:
        raise OutOfTime
    if "Solved" not in status and max(answer.r_prim, answer.r_dual) > ACCEPT_TOL:
        raise SolverError(f"Clarabel stopped with status {status} on the program of a node")
    return min(float(answer.obj_val), float(answer.obj_val_dual)), np.array(answer.x)


# What a search with a lower bound hands back, and records on its way.


class Found(NamedTuple):
    """Parameters, how the search ended, a lower bound of the loss, and the steps it took."""

    theta: Array
    status: Status
    lower_bound: float
    steps: int
    history: dict[str, list[float]]


class Watch:
    """Records where a search stands, and asks the user's callback whether to continue."""

    def __init__(self, clock: Clock, callback: Callback | None) -> None:
        self._clock, self._callback = clock, callback
        self.history: dict[str, list[float]] = {"seconds": [], "loss": [], "lower bound": []}

    def stops(self, step: int, bound: float, loss: float) -> bool:
        """Note bound and loss; say whether the user wants to stop."""
        self.note(bound, loss)
        if self._callback is None:
            return False
        return bool(self._callback(step, bound, loss))

    def note(self, bound: float, loss: float) -> None:
        """Record bound and loss where they have changed."""
        last = [self.history[name][-1:] for name in ("loss", "lower bound")]
        if last != [[loss], [bound]]:
            row = {"seconds": self._clock.seconds, "loss": loss, "lower bound": bound}
            for name, value in row.items():
                self.history[name].append(value)
