"""Linear programs with hidden variables and right-hand sides affine in the signal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from feaslearn.arrays import Array
from feaslearn.datasets.forward_problem import (
    CheckedProblem,
    Norm,
    check_table,
)
from feaslearn.exceptions import DataError, InfeasibleProblemError, Problems, SolverError
from feaslearn.solvers.conic import NORM_ORDERS, solve_conic
from feaslearn.solvers.conic_form import Cone
from feaslearn.solvers.highs import (
    Answers,
    Bounds,
    WarmProgram,
    name_rows,
    raise_failures,
    raise_violations,
)
from feaslearn.tolerances import EXACT_TOL, SOLVED_ZERO


class LinearProgram(CheckedProblem):
    """A linear program in the decisions x and hidden variables w (such as flows).

    ``min { c(s)'x : row_lower(s) <= M (x, w) <= row_upper(s), lower <= (x, w) <= upper }``

    Parameters
    ----------
    matrix : array_like or sparse array of shape (m, v)
        The matrix M. The decisions are the first ``n_decisions`` columns.
    row_lower, row_upper : AffineRows
        The bounds of the rows; equal for an equation.
    lower, upper : array_like of shape (v,)
        The bounds of the variables; plus or minus infinity for none.
    n_decisions : int
        How many of the variables are decisions; the others are hidden and have no cost.

    Notes
    -----
    HiGHS solves the samples of a call one after the other, each from the last basis. Where several
    decisions are optimal, which of them ``solve`` returns is not specified; the distances are to
    all of them. A feasible point is optimal exactly when it is complementary to one (any) optimal
    dual solution, so the optimal face is the feasible set with the rows and variables of non-zero
    multiplier held at their bounds.

    References
    ----------
    Huangfu and Hall, "Parallelizing the dual revised simplex method", Mathematical Programming
    Computation 10, 2018.

    Examples
    --------
    One unit is bought from two suppliers; the signal says how much the first can deliver.

    >>> from feaslearn.datasets import AffineRows, LinearProgram
    >>> one, most = AffineRows([1.0, 0.0], [[0.0], [0.0]]), AffineRows([1.0, 0.0], [[0.0], [1.0]])
    >>> problem = LinearProgram([[1, 1], [1, 0]], one, most, [0, 0], [1, 1], n_decisions=2)
    >>> problem.solve([[0.25]], [[1.0, 2.0]])
    array([[0.25, 0.75]])
    >>> problem.distance_to_feasible([[1.0, 0.0]], [[0.25]], norm="l1")
    array([1.5])
    """

    def __init__(
        self,
        matrix: ArrayLike | sparse.sparray | sparse.spmatrix,
        row_lower: AffineRows,
        row_upper: AffineRows,
        lower: ArrayLike,
        upper: ArrayLike,
        n_decisions: int,
    ) -> None:
        self.matrix = _sparse(matrix)
        self.row_lower = row_lower
        self.row_upper = row_upper
        self.lower = np.ascontiguousarray(lower, dtype=np.float64)
        self.upper = np.ascontiguousarray(upper, dtype=np.float64)
        self.n_decisions = n_decisions
        self._check()
        # Multipliers are compared in units of the costs, whatever the unit of a row.
        self._row_sizes = np.zeros(self.matrix.shape[0])
        np.maximum.at(self._row_sizes, self.matrix.indices, np.abs(self.matrix.data))

    def _check(self) -> None:
        """Raise all problems of the arguments in one error."""
        problems = Problems()
        m, v = self.matrix.shape
        if not np.isfinite(self.matrix.data).all():
            problems.add("matrix has values that are NaN or infinite")
        for name, rows in (("row_lower", self.row_lower), ("row_upper", self.row_upper)):
            if rows.n_rows != m:
                problems.add(f"{name} has {rows.n_rows} rows, matrix has {m}")
        if self.row_lower.n_signals != self.row_upper.n_signals:
            problems.add(
                f"row_lower reads {self.row_lower.n_signals} signals, "
                f"row_upper {self.row_upper.n_signals}"
            )
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.shape != (v,):
                problems.add(f"{name} has shape {bound.shape}, expected ({v},)")
            elif np.isnan(bound).any():
                problems.add(f"{name} is NaN at {np.flatnonzero(np.isnan(bound)).tolist()}")
        if self.lower.shape == self.upper.shape and (self.lower > self.upper).any():
            crossed = np.flatnonzero(self.lower > self.upper).tolist()
            problems.add(f"lower is above upper for variables {crossed}")
        if not 1 <= self.n_decisions <= v:
            problems.add(f"n_decisions is {self.n_decisions}, expected 1 to {v}")
        problems.raise_if_any(DataError, "LinearProgram")

    @property
    def n_signals(self) -> int:
        """How many signals the rows read."""
        return self.row_lower.n_signals

    def solve_where_feasible(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return one optimal decision for each sample, NaN for samples without a feasible one.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N, n)
            The decisions.
        """
        table, weights = self._tables("solve_where_feasible", signals, costs=costs)
        return self._minimizers(table, weights, infeasible=True)

    def _read(self, problems: Problems, signals: ArrayLike) -> tuple[Array, int]:
        return check_table(problems, "signals", signals, self.n_signals), self.n_decisions

    def _bounds(self, signals: Array) -> Bounds:
        """Return the bounds of rows and variables at each signal."""
        row_lower, row_upper = self.row_lower.evaluate(signals), self.row_upper.evaluate(signals)
        # Two sides of one equation, evaluated apart, may differ in the last digit.
        close = np.isfinite(row_lower) & np.isclose(row_lower, row_upper, rtol=EXACT_TOL, atol=0.0)
        row_upper = np.where(close, row_lower, row_upper)
        shape = (len(signals), self.matrix.shape[1])
        lower, upper = np.broadcast_to(self.lower, shape), np.broadcast_to(self.upper, shape)
        return Bounds(row_lower, row_upper, lower, upper)

    def _minimizers(self, table: Array, costs: Array, infeasible: bool = False) -> Array:
        answers, _ = self._solve(table, costs, infeasible)
        return np.ascontiguousarray(answers.points[:, : self.n_decisions])

    def _distances(self, table: Array, points: Array, costs: Array | None, norm: Norm) -> Array:
        if costs is None:
            return distances(points, self.matrix, self._bounds(table), norm)
        return distances(points, self.matrix, self._optimal_face(*self._solve(table, costs)), norm)

    def _solve(
        self, signals: Array, costs: Array, infeasible: bool = False
    ) -> tuple[Answers, Bounds]:
        """Return the solutions of all samples, and their bounds."""
        # Costs of about one, so that tolerances mean the same in any unit.
        _, exponents = np.frexp(np.abs(costs).max(axis=1, keepdims=True))
        scaled = np.zeros((len(costs), self.matrix.shape[1]))
        scaled[:, : self.n_decisions] = np.ldexp(costs, -exponents)
        bounds = self._bounds(signals)
        return WarmProgram(self.matrix).solve(scaled, bounds, infeasible=infeasible), bounds

    def _optimal_face(self, answers: Answers, bounds: Bounds) -> Bounds:
        """Hold every row and variable with a non-zero dual at its binding bound."""
        row_lower, row_upper = _binding(
            answers.row_duals * self._row_sizes, bounds.row_lower, bounds.row_upper
        )
        lower, upper = _binding(answers.column_duals, bounds.lower, bounds.upper)
        return Bounds(row_lower, row_upper, lower, upper)

    def __repr__(self) -> str:
        m, v = self.matrix.shape
        return (
            f"LinearProgram({m} rows, {self.n_decisions} decisions, "
            f"{v - self.n_decisions} hidden variables, {self.n_signals} signals)"
        )


def _sparse(matrix: Any) -> sparse.csc_array:
    """Return a copy as a sparse array of floats."""
    try:
        table = sparse.csc_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"LinearProgram: matrix is not a table of numbers ({error})") from error
    table.sum_duplicates()
    return table


def _binding(duals: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return bounds that are equal where a dual is not zero."""
    on_lower, on_upper = duals > SOLVED_ZERO, duals < -SOLVED_ZERO
    missing = (on_lower & np.isinf(lower)) | (on_upper & np.isinf(upper))
    if missing.any():
        bad = np.flatnonzero(missing.any(axis=1))
        raise SolverError(
            f"the solver's dual of an infinite bound is not zero at {name_rows(bad)}: "
            "check the scale of the data"
        )
    return np.where(on_upper, upper, lower), np.where(on_lower, lower, upper)


class AffineRows:
    """One bound for each row of a linear program, affine in the signal.

    ``r(s) = constant + slope s``

    Parameters
    ----------
    constant : array_like of shape (m,)
        The bound at ``s = 0``; plus or minus infinity where a row has no such bound.
    slope : array_like of shape (m, K)
        How the bound moves with each signal; zero where the constant is infinite.

    Examples
    --------
    >>> from feaslearn.datasets import AffineRows
    >>> AffineRows([0.0, 3.5], [[1.0, 1.0], [0.0, 0.0]]).evaluate([[0.25, 0.5]])
    array([[0.75, 3.5 ]])
    """

    def __init__(self, constant: ArrayLike, slope: ArrayLike) -> None:
        self.constant = np.ascontiguousarray(constant, dtype=np.float64)
        self.slope = np.ascontiguousarray(slope, dtype=np.float64)
        problems = Problems()
        if self.constant.ndim != 1:
            problems.add(f"constant has shape {self.constant.shape}, expected (rows,)")
        elif self.slope.ndim != 2 or len(self.slope) != len(self.constant):
            problems.add(
                f"slope has shape {self.slope.shape}, expected ({len(self.constant)}, signals)"
            )
        else:
            self._check_values(problems)
        problems.raise_if_any(DataError, "AffineRows")

    def _check_values(self, problems: Problems) -> None:
        """Add the rows whose numbers are invalid."""
        if np.isnan(self.constant).any():
            rows = np.flatnonzero(np.isnan(self.constant)).tolist()
            problems.add(f"constant is NaN in rows {rows}")
        if not np.isfinite(self.slope).all():
            rows = np.flatnonzero(~np.isfinite(self.slope).all(axis=1)).tolist()
            problems.add(f"slope is NaN or infinite in rows {rows}")
        elif (moving := np.isinf(self.constant) & self.slope.any(axis=1)).any():
            rows = np.flatnonzero(moving).tolist()
            problems.add(f"rows {rows} have an infinite constant: their slope must be zero")

    @property
    def n_rows(self) -> int:
        """How many bounds there are."""
        return len(self.constant)

    @property
    def n_signals(self) -> int:
        """How many signals the bounds read."""
        return int(self.slope.shape[1])

    def evaluate(self, signals: ArrayLike) -> Array:
        """Return the bounds at each signal.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.

        Returns
        -------
        ndarray of shape (N, m)
            The bounds.
        """
        problems = Problems()
        table = check_table(problems, "signals", signals, self.n_signals)
        problems.raise_if_any(DataError, "AffineRows.evaluate")
        bounds: Array = self.constant + table @ self.slope.T
        return bounds

    def __repr__(self) -> str:
        return f"AffineRows({self.n_rows} rows, {self.n_signals} signals)"


def distances(points: Array, matrix: sparse.csc_array, bounds: Bounds, norm: Norm) -> Array:
    """Measure how far each point is from the polyhedron of its sample.

    ``min { ||x - (y_1..y_n)|| : row_lower <= M y <= row_upper, lower <= y <= upper }``
    """
    nearest = _nearest_l2 if norm == "l2" else partial(_nearest_by_lp, maximum=norm == "linf")
    gaps = np.nan_to_num(points - nearest(points, matrix, bounds), nan=0.0)
    return np.asarray(np.linalg.norm(gaps, NORM_ORDERS[norm], axis=1))


def _nearest_by_lp(points: Array, matrix: sparse.csc_array, bounds: Bounds, maximum: bool) -> Array:
    """Minimise ``e't`` subject to ``y + T t >= x`` and ``y - T t <= x``; T is I or a column e."""
    (n_samples, n), v = points.shape, matrix.shape[1]
    T, select = np.ones((n, 1)) if maximum else np.eye(n), sparse.eye(n, v)
    blocks: Any = [[matrix, None], [select, T], [select, -T]]
    slack, open_end = np.zeros((n_samples, T.shape[1])), np.full((n_samples, n), np.inf)
    least, most = (np.where(np.isnan(points), end, points) for end in (-np.inf, np.inf))
    wider = Bounds(
        np.hstack([bounds.row_lower, least, -open_end]),
        np.hstack([bounds.row_upper, open_end, most]),
        np.hstack([bounds.lower, slack]),
        np.hstack([bounds.upper, slack + np.inf]),
    )
    costs = np.hstack([np.zeros((n_samples, v)), slack + 1.0])
    return WarmProgram(sparse.csc_array(sparse.bmat(blocks))).solve(costs, wider).points[:, :n]


def _nearest_l2(points: Array, matrix: sparse.csc_array, bounds: Bounds) -> Array:
    """Minimise ``t`` subject to ``||x - y|| <= t``."""
    # As a cone program, not as a least-squares program: a solver that is right to 1e-10 in the
    # squared distance is right to 1e-5 only in the distance itself. Equal bounds become equations,
    # because an interior-point method needs slack between inequalities.
    n_samples, n = points.shape
    v = matrix.shape[1]
    lower = np.hstack([bounds.row_lower, bounds.lower])
    upper = np.hstack([bounds.row_upper, bounds.upper])
    table = sparse.csr_array(sparse.vstack([matrix, sparse.identity(v)]))
    cost, limit, select = np.append(np.zeros(v), 1.0), np.ones((1, 1)), table[-v:][:n]
    nearest = np.full((n_samples, v), np.nan)
    statuses = np.full(n_samples, "Optimal", dtype=object)
    for i, (x, low, high) in enumerate(zip(points, lower, upper, strict=True)):
        equal, seen = low == high, np.flatnonzero(~np.isnan(x))
        above = np.flatnonzero(~equal & np.isfinite(high))
        below = np.flatnonzero(~equal & np.isfinite(low))
        equal = np.flatnonzero(equal)
        bounded = sparse.vstack([table[equal], -table[above], table[below]])
        blocks: Any = [[bounded, None], [None, limit], [select[seen], None]]
        rows: Any = sparse.csc_array(sparse.bmat(blocks))
        cones = (
            Cone("zero", len(equal)),
            Cone("nonnegative", len(above) + len(below)),
            # Where no entry counts, t >= 0 is all that is left; a second-order cone has two rows.
            Cone("second-order" if len(seen) else "nonnegative", 1 + len(seen)),
        )
        right = np.concatenate([high[equal], -high[above], low[below], [0.0], x[seen]])
        try:
            nearest[i] = solve_conic(cost, rows, right, cones).point[:-1]
        except InfeasibleProblemError:
            statuses[i] = "Infeasible"
    raise_failures(statuses)
    raise_violations(nearest @ table.T, lower, upper)
    return nearest[:, :n]
