"""Mixed-integer programs for HiGHS: incumbents, bounds, deadlines and Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.results import remark
from feaslearn.runs import Run
from feaslearn.runs.deadline import stopped_by_user
from feaslearn.solvers.highs import (
    EXACT,
    Bounds,
    Options,
    open_program,
    status_of,
)
from feaslearn.tolerances import ACCEPT_TOL, LOOSE_TOL

Columns = Indices
Term = tuple[Any, Any]
Outcome = Literal["optimal", "infeasible", "time limit", "interrupted"]

OPTIONS: Options = {**EXACT, "mip_feasibility_tolerance": LOOSE_TOL}


class Rows:
    """Rows ``lower <= sum of factor * column <= upper``, collected part by part."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._limits: list[tuple[Array, Array]] = []
        self._entries: list[tuple[Columns, Columns, Array]] = []

    def row(self, terms: Sequence[Term], lower: float = -np.inf, upper: float = np.inf) -> None:
        """Add one row; a term is columns and their factors, broadcast to each other."""
        self.rows(1, terms, lower, upper)

    def rows(
        self,
        count: int,
        terms: Sequence[Term],
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add ``count`` rows; a term is one column for each row, or for all, and its factor."""
        where = np.arange(self.n_rows, self.n_rows + count)
        for columns, factors in terms:
            spread = np.broadcast_arrays(where, columns, factors)
            self._entries.append((spread[0].ravel(), spread[1].ravel(), spread[2].ravel()))
        self._limit(lower, upper, count)

    def matrix_rows(self, matrix: Array, lower: ArrayLike, upper: ArrayLike) -> None:
        """Add the rows of a dense matrix over the first columns."""
        row, column = np.nonzero(matrix)
        self._entries.append((self.n_rows + row, column, matrix[row, column]))
        self._limit(lower, upper, len(matrix))

    def _limit(self, lower: ArrayLike, upper: ArrayLike, count: int) -> None:
        both = (np.broadcast_to(np.asarray(end, dtype=float), (count,)) for end in (lower, upper))
        self._limits.append((next(both), next(both)))
        self.n_rows += count

    def extend(self, others: Rows) -> None:
        """Add the rows of others."""
        first = self.n_rows
        self._entries += [(rows + first, cols, values) for rows, cols, values in others._entries]
        self._limits += others._limits
        self.n_rows += others.n_rows

    def table(self, n_columns: int) -> tuple[sp.csc_array, Array, Array]:
        """Return the matrix, and the lower and upper limits."""
        parts = zip((np.empty(0, int), np.empty(0, int), np.empty(0)), *self._entries, strict=True)
        where, columns, factors = map(np.concatenate, parts)
        matrix = sp.coo_array((factors.astype(float), (where, columns)), (self.n_rows, n_columns))
        limits = zip((np.empty(0), np.empty(0)), *self._limits, strict=True)
        lower, upper = map(np.concatenate, limits)
        return sp.csc_array(matrix), lower, upper


class Incumbent(NamedTuple):
    """The best values found (None without any), a bound on the optimal cost, and how it ended."""

    outcome: Outcome
    values: Array | None
    bound: float


class _Program(NamedTuple):
    """A program as HiGHS reads it."""

    matrix: sp.csc_array
    cost: Array
    bounds: Bounds
    integer: Mask

    def violation(self, values: Array) -> str:
        """Say which row, bound or integer is violated, empty if none is."""
        row_lower, row_upper, lower, upper = self.bounds
        levels, sizes = self.matrix @ values, abs(self.matrix) @ np.abs(values)
        rows = np.maximum(row_lower - levels, levels - row_upper) / (1.0 + sizes)
        columns = np.maximum(lower - values, values - upper) / (1.0 + np.abs(values))
        fractions = np.abs(values - np.round(values))[self.integer]
        for what, excess in (("a row", rows), ("a bound", columns), ("an integer", fractions)):
            if excess.max(initial=0.0) > ACCEPT_TOL:
                return f"{what} is violated by {excess.max():.1e}"
        return ""


class MixedIntegerProgram(Rows):
    """``min { c'v : rows, lower <= v <= upper, some v integer }``; rows and columns are added."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.n_columns = name, 0
        self._columns: list[tuple[Array, Array, Array, Mask]] = []

    def columns(
        self,
        *shape: int,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        cost: float = 0.0,
        integer: ArrayLike = False,
    ) -> Columns:
        """Add columns; return their indices in the shape asked for."""
        size = int(np.prod(shape))
        low, high = (np.broadcast_to(end, shape).ravel().astype(float) for end in (lower, upper))
        flags = np.broadcast_to(np.asarray(integer, dtype=bool), shape).ravel()
        self._columns.append((low, high, np.full(size, cost), flags))
        self.n_columns += size
        return np.arange(self.n_columns - size, self.n_columns).reshape(shape)

    def solve(
        self,
        cost: Array | None = None,
        *,
        seconds: float = np.inf,
        start: Mapping[int, float] | None = None,
        fixed: Mapping[int, float] | None = None,
        extra: Sequence[Rows] = (),
        feasible: bool = True,
        **options: float,
    ) -> Incumbent:
        """Minimise; an answer that is not feasible is asked for again without presolve."""
        if seconds <= 0.0:
            return Incumbent("time limit", None, -np.inf)
        run, program = Run(seconds), self._program(cost, fixed or {}, extra)
        chosen = {**OPTIONS, **options, "time_limit": float(seconds)}
        try:
            return self._attempt(program, start or {}, chosen)
        except SolverError as error:
            if isinstance(error, InfeasibleProblemError) and not feasible:
                return Incumbent("infeasible", None, np.inf)
            why = str(error)
        if run.late():
            return Incumbent("time limit", None, -np.inf)
        remark(f"the {self.name} program was solved once more, without presolve: {why}")
        chosen |= {"presolve": "off", "time_limit": run.left}
        return self._attempt(program, start or {}, chosen)

    def _program(
        self, cost: Array | None, fixed: Mapping[int, float], extra: Sequence[Rows]
    ) -> _Program:
        lower, upper, own, integer = map(np.concatenate, zip(*self._columns, strict=True))
        for column, value in fixed.items():
            lower[column] = upper[column] = value
        rows = Rows()
        for part in (self, *extra):
            rows.extend(part)
        matrix, row_lower, row_upper = rows.table(self.n_columns)
        chosen = own if cost is None else cost
        return _Program(matrix, chosen, Bounds(row_lower, row_upper, lower, upper), integer)

    def _attempt(
        self, program: _Program, start: Mapping[int, float], options: Options
    ) -> Incumbent:
        import highspy

        matrix, cost, bounds, integer = program
        solver = open_program(matrix, cost, bounds, options, integer)
        if start:
            columns = np.array(list(start), dtype=np.int32)
            solver.setSolution(len(start), columns, np.array(list(start.values()), dtype=float))
        interrupted = _run_interruptible(solver)
        status, kinds = solver.getModelStatus(), highspy.HighsModelStatus
        # Without presolve, HiGHS tells infeasible from unbounded.
        if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
            raise InfeasibleProblemError(f"HiGHS: the {self.name} program has no feasible point")
        if status == kinds.kUnbounded:
            raise UnboundedProblemError(f"HiGHS: the {self.name} program has no finite optimum")
        if status not in (kinds.kOptimal, kinds.kTimeLimit, kinds.kInterrupt):
            raise SolverError(
                f"HiGHS stopped with status {status_of(solver)!r} on the {self.name} program: "
                "check the scale of the data; numbers that differ by more than about 1e8 are hard "
                "to solve with"
            )
        info, optimal = solver.getInfo(), status == kinds.kOptimal
        value, bound = float(info.objective_function_value), float(info.mip_dual_bound)
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = np.array(solver.getSolution().col_value) if found and np.isfinite(value) else None
        why = "" if values is None else program.violation(values)
        if why:
            raise SolverError(f"HiGHS: the answer to the {self.name} program is infeasible: {why}")
        if optimal and not np.isfinite(bound):
            # A program whose integers are all fixed is solved as a linear one and has no bound.
            bound = value
        outcome: Outcome = "optimal" if optimal else "time limit"
        return Incumbent("interrupted" if interrupted else outcome, values, bound)


def _run_interruptible(solver: Any) -> bool:
    """Run HiGHS; return whether Ctrl-C ended it, which keeps the incumbent."""
    with stopped_by_user() as stop:
        before = stop.wanted

        def look(event: Any) -> None:
            if stop.wanted and not before:
                event.interrupt()

        solver.cbMipInterrupt += look
        solver.run()
        return stop.wanted and not before
