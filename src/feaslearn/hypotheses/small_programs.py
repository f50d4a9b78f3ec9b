"""Many small linear programs with the same rows, by the kernel and, where it fails, by HiGHS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.kernels.small_lp import INFEASIBLE, OPTIMAL, UNSOLVED, solve_rows, workspace
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]

#: A gap between a cost and its proved minimum, relative to the numbers in it, that is rounding.
GAP = 1e-7


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


def solve_programs(
    G: Array, limits: Limits, costs: Array, slack: Array, verify: bool = False
) -> FacetSolutions:
    """Minimise each cost over ``G x + s = right, lower <= x <= upper, 0 <= s <= slack``.

    With ``verify``, answers whose prices do not prove them are found again: rows that repeat each
    other up to rounding can mislead the kernel.
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
    again = solutions.status == UNSOLVED
    if verify:
        again |= (solutions.status == OPTIMAL) & ~_proved(G, limits, costs, slack, solutions)
    unsolved = np.flatnonzero(again)
    if len(unsolved):
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


def _proved(
    G: Array, limits: Limits, costs: Array, slack: Array, solutions: FacetSolutions
) -> NDArray[np.bool_]:
    r"""Say where duality proves a solution: its cost is the bound that its prices give.

    With :math:`d = c + G'\pi` and no negative price of an inequality, no point costs less than
    :math:`\sum_j \min(d_j l_j, d_j u_j) - \pi'r`.
    """
    right, lower, upper = limits
    prices = np.where(slack > 0.0, np.maximum(solutions.prices, 0.0), solutions.prices)
    reduced = costs + prices @ G
    bound = np.minimum(reduced * lower, reduced * upper).sum(axis=1) - (prices * right).sum(axis=1)
    value = np.einsum("ij,ij->i", costs, solutions.decisions)
    size = np.abs(costs).sum(axis=1) * (1.0 + np.maximum(np.abs(lower), np.abs(upper)).max(axis=1))
    return np.asarray(value - bound <= GAP * size + GAP)
