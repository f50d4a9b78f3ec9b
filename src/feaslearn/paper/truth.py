r"""The true problem behind data, where it is known: what the true losses are measured by.

.. math:: \min \{ c'x : x \in R(s) \}

The truth is a linear program with hidden variables, such as flows on the lines of a network
(`LinearProgram`), or a region of our own with known parameters (`KnownRegion`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, InfeasibleProblemError, SolverError
from feaslearn.paper.regions.cones import Cone
from feaslearn.paper.regions.maps import MapClass
from feaslearn.paper.regions.programs import solve_conic
from feaslearn.solvers.highs import Bounds, WarmProgram, raise_failures, raise_violations
from feaslearn.tolerances import EXACT_TOL, SOLVED_ZERO


class Truth(Protocol):
    """A problem that a decision maker solves; rows are samples throughout.

    Distances are Euclidean, not squared.
    """

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return one optimal decision for each sample, (N, n)."""
        ...

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the distance of each decision to ``R(s)``, (N,)."""
        ...

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the distance of each decision to the minimisers of ``c`` in ``R(s)``, (N,)."""
        ...


@dataclass(frozen=True)
class KnownRegion:
    """The problem of a decision maker whose region is one of our own.

    Parameters
    ----------
    region : MapClass
        The class of the region.
    theta : ndarray
        Its parameters.
    features : callable
        From signals (N, m) to the features (N, k) that the region is affine in; the first is 1.

    Examples
    --------
    A ball of radius 2 around the point (1, 1), whatever the signal.

    >>> import numpy as np
    >>> from feaslearn import L2Ball
    >>> from feaslearn.paper import KnownRegion, Scaled
    >>> ball = KnownRegion(
    ...     Scaled(L2Ball(2)), np.array([2.0, 1.0, 1.0]), lambda s: np.ones((len(s), 1)))
    >>> ball.solve(np.zeros((1, 1)), np.array([[0.0, 1.0]]))
    array([[ 1., -1.]])
    """

    region: MapClass
    theta: Array
    features: Callable[[Array], Array]

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return one optimal decision for each sample, (N, n)."""
        return self.region.decisions(self.theta, self.features(signals), costs)

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the distance of each decision to the region, (N,)."""
        rows = zip(decisions, self.features(signals), strict=True)
        found = [self.region.image(self.theta, phi, len(x)).distance(x) for x, phi in rows]
        return np.array(found)

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the distance of each decision to the minimisers in the region, (N,)."""
        found = []
        for x, c, phi in zip(decisions, costs, self.features(signals), strict=True):
            face = self.region.image(self.theta, phi, len(x)).optimal_face(c)
            found.append(face.distance(x))
        return np.array(found)


class AffineRows(NamedTuple):
    """One bound for each row of a linear program, ``r(s) = constant + slope s``.

    ``constant`` has shape (m,) and ``slope`` shape (m, K); a bound that is infinite does not move.
    """

    constant: ArrayLike
    slope: ArrayLike

    def at(self, signals: Array) -> Array:
        """Return the bounds at each signal, (N, m)."""
        return np.asarray(np.asarray(self.constant) + signals @ np.asarray(self.slope).T)


class LinearProgram:
    """A linear program in the decisions x and hidden variables w (such as flows).

    ``min { c(s)'x : row_lower(s) <= M (x, w) <= row_upper(s), lower <= (x, w) <= upper }``

    A feasible point is optimal exactly when it is complementary to one (any) optimal dual solution,
    so the optimal face is the feasible set with the rows and variables of non-zero multiplier held
    at their bounds.

    Parameters
    ----------
    matrix : array-like or sparse array of shape (m, v)
        The matrix M. The decisions are the first ``n_decisions`` columns.
    row_lower, row_upper : AffineRows
        The bounds of the rows; equal for an equation.
    lower, upper : array-like of shape (v,)
        The bounds of the variables; plus or minus infinity for none.
    n_decisions : int
        How many of the variables are decisions; the others are hidden and have no cost.

    Examples
    --------
    One unit is bought from two suppliers; the signal says how much the first can deliver.

    >>> import numpy as np
    >>> from feaslearn.paper import AffineRows, LinearProgram
    >>> one, most = AffineRows([1.0, 0.0], [[0.0], [0.0]]), AffineRows([1.0, 0.0], [[0.0], [1.0]])
    >>> problem = LinearProgram([[1, 1], [1, 0]], one, most, [0, 0], [1, 1], n_decisions=2)
    >>> problem.solve(np.array([[0.25]]), np.array([[1.0, 2.0]]))
    array([[0.25, 0.75]])
    """

    def __init__(
        self,
        matrix: Any,
        row_lower: AffineRows,
        row_upper: AffineRows,
        lower: ArrayLike,
        upper: ArrayLike,
        n_decisions: int,
    ) -> None:
        self.matrix = sparse.csc_array(matrix, dtype=float)
        self.row_lower, self.row_upper = row_lower, row_upper
        self.lower, self.upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        self.n_decisions = n_decisions
        if not self.lower.shape == self.upper.shape == self.matrix.shape[1:]:
            raise DataError("LinearProgram: lower and upper need one number for each variable")
        # Multipliers are compared in units of the costs, whatever the unit of a row.
        self._row_sizes = abs(self.matrix).max(axis=1).toarray().ravel()

    def solve(self, signals: Array, costs: Array, infeasible: bool = False) -> Array:
        """Return one optimal decision for each sample, (N, n).

        With ``infeasible``, samples without a feasible point are NaN; otherwise they raise.
        """
        points = self._answers(costs, self._bounds(signals), infeasible).points
        return np.ascontiguousarray(points[:, : self.n_decisions])

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the distance of each decision, for the best hidden variables, (N,)."""
        return distances(decisions, self.matrix, self._bounds(signals))

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the distance of each decision to the optimal ones, (N,)."""
        bounds = self._bounds(signals)
        answers = self._answers(costs, bounds)
        rows = _binding(answers.row_duals * self._row_sizes, bounds.row_lower, bounds.row_upper)
        columns = _binding(answers.column_duals, bounds.lower, bounds.upper)
        return distances(decisions, self.matrix, Bounds(*rows, *columns))

    def _bounds(self, signals: Array) -> Bounds:
        """Return the bounds of rows and variables at each signal."""
        row_lower, row_upper = self.row_lower.at(signals), self.row_upper.at(signals)
        # Two sides of one equation, evaluated apart, may differ in the last digit.
        close = np.isfinite(row_lower) & np.isclose(row_lower, row_upper, rtol=EXACT_TOL, atol=0.0)
        row_upper = np.where(close, row_lower, row_upper)
        shape = (len(signals), self.matrix.shape[1])
        lower, upper = np.broadcast_to(self.lower, shape), np.broadcast_to(self.upper, shape)
        return Bounds(row_lower, row_upper, lower, upper)

    def _answers(self, costs: Array, bounds: Bounds, infeasible: bool = False) -> Any:
        """Return optimal points and duals, for costs of about one."""
        _, exponents = np.frexp(np.abs(costs).max(axis=1, keepdims=True))
        scaled = np.zeros((len(costs), self.matrix.shape[1]))
        scaled[:, : self.n_decisions] = np.ldexp(costs, -exponents)
        return WarmProgram(self.matrix).solve(scaled, bounds, infeasible=infeasible)


def _binding(duals: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return bounds that are equal where a dual is not zero."""
    on_lower, on_upper = duals > SOLVED_ZERO, duals < -SOLVED_ZERO
    missing = (on_lower & np.isinf(lower)) | (on_upper & np.isinf(upper))
    if missing.any():
        raise SolverError("the dual of an infinite bound is not zero: check the scale of the data")
    return np.where(on_upper, upper, lower), np.where(on_lower, lower, upper)


def distances(points: Array, matrix: sparse.csc_array, bounds: Bounds) -> Array:
    """Return how far each point is from the polyhedron of its sample.

    ``min { ||x - (y_1..y_n)|| : row_lower <= M y <= row_upper, lower <= y <= upper }``
    """
    # As a cone program, not as a least-squares program: a solver that is right to 1e-10 in the
    # squared distance is right to 1e-5 only in the distance itself. Equal bounds become equations,
    # because an interior-point method needs slack between inequalities.
    (n_samples, n), v = points.shape, matrix.shape[1]
    lower = np.hstack([bounds.row_lower, bounds.lower])
    upper = np.hstack([bounds.row_upper, bounds.upper])
    table = sparse.csr_array(sparse.vstack([matrix, sparse.identity(v)]))
    cost, limit, select = np.append(np.zeros(v), 1.0), np.ones((1, 1)), table[-v:][:n]
    nearest = np.full((n_samples, v), np.nan)
    statuses = np.full(n_samples, "Optimal", dtype=object)
    for i, (x, low, high) in enumerate(zip(points, lower, upper, strict=True)):
        equal, open_ended = np.flatnonzero(low == high), low != high
        above = np.flatnonzero(open_ended & np.isfinite(high))
        below = np.flatnonzero(open_ended & np.isfinite(low))
        bounded = sparse.vstack([table[equal], -table[above], table[below]])
        blocks: Any = [[bounded, None], [None, limit], [select, None]]
        linear = Cone("zero", len(equal)), Cone("nonnegative", len(above) + len(below))
        right = np.concatenate([high[equal], -high[above], low[below], [0.0], x])
        rows: Any = sparse.csc_array(sparse.bmat(blocks))
        try:
            nearest[i] = solve_conic(
                cost, rows, right, (*linear, Cone("second-order", n + 1))
            ).point[:-1]
        except InfeasibleProblemError:
            statuses[i] = "Infeasible"
    raise_failures(statuses)
    raise_violations(nearest @ table.T, lower, upper)
    return np.asarray(np.linalg.norm(points - nearest[:, :n], axis=1))
