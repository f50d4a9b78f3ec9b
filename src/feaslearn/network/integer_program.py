"""HiGHS for linear programs with binary variables that grow between solves."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from feaslearn.exceptions import SolverError
from feaslearn.trainers.bilinear_solvers import run_mip

FloatArray = NDArray[np.float64]
Outcome = Literal["optimal", "infeasible", "time limit", "interrupted"]

OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-9,
    "mip_feasibility_tolerance": 1e-8,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


class Rows(NamedTuple):
    """``lower <= A v <= upper`` with the entries of A listed one by one."""

    lower: FloatArray
    upper: FloatArray
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: FloatArray


class IntegerAnswer(NamedTuple):
    """What the solver found; ``bound`` is one on the optimal value."""

    outcome: Outcome
    values: FloatArray | None
    bound: float


class IntegerProgram:
    """``min { c'v : rows, lower <= v <= upper }`` whose first variables are binary.

    Columns and rows are only ever added. What changes from question to question (the cost, which
    binaries are fixed, some rows) is given to `solve`.

    Parameters
    ----------
    n_binary : int
        How many binary variables there are.
    """

    def __init__(self, n_binary: int) -> None:
        self.n_binary = n_binary
        self._lower = [np.zeros(n_binary)]
        self._upper = [np.ones(n_binary)]
        self.n_columns = n_binary
        self._rows: list[Rows] = []

    def add_columns(self, lower: ArrayLike, upper: ArrayLike, count: int) -> NDArray[np.int64]:
        """Add continuous variables and return their numbers."""
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), (count,)))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), (count,)))
        self.n_columns += count
        return np.arange(self.n_columns - count, self.n_columns)

    def add_rows(self, rows: Rows) -> None:
        """Add rows for good."""
        self._rows.append(rows)

    def solve(
        self,
        cost: FloatArray,
        fixed: NDArray[np.int8],
        extra: list[Rows],
        max_seconds: float,
        start: NDArray[np.bool_] | None = None,
    ) -> IntegerAnswer:
        """Solve with some binaries fixed (-1 is free) and rows that hold this time only."""
        if max_seconds <= 0.0:
            return IntegerAnswer("time limit", None, -np.inf)
        import highspy

        solver: Any = highspy.Highs()
        for name, value in OPTIONS.items():
            solver.setOptionValue(name, value)
        if np.isfinite(max_seconds):
            solver.setOptionValue("time_limit", float(max_seconds))
        solver.passModel(self._model(highspy, cost, fixed, [*self._rows, *extra]))
        if start is not None:
            binaries = np.arange(self.n_binary, dtype=np.int32)
            solver.setSolution(self.n_binary, binaries, start.astype(np.float64))
        interrupted = run_mip(solver, "Network")
        answer = _answer(highspy, solver)
        if interrupted and answer.outcome == "time limit":
            return answer._replace(outcome="interrupted")
        return answer

    def _model(
        self, highspy: Any, cost: FloatArray, fixed: NDArray[np.int8], blocks: list[Rows]
    ) -> Any:
        lower, upper = np.concatenate(self._lower), np.concatenate(self._upper)
        n = self.n_binary
        lower[:n] = np.where(fixed == 1, 1.0, 0.0)
        upper[:n] = np.where(fixed == 0, 0.0, 1.0)
        matrix = _stack(blocks, self.n_columns)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_, model.col_lower_, model.col_upper_ = cost, lower, upper
        model.row_lower_ = np.concatenate([np.empty(0), *(block.lower for block in blocks)])
        model.row_upper_ = np.concatenate([np.empty(0), *(block.upper for block in blocks)])
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        kinds = [highspy.HighsVarType.kInteger] * n
        kinds += [highspy.HighsVarType.kContinuous] * (self.n_columns - n)
        model.integrality_ = kinds
        return model


def _stack(blocks: list[Rows], n_columns: int) -> sparse.csc_array:
    starts = np.cumsum([0, *(len(block.lower) for block in blocks)])
    rows = [block.row + start for block, start in zip(blocks, starts[:-1], strict=True)]
    nothing = np.empty(0, dtype=np.int64)
    entries = np.concatenate([np.empty(0), *(block.value for block in blocks)])
    places = (
        np.concatenate([nothing, *rows]),
        np.concatenate([nothing, *(block.column for block in blocks)]),
    )
    return sparse.csc_array((entries, places), shape=(int(starts[-1]), n_columns))


def _answer(highspy: Any, solver: Any) -> IntegerAnswer:
    status = solver.getModelStatus()
    kinds = highspy.HighsModelStatus
    if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
        return IntegerAnswer("infeasible", None, np.inf)
    information = solver.getInfo()
    if status == kinds.kOptimal:
        # A program whose binaries are all fixed is solved as a linear one and has no bound.
        found = np.asarray(solver.getSolution().col_value)
        value = information.objective_function_value
        bound = information.mip_dual_bound
        return IntegerAnswer("optimal", found, bound if np.isfinite(bound) else value)
    if status in (kinds.kTimeLimit, kinds.kInterrupt):
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if information.primal_solution_status != feasible:
            return IntegerAnswer("time limit", None, information.mip_dual_bound)
        values = np.asarray(solver.getSolution().col_value)
        return IntegerAnswer("time limit", values, information.mip_dual_bound)
    told = solver.modelStatusToString(status)
    raise SolverError(
        f"the solver gave no answer (it said: {told}): check the scale of the data; numbers that "
        "differ by more than about 1e8 are hard to solve with"
    )


def dense_rows(lower: ArrayLike, upper: ArrayLike, matrix: FloatArray) -> Rows:
    """Return rows whose matrix acts on the first variables."""
    row, column = np.nonzero(matrix)
    count = (len(matrix),)
    return Rows(
        np.broadcast_to(np.asarray(lower, dtype=np.float64), count),
        np.broadcast_to(np.asarray(upper, dtype=np.float64), count),
        row,
        column,
        matrix[row, column],
    )


def all_but(chosen: NDArray[np.bool_]) -> Rows:
    """Return a row that every choice of the first binaries keeps but this one."""
    signs = np.where(chosen, -1.0, 1.0)
    return dense_rows(1.0 - float(chosen.sum()), np.inf, signs[None])
