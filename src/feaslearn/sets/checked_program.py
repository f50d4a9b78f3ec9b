"""One linear program, solved and proved: what a solver says is checked before it is believed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.results import remark
from feaslearn.sets.warm_program import BELIEVED, TOLERANCE, Bounds, WarmProgram, excess_of

Array = NDArray[np.float64]

#: Tolerances of HiGHS by their names in SciPy.
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")


class Optimum(NamedTuple):
    """A point, its cost and the price of each row: how the cost changes with its right-hand side.

    Prices of the rows ``A x <= b`` come first, then those of ``E x = e``.
    """

    point: Array
    value: float
    prices: Array


class CheckedProgram(NamedTuple):
    r"""A linear program whose optimum is believed only with a proof.

    .. math:: \min \{ c'x : A x \le b,\; E x = e,\; l \le x \le u \}

    With prices y of the rows and :math:`d = c - A'y_A - E'y_E`, no point costs less than
    :math:`b'y_A + e'y_E + \sum_j \min(d_j l_j, d_j u_j)`. A point that keeps the rows and costs no
    more than that is an optimum.

    Parameters
    ----------
    cost : ndarray of shape (v,)
        The cost c.
    lower, upper : ndarray of shape (v,)
        Bounds, which may be infinite.
    A, b, E, e : ndarray or sparse array
        Rows; none where they are not given.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.sets.checked_program import CheckedProgram
    >>> program = CheckedProgram(
    ...     np.array([-1.0, -1.0]), np.zeros(2), np.ones(2), np.array([[1.0, 2.0]]), np.array([2.0])
    ... )
    >>> program.solve("little").point
    array([1. , 0.5])
    """

    cost: Array
    lower: Array
    upper: Array
    A: Any = None
    b: Any = None
    E: Any = None
    e: Any = None

    def solve(self, name: str, tolerance: float = TOLERANCE) -> Optimum:
        """Return an optimum; ``name`` is what messages call the program.

        Raises
        ------
        InfeasibleProblemError, UnboundedProblemError
            Where two solvers find no point, or no least cost.
        SolverError
            Where neither of them has an answer that can be believed.
        """
        first = _by_scipy(self, tolerance)
        if isinstance(first, Optimum):
            wrong = self.flaw(first)
            if not wrong:
                return first
            first = wrong
        second = _by_highs(self)
        if isinstance(second, Optimum):
            wrong = self.flaw(second)
            if not wrong:
                remark(f"the {name} program was solved without presolve, after {first}")
                return second
            second = wrong
        told = f"the {name} program was not solved ({first}; then, without presolve, {second})"
        kinds = {"Infeasible": InfeasibleProblemError, "Unbounded": UnboundedProblemError}
        raise kinds.get(second, SolverError)(told)

    def flaw(self, found: Optimum) -> str:
        """Return what is wrong with an answer, or nothing."""
        x, y = found.point, found.prices
        matrix, low, high = self.rows()
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return "numbers that are not finite"
        broken = max(
            float(excess_of((matrix @ x)[None], low[None], high[None])[0]),
            float(excess_of(x[None], self.lower[None], self.upper[None])[0]),
        )
        if broken > 0.0:
            return f"rows violated by {broken:.1e}"
        d = self.cost - matrix.T @ y
        sizes = np.abs(self.cost) + abs(matrix).T @ np.abs(y)
        dearest = float(sizes.max())
        shares = np.concatenate([y, d])
        lower, upper = np.concatenate([low, self.lower]), np.concatenate([high, self.upper])
        ends = np.where(np.signbit(shares), upper, lower)
        # What is nothing beside the prices costs nothing, even where a bound is infinite.
        finite, nothing = np.isfinite(ends), np.abs(shares) <= BELIEVED * dearest
        if not (finite | nothing).all():
            return "prices that prove nothing"
        least = float(shares[finite] @ ends[finite])
        value = float(self.cost @ x)
        size = dearest + float(np.abs(self.cost) @ np.abs(x))
        return "" if value - least <= BELIEVED * size else f"a gap of {value - least:.1e}"

    def rows(self) -> tuple[Any, Array, Array]:
        """Return all rows as ``low <= M x <= high``."""
        (A, b), (E, e) = self._given(self.A, self.b), self._given(self.E, self.e)
        low = np.concatenate([np.full_like(b, -np.inf), e])
        return sp.vstack([A, E], format="csr"), low, np.concatenate([b, e])

    def _given(self, matrix: Any, right: Any) -> tuple[Any, Array]:
        if matrix is None:
            return sp.csr_array((0, len(self.cost))), np.empty(0)
        return sp.csr_array(matrix), np.asarray(right, dtype=float)


def _by_scipy(program: CheckedProgram, tolerance: float) -> Optimum | str:
    """Return the answer of the HiGHS within SciPy, or what it said instead."""
    cost, lower, upper, A, b, E, e = program
    given: Any = {
        "A_ub": A,
        "b_ub": b,
        "A_eq": E,
        "b_eq": e,
        "bounds": np.column_stack([lower, upper]),
        "options": dict.fromkeys(TOLERANCES, tolerance),
    }
    answer: Any = linprog(cost, **given)
    if answer.status != 0:
        return str(answer.message)
    prices = np.concatenate([answer.ineqlin.marginals, answer.eqlin.marginals])
    return Optimum(np.asarray(answer.x), float(answer.fun), prices)


def _by_highs(program: CheckedProgram) -> Optimum | str:
    """Return the answer of HiGHS without presolve, by one simplex method or the other."""
    matrix, low, high = program.rows()
    bounds = Bounds(low[None], high[None], program.lower[None], program.upper[None])
    try:
        found, statuses = WarmProgram(matrix).attempt(program.cost[None], bounds)
    except SolverError as error:
        return str(error)
    if statuses[0] != "Optimal":
        return str(statuses[0])
    point = found.points[0]
    return Optimum(point, float(program.cost @ point), found.row_duals[0])
