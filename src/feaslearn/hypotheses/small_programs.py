"""Many small linear programs with the same rows, by the kernel and, where it fails, by HiGHS."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.kernels.small_lp import INFEASIBLE, OPTIMAL, UNSOLVED, solve_rows, workspace
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")


class FacetSolutions(NamedTuple):
    """Optimal decisions, the prices of the rows, and what each program ended with.

    ``prices`` holds how much the cost falls when a row is relaxed by one unit, equalities first.
    """

    decisions: Array
    prices: Array
    status: NDArray[np.int8]
    tied: NDArray[np.bool_]


class Limits(NamedTuple):
    """Right-hand sides of all rows, and bounds, one row for each program."""

    right: Array
    lower: Array
    upper: Array


def solve_programs(G: Array, limits: Limits, costs: Array, slack: Array) -> FacetSolutions:
    """Minimise each cost over ``G x + s = right, lower <= x <= upper, 0 <= s <= slack``.

    Answers that the kernel cannot prove are found again: rows that repeat each other up to
    rounding can mislead it.
    """
    count = len(costs)
    if not G.shape[1]:
        # Rows without variables hold or do not: one variable that is zero asks the same.
        zero = np.zeros((count, 1))
        found = solve_programs(np.zeros((len(G), 1)), Limits(limits[0], zero, zero), zero, slack)
        return found._replace(decisions=found.decisions[:, :0])
    solutions = FacetSolutions(
        np.full((count, G.shape[1]), np.nan),
        np.empty((count, len(G))),
        np.full(count, INFEASIBLE, dtype=np.int8),
        np.empty(count, dtype=bool),
    )
    work = workspace(*G.shape)
    right, lower, upper = limits
    solve_rows(work, G, right, costs, lower, upper, slack, *solutions)
    unsolved = np.flatnonzero(solutions.status == UNSOLVED)
    if len(unsolved):
        logger.info("%d of %d small programs were given to HiGHS", len(unsolved), count)
        program, bounds = WarmProgram(G), Bounds(right - slack, right, lower, upper)
        for i in unsolved:
            _solve_again(i, program, costs, bounds, solutions)
    return solutions


def _solve_again(
    i: np.intp, program: WarmProgram, costs: Array, bounds: Bounds, solutions: FacetSolutions
) -> None:
    """Give a program that the kernel did not finish to HiGHS."""
    try:
        answer = program.solve(costs[i][None], Bounds(*(side[i][None] for side in bounds)))
    except InfeasibleProblemError:
        solutions.status[i] = INFEASIBLE
        return
    solutions.decisions[i] = answer.points[0]
    solutions.prices[i] = -answer.row_duals[0]
    solutions.status[i] = OPTIMAL
    # The kernel did not come to say; whoever asks looks at the whole face.
    solutions.tied[i] = True
