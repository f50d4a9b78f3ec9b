"""HiGHS for linear programs: warm starts, verified optima and duals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.results import remark
from feaslearn.tolerances import FEASIBILITY_TOL, HIGHS_TOL

#: How many offending rows an error message names before it only counts them.
SHOWN = 5

#: The two simplex methods, as HiGHS numbers them.
DUAL, PRIMAL = 1, 4

Options = dict[str, bool | int | float | str]
SILENT: Options = {"output_flag": False, "threads": 1}
EXACT: Options = {**SILENT, "primal_feasibility_tolerance": HIGHS_TOL}
#: Presolve would discard the basis that makes the next solve cheap.
WARM: Options = {
    **EXACT,
    "dual_feasibility_tolerance": HIGHS_TOL,
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": DUAL,
}


class Bounds(NamedTuple):
    """``row_lower <= M y <= row_upper`` and ``lower <= y <= upper``, one row for each sample."""

    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array


def open_program(
    matrix: sp.csc_array,
    cost: Array,
    bounds: Bounds,
    options: Options,
    integer: Mask | None = None,
) -> Any:
    """Return a HiGHS instance that holds a program."""
    import highspy

    model: Any = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = cost
    model.row_lower_, model.row_upper_, model.col_lower_, model.col_upper_ = bounds
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    if integer is not None:
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[int(flag)] for flag in integer]
    solver: Any = highspy.Highs()
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver


def status_of(solver: Any) -> str:
    """Return the status of the model in words."""
    return str(solver.modelStatusToString(solver.getModelStatus()))


# Many linear programs with one matrix.


class Answers(NamedTuple):
    """Optimal points with the duals of rows and columns, one row for each sample."""

    points: Array
    row_duals: Array
    column_duals: Array


class WarmProgram:
    """``min { c'y : row_lower <= M y <= row_upper, lower <= y <= upper }`` with warm starts."""

    def __init__(self, matrix: Array | sp.csc_array) -> None:
        self._matrix = matrix = sp.csc_array(matrix)
        m, v = matrix.shape
        # The first sample brings all of these numbers.
        empty = Bounds(np.zeros(m), np.zeros(m), np.zeros(v), np.zeros(v))
        self._solver = open_program(matrix, np.zeros(v), empty, WARM)
        self._rows = np.arange(m, dtype=np.int32)
        self._columns = np.arange(v, dtype=np.int32)

    def solve(self, costs: Array, bounds: Bounds, *, infeasible: bool = False) -> Answers:
        """Solve every sample; raise one error that names those without an optimum.

        With ``infeasible``, samples without a point are NaN instead.
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
        raise_failures(np.where(infeasible & (statuses == "Infeasible"), "Optimal", statuses))
        return answers

    def _bounded(self, points: Array, bounds: Bounds) -> tuple[Array, Array, Array]:
        """Return the rows and entries of points, with their lower and upper bounds."""
        return (
            np.hstack([points @ self._matrix.T, points]),
            np.hstack([bounds.row_lower, bounds.lower]),
            np.hstack([bounds.row_upper, bounds.upper]),
        )

    def _change(self, i: int, costs: Array, bounds: Bounds, *, everything: bool) -> None:
        """Pass what differs from the sample before: a change of nothing still costs HiGHS work."""
        solver, rows, columns = self._solver, self._rows, self._columns
        if everything or not np.array_equal(costs[i], costs[i - 1]):
            solver.changeColsCost(len(columns), columns, costs[i])
        if everything or not _same(i, bounds.lower, bounds.upper):
            solver.changeColsBounds(len(columns), columns, bounds.lower[i], bounds.upper[i])
        if len(rows) and (everything or not _same(i, bounds.row_lower, bounds.row_upper)):
            solver.changeRowsBounds(len(rows), rows, bounds.row_lower[i], bounds.row_upper[i])

    def _answer(self, i: int, answers: Answers) -> str:
        """Solve, store the optimum of sample i if there is one, and return the status."""
        solver = self._solver
        solver.run()
        status = status_of(solver)
        if status != "Optimal":
            # A warm basis can mislead: nothing but a cold start may say that there is no optimum.
            solver.clearSolver()
            solver.run()
            status = status_of(solver)
        if status not in ("Optimal", "Infeasible", "Unbounded"):
            # The dual simplex method can stall where the primal one does not.
            solver.setOptionValue("simplex_strategy", PRIMAL)
            solver.clearSolver()
            solver.run()
            solver.setOptionValue("simplex_strategy", DUAL)
            status = status_of(solver)
        if status == "Optimal":
            found = solver.getSolution()
            parts = (found.col_value, found.row_dual, found.col_dual)
            for stored, values in zip(answers, parts, strict=True):
                stored[i] = values
        return status


def _same(i: int, first: Array, second: Array) -> bool:
    return np.array_equal(first[i], first[i - 1]) and np.array_equal(second[i], second[i - 1])


def name_rows(rows: Indices) -> str:
    """Name the first few rows and count the others: ``"samples 0, 1, 2, 3, 4 and 7 more"``."""
    shown = ", ".join(str(row) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"sample{'s' if len(rows) > 1 else ''} {shown}{more}"


def raise_failures(statuses: NDArray[np.object_]) -> None:
    """Raise one error that names the samples whose status is not "Optimal"."""
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
    named = ", ".join(sorted({str(statuses[row]) for row in bad}))
    raise SolverError(
        f"the solver gave no answer at {name_rows(bad)} (status {named}): check the scale of the "
        "data; numbers that differ by more than about 1e8 are hard to solve with"
    )


def raise_violations(values: Array, lower: Array, upper: Array) -> None:
    """Raise if values of shape (N, m) violate their bounds by more than rounding."""
    excess = excess_of(values, lower, upper)
    bad = np.flatnonzero(excess)
    if len(bad):
        raise SolverError(
            f"the solver's answer breaks a bound by {excess[bad].max():.2g} at {name_rows(bad)}: "
            "check the scale of the data"
        )


def excess_of(values: Array, lower: Array, upper: Array) -> Array:
    """Return the largest violation of each sample; zero where that can be rounding, or for NaN."""
    excess = np.fmax(lower - values, values - upper)
    accepted = ~(excess > FEASIBILITY_TOL * (1.0 + np.abs(values)))
    largest: Array = np.where(accepted, 0.0, excess).max(axis=1, initial=0.0)
    return largest


# One linear program, with a proof.


class Optimum(NamedTuple):
    """A point, its cost and the duals of the rows ``A x <= b``, then of ``E x = e``."""

    point: Array
    value: float
    duals: Array


class CheckedProgram(NamedTuple):
    r"""A linear program whose optimum is accepted only with a proof.

    .. math:: \min \{ c'x : A x \le b,\; E x = e,\; l \le x \le u \}

    With duals y of the rows and :math:`d = c - A'y_A - E'y_E`, no point costs less than
    :math:`b'y_A + e'y_E + \sum_j \min(d_j l_j, d_j u_j)`. A feasible point that costs no more than
    that is an optimum.
    """

    cost: Array
    lower: Array
    upper: Array
    A: Any = None
    b: Any = None
    E: Any = None
    e: Any = None

    def solve(self, name: str) -> Optimum:
        """Return an optimum, or raise where neither attempt has one; messages use the name."""
        flaws: list[str] = []
        for options in ({**EXACT, "dual_feasibility_tolerance": HIGHS_TOL}, WARM):
            status, found = self._attempt(options)
            flaw = status if found is None else self.flaw(found)
            if found is not None and not flaw:
                if flaws:
                    remark(f"the {name} program was solved without presolve, after {flaws[0]}")
                return found
            flaws.append(flaw)
        kinds = {"Infeasible": InfeasibleProblemError, "Unbounded": UnboundedProblemError}
        raise kinds.get(flaws[1], SolverError)(
            f"the {name} program was not solved ({flaws[0]}; then, without presolve, {flaws[1]})"
        )

    def _attempt(self, options: Options) -> tuple[str, Optimum | None]:
        """Return the status of HiGHS and, where it is optimal, the optimum."""
        matrix, low, high = self.rows()
        bounds = Bounds(low, high, self.lower, self.upper)
        solver = open_program(sp.csc_array(matrix), self.cost, bounds, options)
        solver.run()
        if status_of(solver) != "Optimal":
            return status_of(solver), None
        solution = solver.getSolution()
        point = np.array(solution.col_value)
        optimum = Optimum(point, float(self.cost @ point), np.array(solution.row_dual))
        return "Optimal", optimum

    def flaw(self, found: Optimum) -> str:
        """Return what is wrong with an optimum, empty if it is proved."""
        x, y = found.point, found.duals
        matrix, low, high = self.rows()
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return "numbers that are not finite"
        lower, upper = np.concatenate([low, self.lower]), np.concatenate([high, self.upper])
        violation = excess_of(*(each[None] for each in (np.append(matrix @ x, x), lower, upper)))[0]
        if violation > 0.0:
            return f"rows violated by {violation:.1e}"
        d = self.cost - matrix.T @ y
        largest = float((np.abs(self.cost) + abs(matrix).T @ np.abs(y)).max())
        shares = np.append(y, d)
        ends = np.where(np.signbit(shares), upper, lower)
        # A dual that is rounding beside the others costs nothing, even where a bound is infinite.
        finite, zero = np.isfinite(ends), np.abs(shares) <= FEASIBILITY_TOL * largest
        if not (finite | zero).all():
            return "duals that prove nothing"
        least = float(shares[finite] @ ends[finite])
        value = float(self.cost @ x)
        size = largest + float(np.abs(self.cost) @ np.abs(x))
        return "" if value - least <= FEASIBILITY_TOL * size else f"a gap of {value - least:.1e}"

    def rows(self) -> tuple[Any, Array, Array]:
        """Return all rows as ``low <= M x <= high``."""
        (A, b), (E, e) = self._given(self.A, self.b), self._given(self.E, self.e)
        low = np.concatenate([np.full_like(b, -np.inf), e])
        return sp.vstack([A, E], format="csr"), low, np.concatenate([b, e])

    def _given(self, matrix: Any, right: Any) -> tuple[Any, Array]:
        if matrix is None:
            return sp.csr_array((0, len(self.cost))), np.empty(0)
        return sp.csr_array(matrix), np.asarray(right, dtype=float)
