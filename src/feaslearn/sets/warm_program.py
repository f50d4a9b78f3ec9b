"""HiGHS behind one small class: the model is passed once, then changed and solved again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError

FloatArray = NDArray[np.float64]

SHOWN = 5
"""How many offending rows an error message names before it only counts them."""

TOLERANCE = 1e-9
"""Primal and dual feasibility tolerance asked of HiGHS; its default of 1e-7 blurs ties."""

BELIEVED = 1e-7
"""Largest violated bound, relative to the size of the bound, that an answer may have."""

DUAL, PRIMAL = 1, 4
"""What HiGHS calls the two simplex methods."""

OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    # Presolve would throw away the basis that makes the next solve cheap.
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": DUAL,
    "threads": 1,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}


class Bounds(NamedTuple):
    """``row_lower <= M y <= row_upper`` and ``lower <= y <= upper``, one row for each sample."""

    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray


class Answers(NamedTuple):
    """Optimal points with the multipliers of rows and columns, one row for each sample."""

    points: FloatArray
    row_duals: FloatArray
    column_duals: FloatArray


class WarmProgram:
    """A linear program solved again and again, each time from the last basis.

    ``min { c'y : row_lower <= M y <= row_upper, lower <= y <= upper }``

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (m, v)
        The matrix M, which never changes.
    """

    def __init__(self, matrix: FloatArray | sparse.csc_array) -> None:
        import highspy

        self._matrix = matrix = sparse.csc_array(matrix)
        status = highspy.HighsModelStatus
        self._optimal = status.kOptimal
        self._verdicts = (status.kOptimal, status.kInfeasible, status.kUnbounded)
        m, v = matrix.shape
        model: Any = highspy.HighsLp()
        model.num_row_, model.num_col_ = m, v
        # The first sample brings all of these numbers.
        model.col_cost_ = model.col_lower_ = model.col_upper_ = np.zeros(v)
        model.row_lower_ = model.row_upper_ = np.zeros(m)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self._solver: Any = highspy.Highs()
        for name, value in OPTIONS.items():
            self._solver.setOptionValue(name, value)
        self._solver.passModel(model)
        self._rows = np.arange(m, dtype=np.int32)
        self._columns = np.arange(v, dtype=np.int32)

    def solve(self, costs: FloatArray, bounds: Bounds) -> Answers:
        """Solve every sample; raise one error that names those without an answer.

        Parameters
        ----------
        costs : ndarray of shape (N, v)
            The cost of each sample.
        bounds : Bounds
            The bounds of each sample.

        Returns
        -------
        Answers
            Optimal points, checked against the bounds, and their multipliers.
        """
        answers, statuses = self.attempt(costs, bounds)
        raise_failures(statuses)
        return answers

    def attempt(self, costs: FloatArray, bounds: Bounds) -> tuple[Answers, NDArray[np.object_]]:
        """Solve every sample and say what came of each.

        Parameters
        ----------
        costs : ndarray of shape (N, v)
            The cost of each sample.
        bounds : Bounds
            The bounds of each sample.

        Returns
        -------
        answers : Answers
            Optimal points, checked against the bounds, and their multipliers; NaN for samples
            without an answer.
        statuses : ndarray of str
            What the solver said of each sample; "Optimal" is success.
        """
        n_samples, (m, v) = len(costs), self._matrix.shape
        answers = Answers(*(np.full((n_samples, width), np.nan) for width in (v, m, v)))
        statuses = np.full(n_samples, "Optimal", dtype=object)
        for i in range(n_samples):
            self._change(i, costs, bounds, everything=i == 0)
            statuses[i] = self._answer(i, answers)
        for i in np.flatnonzero(excess_of(*self._bounded(answers.points, bounds))).tolist():
            # Rounding adds up from basis to basis: a cold start begins without any.
            self._solver.clearSolver()
            self._change(i, costs, bounds, everything=True)
            statuses[i] = self._answer(i, answers)
        raise_violations(*self._bounded(answers.points, bounds))
        return answers, statuses

    def _bounded(
        self, points: FloatArray, bounds: Bounds
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the rows and entries of points, with their lower and upper bounds."""
        return (
            np.hstack([points @ self._matrix.T, points]),
            np.hstack([bounds.row_lower, bounds.lower]),
            np.hstack([bounds.row_upper, bounds.upper]),
        )

    def _answer(self, i: int, answers: Answers) -> str:
        """Solve, write down the answer to sample i if there is one, and say what came of it."""
        status = self._run()
        if status != self._optimal:
            return str(self._solver.modelStatusToString(status))
        solution = self._solver.getSolution()
        answers.points[i] = solution.col_value
        answers.row_duals[i] = solution.row_dual
        answers.column_duals[i] = solution.col_dual
        return "Optimal"

    def _change(self, i: int, costs: FloatArray, bounds: Bounds, *, everything: bool) -> None:
        solver, rows, columns = self._solver, self._rows, self._columns
        # A change that changes nothing still costs HiGHS work, and many are of that kind.
        if everything or not np.array_equal(costs[i], costs[i - 1]):
            solver.changeColsCost(len(columns), columns, costs[i])
        if everything or not _same(i, bounds.lower, bounds.upper):
            solver.changeColsBounds(len(columns), columns, bounds.lower[i], bounds.upper[i])
        if len(rows) and (everything or not _same(i, bounds.row_lower, bounds.row_upper)):
            solver.changeRowsBounds(len(rows), rows, bounds.row_lower[i], bounds.row_upper[i])

    def _run(self) -> Any:
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            # A warm basis can mislead: nothing but a cold start may say that there is no answer.
            self._solver.clearSolver()
            self._solver.run()
        if self._solver.getModelStatus() not in self._verdicts:
            # The dual method can lose its way where the primal one does not.
            self._solver.setOptionValue("simplex_strategy", PRIMAL)
            self._solver.clearSolver()
            self._solver.run()
            self._solver.setOptionValue("simplex_strategy", DUAL)
        return self._solver.getModelStatus()


def _same(i: int, first: FloatArray, second: FloatArray) -> bool:
    return np.array_equal(first[i], first[i - 1]) and np.array_equal(second[i], second[i - 1])


def name_rows(rows: NDArray[np.intp]) -> str:
    """Name the first few rows and count the others.

    Parameters
    ----------
    rows : ndarray of int
        The row numbers, at least one.

    Returns
    -------
    str
        For example ``"sample 3"`` or ``"samples 0, 1, 2, 3, 4 and 7 more"``.
    """
    shown = ", ".join(str(row) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"sample{'s' if len(rows) > 1 else ''} {shown}{more}"


def raise_failures(statuses: NDArray[np.object_]) -> None:
    """Raise one error that names the samples without an optimal answer.

    Parameters
    ----------
    statuses : ndarray of str
        What the solver said of each sample; "Optimal" is success.
    """
    bad = np.flatnonzero(statuses != "Optimal")
    if not len(bad):
        return
    infeasible = np.flatnonzero(statuses == "Infeasible")
    unbounded = np.flatnonzero(statuses == "Unbounded")
    if len(infeasible):
        raise InfeasibleProblemError(
            f"no feasible point at {name_rows(infeasible)}: check the row bounds at these signals "
            "(for a network: can the demand be served within the capacities?)"
        )
    if len(unbounded):
        raise UnboundedProblemError(
            f"the cost has no minimum at {name_rows(unbounded)}: check the sign of the costs, "
            "and that every variable with a cost is bounded on the side it improves"
        )
    told = ", ".join(sorted({str(statuses[row]) for row in bad}))
    raise SolverError(
        f"the solver gave no answer at {name_rows(bad)} (it said: {told}): check the scale of the "
        "data; numbers that differ by more than about 1e8 are hard to solve with"
    )


def raise_violations(values: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Raise if an answer breaks the bounds it was asked to keep.

    Parameters
    ----------
    values, lower, upper : ndarray of shape (N, m)
        What must satisfy ``lower <= values <= upper``.
    """
    excess = excess_of(values, lower, upper)
    bad = np.flatnonzero(excess)
    if len(bad):
        raise SolverError(
            f"the solver's answer breaks a bound by {excess[bad].max():.2g} at {name_rows(bad)}: "
            "check the scale of the data"
        )


def excess_of(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return by how much each sample breaks a bound; zero where that can be rounding.

    Parameters
    ----------
    values, lower, upper : ndarray of shape (N, m)
        What must satisfy ``lower <= values <= upper``; NaN is no answer and breaks nothing.

    Returns
    -------
    ndarray of shape (N,)
        The largest excess of each sample.
    """
    excess = np.fmax(lower - values, values - upper)
    believed = ~(excess > BELIEVED * (1.0 + np.abs(values)))
    largest: FloatArray = np.where(believed, 0.0, excess).max(axis=1, initial=0.0)
    return largest
