"""Linear programs with hidden variables and right-hand sides affine in the signal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from feaslearn.arrays import Array
from feaslearn.datasets._arguments import check_same_length, check_table
from feaslearn.exceptions import DataError, Problems
from feaslearn.solvers.highs import Bounds, WarmProgram
from feaslearn.tolerances import EXACT_TOL


class LinearProgram:
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
    decisions are optimal, which of them ``solve`` returns is not specified.

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
    >>> problem.distance_to_feasible([[1.0, 0.0]], [[0.25]])
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

    def solve(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return one optimal decision for each sample.

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
        table, weights = self._tables("solve", signals, costs=costs)
        return self._minimizers(table, weights)

    def optimal_value(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return the least cost of each sample.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N,)
            The costs ``c'x`` of optimal decisions.
        """
        table, weights = self._tables("optimal_value", signals, costs=costs)
        values: Array = np.einsum("ij,ij->i", self._minimizers(table, weights), weights)
        return values

    def distance_to_feasible(self, decisions: ArrayLike, signals: ArrayLike) -> Array:
        """Return how far each decision is from the feasible region, for the best hidden variables.

        Parameters
        ----------
        decisions : array_like of shape (N, n)
            The decisions; NaN entries were not observed and do not count.
        signals : array_like of shape (N, K)
            The signals.

        Returns
        -------
        ndarray of shape (N,)
            The distances in the l1 norm.
        """
        table, points = self._tables("distance_to_feasible", signals, decisions=decisions)
        return _distances(points, self.matrix, self._bounds(table))

    def _tables(self, caller: str, signals: ArrayLike, **others: ArrayLike) -> list[Array]:
        """Check all arguments; return the table of the signals, then the others in their order."""
        problems = Problems()
        tables = {"signals": check_table(problems, "signals", signals, self.n_signals)}
        for name, other in others.items():
            nan = name == "decisions"
            tables[name] = check_table(problems, name, other, self.n_decisions, allow_nan=nan)
        check_same_length(problems, **tables)
        problems.raise_if_any(DataError, f"{type(self).__name__}.{caller}")
        return list(tables.values())

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
        # Costs of about one, so that tolerances mean the same in any unit.
        _, exponents = np.frexp(np.abs(costs).max(axis=1, keepdims=True))
        scaled = np.zeros((len(costs), self.matrix.shape[1]))
        scaled[:, : self.n_decisions] = np.ldexp(costs, -exponents)
        answers = WarmProgram(self.matrix).solve(scaled, self._bounds(table), infeasible=infeasible)
        return np.ascontiguousarray(answers.points[:, : self.n_decisions])

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
        if self.slope.ndim != 2 or self.constant.shape != (len(self.slope),):
            raise DataError(
                f"AffineRows: constant and slope have shapes {self.constant.shape} and "
                f"{self.slope.shape}, expected (rows,) and (rows, signals)"
            )
        wrong = np.isnan(self.constant) | ~np.isfinite(self.slope).all(axis=1)
        wrong |= np.isinf(self.constant) & self.slope.any(axis=1)
        if wrong.any():
            raise DataError(
                f"AffineRows: rows {np.flatnonzero(wrong).tolist()} are NaN, or infinite with a "
                "slope; where a row has no bound its slope is zero"
            )

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
        bounds: Array = self.constant + np.asarray(signals, dtype=np.float64) @ self.slope.T
        return bounds

    def __repr__(self) -> str:
        return f"AffineRows({self.n_rows} rows, {self.n_signals} signals)"


def _distances(points: Array, matrix: sparse.csc_array, bounds: Bounds) -> Array:
    """Measure how far each point is from the polyhedron of its sample, in the l1 norm.

    ``min { e't : y + t >= x, y - t <= x, row_lower <= M y <= row_upper, lower <= y <= upper }``
    """
    (n_samples, n), v = points.shape, matrix.shape[1]
    select = sparse.eye(n, v)
    blocks: Any = [[matrix, None], [select, np.eye(n)], [select, -np.eye(n)]]
    slack, open_end = np.zeros((n_samples, n)), np.full((n_samples, n), np.inf)
    least, most = (np.where(np.isnan(points), end, points) for end in (-np.inf, np.inf))
    wider = Bounds(
        np.hstack([bounds.row_lower, least, -open_end]),
        np.hstack([bounds.row_upper, open_end, most]),
        np.hstack([bounds.lower, slack]),
        np.hstack([bounds.upper, slack + np.inf]),
    )
    costs = np.hstack([np.zeros((n_samples, v)), slack + 1.0])
    program = WarmProgram(sparse.csc_array(sparse.bmat(blocks)))
    gaps = np.nan_to_num(points - program.solve(costs, wider).points[:, :n])
    return np.asarray(np.abs(gaps).sum(axis=1))
