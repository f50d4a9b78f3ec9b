"""Decisions that satisfy what is known where the learned region has none of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.known import KnownLimits
from feaslearn.sets.sizes import powers_of_two
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]

#: What a unit of distance to the learned region costs, in units of the largest price.
FIRST_OF_ALL = 1e3
#: A distance below this, relative to the numbers of its sample, is none.
ROUNDING = 1e-7


class SoftRows(NamedTuple):
    """Learned rows ``low <= S (x, v) <= high`` with variables v that let them give way.

    ``lower`` and ``upper`` bound v, ``prices`` are what a unit of each entry of v costs.
    """

    S: Array
    low: Array
    high: Array
    lower: Array
    upper: Array
    prices: Array


class NearestKnown(NamedTuple):
    """Decisions, how far they are from the learned rows, and where what is known has none.

    Distances are in units of the numbers of each sample.
    """

    decisions: Array
    distances: Array
    contradictory: NDArray[np.bool_]

    def away(self) -> NDArray[np.bool_]:
        """Say where the distance is more than rounding."""
        return np.asarray(self.contradictory | (self.distances > ROUNDING))


def nearest_known(soft: SoftRows, known: KnownLimits, costs: Array) -> NearestKnown:
    """Return the decisions within the known constraints that are nearest to the learned rows.

    Of several, the cheapest. Where the known constraints have no decision at all, the one that
    breaks them least.
    """
    n, v = known.shape.n, len(soft.prices)
    known = in_rows_of_size_one(known)
    hard = np.vstack([known.E, known.G])
    program = WarmProgram(np.vstack([np.hstack([hard, np.zeros((len(hard), v))]), soft.S]))
    never = np.full(known.g.shape, np.inf)
    bounds, units = _in_units(
        np.hstack([known.e, known.g, soft.low]),
        np.hstack([known.e, never, soft.high]),
        np.hstack([known.lower, soft.lower]),
        np.hstack([known.upper, soft.upper]),
    )
    sizes = np.abs(costs).max(axis=1, keepdims=True)
    prices = np.broadcast_to(FIRST_OF_ALL * soft.prices, (len(costs), v))
    prices = np.hstack([costs / np.where(sizes > 0.0, sizes, 1.0), prices])
    count = len(costs)
    found = NearestKnown(np.empty((count, n)), np.full(count, np.inf), np.zeros(count, dtype=bool))
    found.contradictory[:] = (known.lower > known.upper).any(axis=1)
    for i in np.flatnonzero(~found.contradictory):
        one = Bounds(*(side[i : i + 1] for side in bounds))
        try:
            point = program.solve(prices[i : i + 1], one).points[0]
            found.decisions[i] = units[i] * point[:n]
            found.distances[i] = point[n:] @ (soft.prices > 0.0)
        except InfeasibleProblemError:
            found.contradictory[i] = True
    for i in np.flatnonzero(found.contradictory):
        found.decisions[i] = least_broken(known.rows(slice(i, i + 1)))
    return found


def least_broken(known: KnownLimits) -> Array:
    """Return the decision that breaks the known constraints of one sample least, in sum."""
    n, m = known.shape.n, len(known.G)
    known = in_rows_of_size_one(known)
    rows = np.vstack([known.E, known.G, np.eye(n), np.eye(n)])
    give = np.eye(len(rows))
    # What rows lack is added; equalities and upper bounds may also have too much.
    matrix = np.hstack([rows, give, -give])
    free, open_ended = np.full((1, n), np.inf), np.full((1, m), np.inf)
    bounds, unit = _in_units(
        np.hstack([known.e, known.g, known.lower, -free]),
        np.hstack([known.e, open_ended, free, known.upper]),
        np.hstack([-free, np.zeros((1, 2 * len(rows)))]),
        np.full((1, n + 2 * len(rows)), np.inf),
    )
    prices = np.append(np.zeros(n), np.ones(2 * len(rows)))[None]
    point: Array = WarmProgram(matrix).solve(prices, bounds).points[0, :n]
    return np.asarray(unit * point)


def in_rows_of_size_one(known: KnownLimits) -> KnownLimits:
    """Return the same constraints with rows of size one, which the solver's tolerances expect."""
    sizes = [np.abs(matrix).max(axis=1, initial=0.0) for matrix in known[:2]]
    g, e = (1.0 / powers_of_two(np.where(size > 0.0, size, 1.0)) for size in sizes)
    matrices = g[:, None] * known.G, e[:, None] * known.E
    return KnownLimits(*matrices, known.g * g, known.lower, known.upper, known.e * e)


def _in_units(*sides: Array) -> tuple[Bounds, Array]:
    """Return bounds in units of their own size, one for each sample, and those units."""
    numbers = np.abs(np.hstack(sides))
    largest = np.where(np.isfinite(numbers), numbers, 0.0).max(axis=1, initial=0.0)
    units = powers_of_two(np.where(largest > 0.0, largest, 1.0))
    return Bounds(*(side / units[:, None] for side in sides)), units
