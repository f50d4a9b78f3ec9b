"""Many small linear programs with the same rows, by the kernel and, where it fails, by HiGHS."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.solvers.highs import Bounds, WarmProgram
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL, UNSOLVED, solve_rows, workspace
from feaslearn.tolerances import VISIBLE_TOL, powers_of_two

logger = logging.getLogger("feaslearn")


class FacetSolutions(NamedTuple):
    """Optimal decisions, the prices of the rows, and what each program ended with.

    ``prices`` holds how much the cost falls when a row is relaxed by one unit, equalities first.
    """

    decisions: Array
    prices: Array
    status: NDArray[np.int8]
    tied: Mask


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
    solutions = FacetSolutions(
        np.full((count, G.shape[1]), np.nan),
        np.empty((count, len(G))),
        np.full(count, INFEASIBLE, dtype=np.int8),
        np.empty(count, dtype=bool),
    )
    rows, columns = _units(G, limits)
    right, lower, upper = limits.right * rows, limits.lower / columns, limits.upper / columns
    G, costs, slack = rows[:, None] * G * columns, costs * columns, slack * rows
    solve_rows(workspace(*G.shape), G, right, costs, lower, upper, slack, *solutions)
    unsolved = np.flatnonzero(solutions.status == UNSOLVED)
    if len(unsolved):
        logger.info("%d of %d small programs were given to HiGHS", len(unsolved), count)
        sides = (right - slack, right, lower, upper)
        bounds = Bounds(*(side[unsolved] for side in sides))
        _solve_again(unsolved, G, costs[unsolved], bounds, solutions)
    return solutions._replace(
        decisions=solutions.decisions * columns, prices=solutions.prices * rows
    )


def _units(G: Array, limits: Limits) -> tuple[Array, Array]:
    """Return factors (powers of two) of rows and columns that make numbers of size one."""
    lower, upper = limits.lower, limits.upper
    span = (upper - lower).max(axis=0, initial=0.0)
    size = np.maximum(np.abs(lower), np.abs(upper)).max(axis=0, initial=0.0)
    # Bounds that only rounding keeps apart say nothing about the unit, but what they are near does.
    span = np.where(span > VISIBLE_TOL * size, span, size)
    columns = powers_of_two(np.where(np.isfinite(span) & (span > 0.0), span, 1.0))
    largest = np.abs(G * columns).max(axis=1, initial=0.0)
    return 1.0 / powers_of_two(np.where(largest > 0.0, largest, 1.0)), columns


def _solve_again(
    rows: Indices, G: Array, costs: Array, bounds: Bounds, solutions: FacetSolutions
) -> None:
    """Give programs that the kernel did not finish to HiGHS."""
    answers = WarmProgram(G).solve(costs, bounds, infeasible=True)
    found = ~np.isnan(answers.points).any(axis=1)
    solutions.status[rows] = np.where(found, OPTIMAL, INFEASIBLE)
    # Its bounds hold within its tolerance, ours hold.
    points = np.clip(answers.points, bounds.lower, bounds.upper)
    solutions.decisions[rows[found]] = points[found]
    solutions.prices[rows[found]] = -answers.row_duals[found]
    # The kernel did not come to say; whoever asks looks at the whole face.
    solutions.tied[rows[found]] = True
