"""The training problem of a ternary map, as a mixed-integer linear program."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.losses import Loss, Suboptimality
from feaslearn.results import remark
from feaslearn.runs import Clock, Run
from feaslearn.runs.memory import check_memory
from feaslearn.sets import Box, Hypersimplex, L1Ball, PrimitiveSet, Simplex
from feaslearn.trainers.bilinear_solvers import run_mip

#: Bytes that a row of a program takes, as it is written and in the solver.
ROW_BYTES = 600.0

Array = NDArray[np.float64]

#: Tangents of a square that the program begins with, in units of the decisions' spread.
TANGENTS = (0.0, 0.25, 1.0)

Columns = NDArray[np.intp]
Term = tuple[Any, Any]

#: Rows, bounds and whole numbers may be broken by this much, relative to the numbers in them.
BROKEN = 1e-6


def check_program(count: int, rows: int) -> None:
    """Refuse a program over all samples that would not fit into memory."""
    check_memory(
        float(count) * rows * ROW_BYTES,
        f"the rows of an integer program over {count} samples, {rows} for each,",
        "train on fewer samples, or use Affine, whose trainers grow with the data only linearly",
        size=1,
    )


class TernaryProgram:
    r"""Every sample's optimality conditions, with one map for all of them.

    .. math::
        \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
        & x_i + \gamma_i = (P_i^+ - P_i^-) e + b(s_i), \quad z_i \in Z, \\
        & P_{i,lj}^\pm = A_{lj}^\pm z_{ij}, \quad A^+ + A^- \le 1, \quad A^\pm \in \{0, 1\}, \\
        & (A^+ - A^-)'c_i = H'\lambda_i, \quad \lambda_i \in K^*, \quad
          c_i'(P_i^+ - P_i^-) e \le \lambda_i'h

    A product of a binary and a bounded number is exactly its four McCormick rows. Suboptimality has
    an excess cost :math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h` instead of the last row. Squares
    are held from below by tangents, added where an answer is off.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z, polyhedral.
    loss : Loss
        The loss.
    whole : Shard
        All samples.
    run : Run, optional
        Says when the time is up; `OutOfTime` is raised then.
    """

    def __init__(
        self, primitive: PrimitiveSet, loss: Loss, whole: Shard, run: Run | None = None
    ) -> None:
        self.model = LinearModel()
        self._loss, self._whole = loss, whole
        self._form = primitive.conic_form()
        self._priced = isinstance(loss, Suboptimality)
        unit = loss if isinstance(loss, Suboptimality) else Suboptimality()
        self._costs = unit.unit_costs(whole.costs)
        n, k, p = whole.decisions.shape[1], whole.features.shape[1], primitive.dimension
        check_program(len(whole.weights), 8 * n * p + len(self._form.h) + 2 * n)
        self.plus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.minus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.b = self.model.columns(k, n)
        for plus, minus in zip(self.plus.ravel(), self.minus.ravel(), strict=True):
            self.model.row([(np.array([plus, minus]), 1.0)], upper=1.0)
        limits = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self._break_symmetry(primitive)
        #: Pairs of a residual and the column that stands for its square.
        self.squares: list[tuple[int, int]] = []
        for i in range(len(whole.weights)):
            if run is not None:
                run.check_time()
            self._sample(i)

    def _break_symmetry(self, primitive: PrimitiveSet) -> None:
        """Order columns that can change places; fix the sign of those that can change it."""
        n, p = self.plus.shape
        # Entries of a column are the digits of a number: one number for each column.
        digits = 3.0 ** np.arange(n)[::-1] / 3.0 ** (n - 1)
        values = [[(self.plus[:, j], digits), (self.minus[:, j], -digits)] for j in range(p)]
        low, high = self._low, self._high
        even = bool((low == low[0]).all() and (high == high[0]).all())
        if isinstance(primitive, Simplex | Hypersimplex | L1Ball | Box) and even:
            for first, second in pairwise(values):
                self.model.row([*first, *((c, -d) for c, d in second)], lower=0.0)
        if isinstance(primitive, L1Ball | Box) and bool((low == -high).all()):
            for value in values:
                self.model.row(value, lower=0.0)

    def _sample(self, i: int) -> None:
        model, (n, p) = self.model, self.plus.shape
        c, phi = self._costs[i], self._whole.features[i]
        z = model.columns(p, lower=self._low, upper=self._high)
        taken = np.minimum(self._low, 0.0), np.maximum(self._high, 0.0)
        P, M = (model.columns(n, p, lower=taken[0], upper=taken[1]) for _ in range(2))
        for product, sign in ((P, self.plus), (M, self.minus)):
            self._products(product, sign, z)
        multipliers = self._multipliers(i, z)
        if not self._priced:
            paid = [(P, np.repeat(c[:, None], p, axis=1)), (M, -np.repeat(c[:, None], p, axis=1))]
            model.row([*paid, (multipliers, -self._form.h)], upper=0.0)
        residuals, x = self._residuals(i, P, M)
        if self._priced:
            excess = model.columns(1, lower=0.0)
            hidden = np.flatnonzero(np.isnan(self._whole.decisions[i]))
            known = float(np.nan_to_num(self._whole.decisions[i]) @ c)
            offset = [(self.b[:, j], c[j] * phi) for j in range(n)]
            terms = [(excess, 1.0), *offset, (multipliers, self._form.h), (x, -c[hidden])]
            model.row(terms, lower=known)
            residuals = np.append(residuals, excess)
        self._count(i, residuals)

    def _products(self, product: Columns, sign: Columns, z: Columns) -> None:
        n, p = product.shape
        for at in np.ndindex(n, p):
            low, high = float(self._low[at[1]]), float(self._high[at[1]])
            pair = np.array([product[at], sign[at]])
            triple = np.array([product[at], z[at[1]], sign[at]])
            self.model.row([(pair, np.array([1.0, -high]))], upper=0.0)
            self.model.row([(pair, np.array([1.0, -low]))], lower=0.0)
            self.model.row([(triple, np.array([1.0, -1.0, -low]))], upper=-low)
            self.model.row([(triple, np.array([1.0, -1.0, -high]))], lower=-high)

    def _multipliers(self, i: int, z: Columns) -> Columns:
        """Add ``z in Z``, and multipliers with ``A'c = H'lambda``."""
        model, (H, h) = self.model, (self._form.H, self._form.h)
        equal = self._form.equality_rows
        for row, right, tight in zip(H, h, equal, strict=True):
            model.row([(z, row)], lower=right, upper=right if tight else np.inf)
        multipliers = model.columns(len(h), lower=np.where(equal, -np.inf, 0.0))
        c = self._costs[i]
        for j in range(len(z)):
            model.row(
                [(self.plus[:, j], c), (self.minus[:, j], -c), (multipliers, -H[:, j])],
                lower=0.0,
                upper=0.0,
            )
        return multipliers

    def _residuals(self, i: int, P: Columns, M: Columns) -> tuple[Columns, Columns]:
        """Return the residuals that count, and the unobserved decisions (suboptimality only)."""
        model, x, phi = self.model, self._whole.decisions[i], self._whole.features[i]
        counted = np.arange(len(x)) if self._priced else np.flatnonzero(~np.isnan(x))
        hidden = np.flatnonzero(np.isnan(x)) if self._priced else np.zeros(0, dtype=np.intp)
        unknown = model.columns(len(hidden))
        residuals = model.columns(len(counted))
        for j, residual in zip(counted, residuals, strict=True):
            terms = [(P[j], 1.0), (M[j], -1.0), (self.b[:, j], phi), (residual, -1.0)]
            terms += [(unknown[hidden == j], -1.0)]
            right = float(np.nan_to_num(x[j]))
            model.row(terms, lower=right, upper=right)
        return residuals, unknown

    def _count(self, i: int, residuals: Columns) -> None:
        """Make the norm of the residuals count in the objective."""
        model, weight = self.model, float(self._whole.weights[i])
        if self._loss.norm == "linf":
            sizes = np.repeat(model.columns(1, lower=0.0), len(residuals))
        else:
            sizes = model.columns(len(residuals), lower=0.0)
        for column in np.unique(sizes):
            model.costs[int(column)] = weight
        for residual, size in zip(residuals, sizes, strict=True):
            if self._loss.norm == "l2":
                self.squares.append((int(residual), int(size)))
                continue
            pair = np.array([size, residual])
            model.row([(pair, np.array([1.0, 1.0]))], lower=0.0)
            model.row([(pair, np.array([1.0, -1.0]))], lower=0.0)

    def add_tangents(self, square: tuple[int, int], at: float) -> None:
        """Hold a square from below by its tangent: ``t >= 2 a r - a^2``."""
        residual, size = square
        terms = [(np.array([size, residual]), np.array([1.0, -2.0 * at]))]
        self.model.row(terms, lower=-at * at)


# A mixed-integer linear program for HiGHS, written row by row.


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
