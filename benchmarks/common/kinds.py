"""Thirty kinds of decisions, each with 500 test rows without noise.

Costs are signals. Noise and wrong days are in the training rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from golden_api import Array, made, optimal

TEST_ROWS = 500
#: Share of the days on which a plant did not answer to prices.
WRONG_DAYS = 0.05


class Kind(NamedTuple):
    """Training and test rows; ``cost`` names the signals that are costs."""

    cost: list[int]
    signals: Array
    decisions: Array
    test_signals: Array
    test_decisions: Array


#: Returns so many rows for a seed: signals whose first n are costs, and decisions.
Make = Callable[[int, int], tuple[Array, Array]]


def draw(name: str, seed: int) -> Kind:
    """Return the rows of a kind."""
    rows, noise, make = KINDS[name]
    signals, decisions = make(rows + TEST_ROWS, seed)
    random = np.random.default_rng([seed, rows])
    train = decisions[:rows] + noise * decisions.std(axis=0) * random.normal(
        size=(rows, decisions.shape[1])
    )
    if name.endswith("wrong days"):
        wrong = random.choice(rows, int(WRONG_DAYS * rows), replace=False)
        train[wrong] = random.permutation(train[wrong].T).T
    cost = list(range(decisions.shape[1]))
    return Kind(cost, signals[:rows], train, signals[rows:], decisions[rows:])


def grid_log(case: str, variant: Literal["api"] | None, count: int, seed: int) -> Any:
    """Return dispatches of a public grid; loads that cannot be served are drawn again."""
    options = {"zones": 8, "quadratic": "linearize", "load_range": (0.6, 1.0)}
    return made("dcopf", count, seed, case=case, variant=variant, **options)


def _grid(case: str, variant: Literal["api"] | None) -> Make:
    return lambda count, seed: grid_costs_first(grid_log(case, variant, count, seed))


def grid_costs_first(data: Any) -> tuple[Array, Array]:
    first = data.cost_matrix
    signals = np.asarray(data.signals)
    others = [
        j for j in range(signals.shape[1]) if not (signals[:, [j]] == first).all(axis=0).any()
    ]
    return np.hstack([first, signals[:, others]]), np.asarray(data.decisions)


def _power5(count: int, seed: int) -> tuple[Array, Array]:
    return grid_costs_first(made("power5", count, seed))


def _plant(ramp: float) -> Make:
    def make(count: int, seed: int) -> tuple[Array, Array]:
        return grid_costs_first(made("flexible_plant", count, seed, ramp=ramp))

    return make


def _run_blocks(count: int, seed: int) -> tuple[Array, Array]:
    """Return schedules of two runs of three hours in twelve, by enumeration."""
    hours, length = 12, 3
    options = []
    for first, second in combinations(range(hours - length + 1), 2):
        if second >= first + length:
            schedule = np.zeros(hours)
            schedule[first : first + length] = schedule[second : second + length] = 1.0
            options.append(schedule)
    prices = np.random.default_rng(seed).uniform(size=(count, hours))
    return prices, np.array(options)[(prices @ np.array(options).T).argmin(axis=1)]


def _battery(hours: int, efficiency: float = 1.0) -> Make:
    """Return the net consumption of a battery of 2.5 hours that ends as full as it begins."""

    def make(count: int, seed: int) -> tuple[Array, Array]:
        random = np.random.default_rng(seed)
        prices, filled = random.uniform(size=(count, hours)), random.uniform(0, 2.5, (count, 1))
        eye, none = np.eye(hours), np.zeros((hours, hours))
        sums = np.tril(np.ones((hours, hours)))
        matrix = np.vstack(
            [
                np.hstack([eye, -eye, eye]),
                np.hstack([none, efficiency * sums, -sums / efficiency]),
            ]
        )
        # What is used is what is charged less what is discharged; the charge stays within 0 and
        # 2.5 hours, and ends where it began.
        low = np.hstack([np.zeros((count, hours)), np.repeat(-filled, hours, axis=1)])
        high = low + np.repeat([0.0, 2.5], hours)
        low[:, -1] = high[:, -1] = 0.0
        ends = np.repeat([-1.0, 0.0], [hours, 2 * hours]), 1.0
        costs = np.hstack([prices, np.zeros((count, 2 * hours))])
        return np.hstack([prices, filled]), optimal(matrix, (low, high), ends, costs)[:, :hours]

    return make


def _paths(side: int) -> Make:
    """Return shortest paths on a grid, whose lengths follow five signals.

    As in Elmachtoub and Grigas, "Smart 'Predict, then Optimize'", Management Science 68(1), 2022:
    degree 4, noise 50 %, so that some arcs are hardly ever used.
    """

    def make(count: int, seed: int) -> tuple[Array, Array]:
        balances, leaves = grid_balances(side)
        random, n = np.random.default_rng(seed), balances.shape[1]
        weights = random.integers(0, 2, (5, n))
        context = random.normal(size=(count, 5))
        lengths = (context @ weights / np.sqrt(5) + 3.0) ** 4 + 1.0
        lengths *= random.uniform(0.5, 1.5, (count, n)) / 3.5**4
        paths = optimal(balances, (leaves, leaves), (0.0, 1.0), lengths)
        return np.hstack([lengths, context]), np.round(paths)

    return make


def grid_balances(side: int) -> tuple[Array, Array]:
    """Return the matrix of balances of a grid, and what leaves each crossing.

    Arcs lead to the right and down; a path begins at the first crossing and ends at the last.
    """
    crossing = np.arange(side * side).reshape(side, side)
    starts = np.concatenate([crossing[:, :-1].ravel(), crossing[:-1].ravel()])
    ends = np.concatenate([crossing[:, 1:].ravel(), crossing[1:].ravel()])
    balances = np.zeros((side * side, len(starts)))
    balances[starts, np.arange(len(starts))] += 1.0
    balances[ends, np.arange(len(starts))] -= 1.0
    leaves = np.zeros(side * side)
    leaves[[0, -1]] = 1.0, -1.0
    return balances, leaves


def _blending(n: int, rows: int) -> Make:
    """Return the cheapest mixture of n materials with required contents, which are signals."""

    def make(count: int, seed: int) -> tuple[Array, Array]:
        random = np.random.default_rng([n, rows])  # one recipe for all seeds
        contents = random.uniform(0.2, 1.0, (rows, n))
        random = np.random.default_rng(seed)
        # Some mixture has a tenth more than what is required.
        mixture = 0.5 * random.dirichlet(np.ones(n), count) + 0.5 / n
        required = 0.9 * mixture @ contents.T
        prices = random.uniform(0.5, 1.5, (count, n))
        matrix = np.vstack([contents, np.ones(n)])
        low = np.hstack([required, np.ones((count, 1))])
        cheapest = optimal(matrix, (low, np.append(np.full(rows, 2.0), 1.0)), (0.0, 0.7), prices)
        return np.hstack([prices, required]), cheapest

    return make


def _l1_ball(count: int, seed: int) -> tuple[Array, Array]:
    return grid_costs_first(made("l1_ball", count, seed, n=4, low=-1.0, high=1.0))


def _ellipsoid(moves: bool) -> Make:
    """Return decisions on an ellipsoid, whose centre may follow two signals."""

    def make(count: int, seed: int) -> tuple[Array, Array]:
        random = np.random.default_rng(seed)
        axes = random.normal(size=(3, 3)) + 2.0 * np.eye(3)
        costs = random.normal(size=(count, 3))
        turned = costs @ axes
        points = -turned / np.linalg.norm(turned, axis=1, keepdims=True) @ axes.T
        if not moves:
            return costs, points
        follows = random.uniform(size=(count, 2))
        return np.hstack([costs, follows]), points + follows @ random.normal(size=(2, 3))

    return make


#: Training rows, noise as a share of the spread, and who makes them.
KINDS: dict[str, tuple[int, float, Make]] = {
    "grid 5": (200, 0.0, _grid("case5_pjm", None)),
    "grid 14": (200, 0.0, _grid("case14_ieee", "api")),
    "grid 24": (200, 0.0, _grid("case24_ieee_rts", "api")),
    "grid 30": (200, 0.0, _grid("case30_ieee", "api")),
    "grid 39": (200, 0.0, _grid("case39_epri", "api")),
    "grid 57": (200, 0.0, _grid("case57_ieee", "api")),
    "grid 89": (200, 0.0, _grid("case89_pegase", "api")),
    "grid 14, noise 5 %": (200, 0.05, _grid("case14_ieee", "api")),
    "grid 39, noise 20 %": (200, 0.2, _grid("case39_epri", "api")),
    "power5, 20 rows": (20, 0.0, _power5),
    "power5, 100 rows": (100, 0.0, _power5),
    "power5, 2000 rows": (2000, 0.0, _power5),
    "power5, noise 5 %": (100, 0.05, _power5),
    "power5, noise 20 %": (500, 0.2, _power5),
    "plant, 20 days": (20, 0.0, _plant(10.0)),
    "plant, ramps": (100, 0.0, _plant(0.35)),
    "plant, wrong days": (60, 0.0, _plant(0.35)),
    "plant, run blocks": (60, 0.0, _run_blocks),
    "battery, 6 hours": (100, 0.0, _battery(6)),
    "battery, 24 hours": (60, 0.0, _battery(24)),
    "battery, 12 hours, lossy": (100, 0.0, _battery(12, 0.9)),
    "paths 3 x 3": (50, 0.0, _paths(3)),
    "paths 4 x 4": (100, 0.0, _paths(4)),
    "paths 5 x 5": (50, 0.0, _paths(5)),
    "blending": (200, 0.0, _blending(5, 2)),
    "blending, noise 5 %": (200, 0.05, _blending(7, 3)),
    "l1 ball": (100, 0.0, _l1_ball),
    "l1 ball, noise 20 %": (100, 0.2, _l1_ball),
    "ellipsoid": (100, 0.0, _ellipsoid(moves=False)),
    "moving ellipsoid, noise 5 %": (200, 0.05, _ellipsoid(moves=True)),
}
