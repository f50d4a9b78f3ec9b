"""A mixed-integer linear program for HiGHS, written row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.results import remark
from feaslearn.runs import Clock
from feaslearn.trainers.mip_run import run_mip

Array = NDArray[np.float64]
Columns = NDArray[np.intp]
Term = tuple[Any, Any]

#: Rows, bounds and whole numbers may be broken by this much, relative to the numbers in them.
BROKEN = 1e-6


class Answer(NamedTuple):
    """Values of the columns (None if there are none yet), a lower bound, and whether it is done.

    ``interrupted`` says that the user ended it.
    """

    values: Array | None
    bound: float
    finished: bool
    interrupted: bool = False


class LinearModel:
    """Columns with bounds and costs, and rows ``lower <= sum of coefficient * column <= upper``."""

    def __init__(self) -> None:
        self._lower: list[Array] = []
        self._upper: list[Array] = []
        self._integer: list[NDArray[np.bool_]] = []
        self._count = 0
        self._rows: list[tuple[Columns, Array]] = []
        self._limits: list[tuple[float, float]] = []
        self.costs: dict[int, float] = {}

    def columns(
        self,
        *shape: int,
        lower: float | Array = -np.inf,
        upper: float | Array = np.inf,
        integer: bool = False,
    ) -> Columns:
        """Add columns; return their positions in the shape asked for."""
        size = int(np.prod(shape))
        self._lower.append(np.broadcast_to(lower, shape).ravel().astype(float))
        self._upper.append(np.broadcast_to(upper, shape).ravel().astype(float))
        self._integer.append(np.full(size, integer))
        positions = np.arange(self._count, self._count + size).reshape(shape)
        self._count += size
        return positions

    @property
    def n_integers(self) -> int:
        """Number of columns that must be whole."""
        return int(sum(flags.sum() for flags in self._integer))

    def row(self, terms: Sequence[Term], lower: float = -np.inf, upper: float = np.inf) -> None:
        """Add a row; a term is columns and their coefficients, broadcast to each other."""
        parts = [np.broadcast_arrays(columns, factors) for columns, factors in terms]
        columns = np.concatenate([np.ravel(part[0]) for part in parts]).astype(np.intp)
        factors = np.concatenate([np.ravel(part[1]) for part in parts]).astype(float)
        self._rows.append((columns, factors))
        self._limits.append((lower, upper))

    def solve(self, start: dict[int, float], seconds: float, gap: float) -> Answer:
        """Minimise; ``start`` holds values of some columns of a feasible point.

        Raises
        ------
        InfeasibleProblemError, UnboundedProblemError, SolverError
            Where there is no answer and it is not for lack of time.
        """
        clock = Clock(seconds)
        try:
            answer = self._attempt(start, seconds, gap, presolve=True)
            why = self._broken(answer.values)
            if not why:
                return answer
        except SolverError as error:
            why = str(error)
        if clock.out():
            return Answer(None, -np.inf, finished=False)
        remark(f"the training program was solved once more, without presolve: {why}")
        answer = self._attempt(start, clock.left, gap, presolve=False)
        why = self._broken(answer.values)
        if why:
            raise SolverError(
                f"HiGHS: what it calls an answer to the training program is none: {why}"
            )
        return answer

    def _broken(self, values: Array | None) -> str:
        """Say which row, bound or whole number an answer breaks; nothing if it breaks none."""
        if values is None:
            return ""
        limits, matrix = np.array(self._limits), self._matrix()
        lower, upper = map(np.concatenate, (self._lower, self._upper))
        levels = matrix @ values
        sizes = 1.0 + abs(matrix) @ np.abs(values)
        rows = np.maximum(limits[:, 0] - levels, levels - limits[:, 1]) / sizes
        columns = np.maximum(lower - values, values - upper) / (1.0 + np.abs(values))
        whole = np.concatenate(self._integer)
        parts = np.abs(values - np.round(values))[whole]
        for what, excess in (("a row", rows), ("a bound", columns), ("a whole number", parts)):
            if excess.max(initial=0.0) > BROKEN:
                return f"{what} is broken by {excess.max():.1e}"
        return ""

    def _attempt(
        self, start: dict[int, float], seconds: float, gap: float, presolve: bool
    ) -> Answer:
        import highspy

        solver: Any = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("presolve", "choose" if presolve else "off")
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("mip_rel_gap", gap)
        solver.setOptionValue("mip_feasibility_tolerance", 1e-8)
        solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
        if np.isfinite(seconds):
            solver.setOptionValue("time_limit", float(seconds))
        solver.passModel(self._highs(highspy))
        if start:
            positions = np.array(list(start), dtype=np.int32)
            values = np.array(list(start.values()), dtype=float)
            solver.setSolution(len(positions), positions, values)
        interrupted = run_mip(solver, "integer program")
        return self._answer(highspy, solver)._replace(interrupted=interrupted)

    def _answer(self, highspy: Any, solver: Any) -> Answer:
        kinds, status = highspy.HighsModelStatus, solver.getModelStatus()
        info = solver.getInfo()
        if status == kinds.kInfeasible:
            raise InfeasibleProblemError("HiGHS: the training program has no feasible point")
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            raise UnboundedProblemError("HiGHS: the training program has no finite optimum")
        if status not in (kinds.kOptimal, kinds.kTimeLimit, kinds.kInterrupt):
            said = solver.modelStatusToString(status)
            raise SolverError(f"HiGHS stopped with status {said!r} on the training program")
        found = np.isfinite(info.objective_function_value) and info.primal_solution_status == 2
        values = np.array(solver.getSolution().col_value) if found else None
        return Answer(values, float(info.mip_dual_bound), status == kinds.kOptimal)

    def _matrix(self) -> sp.csc_array:
        lengths = [len(columns) for columns, _ in self._rows]
        where = np.repeat(np.arange(len(lengths)), lengths)
        columns = np.concatenate([columns for columns, _ in self._rows])
        factors = np.concatenate([factors for _, factors in self._rows])
        shape = (len(lengths), self._count)
        return sp.csc_array(sp.coo_array((factors, (where, columns)), shape=shape))

    def _highs(self, highspy: Any) -> Any:
        matrix = self._matrix()
        model: Any = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        costs = np.zeros(self._count)
        costs[list(self.costs)] = list(self.costs.values())
        model.col_cost_ = costs
        model.col_lower_, model.col_upper_ = map(np.concatenate, (self._lower, self._upper))
        limits = np.array(self._limits)
        model.row_lower_, model.row_upper_ = limits[:, 0].copy(), limits[:, 1].copy()
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[int(flag)] for flag in np.concatenate(self._integer)]
        return model
