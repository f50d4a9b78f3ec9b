"""Logs as meters write them: sixteen exact logs, and what happens to their rows.

Twelve public grids, a network whose lines bind, a factory, a mixture and the five regions; to their
training rows comes noise (of the spread of a column, or of the value), rounding, or a few rows that
follow other rules. Test rows stay exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from common.kinds import KINDS, Make, grid_costs_first
from golden_api import Array, made, optimal

GRIDS = (
    *("5_pjm typ", "14_ieee api", "14_ieee sad", "24_ieee_rts api", "30_as api", "30_ieee api"),
    *("39_epri api", "39_epri sad", "57_ieee api", "60_c api", "89_pegase api", "118_ieee api"),
)
TRAIN, TEST = 500, 500


class Log(NamedTuple):
    """Signals whose first columns are costs, decisions, and test rows without errors."""

    cost: list[int]
    signals: Array
    decisions: Array
    test_signals: Array
    test_decisions: Array
    odd: Array  # training rows that follow other rules


def _grid(name: str) -> Make:
    case, variant = name.split()
    options = {"zones": 8, "quadratic": "linearize", "load_range": (0.6, 1.0)}
    chosen = None if variant == "typ" else variant

    def make(count: int, seed: int) -> tuple[Array, Array]:
        data = made("dcopf", count, seed, case=f"case{case}", variant=chosen, **options)
        return grid_costs_first(data)

    return make


def _network(count: int, seed: int) -> tuple[Array, Array]:
    """Return dispatches of seven plants at ten buses with twelve lines, of which some bind."""
    fixed = np.random.default_rng(10)  # one network for all seeds
    ends = [(i, (i + 1) % 10) for i in range(10)] + [(0, 5), (2, 7)]
    B = np.zeros((12, 10))
    for line, (a, b) in enumerate(ends):
        B[line, [a, b]] = 1.0, -1.0
    y = fixed.uniform(5.0, 15.0, 12)
    factors = (B * y[:, None]) @ np.linalg.pinv(B.T * y @ B)
    plants, capacity = np.array([0, 1, 3, 4, 6, 7, 9]), fixed.uniform(100.0, 400.0, 7)
    shares, merit = fixed.dirichlet(np.full(10, 3.0)), fixed.uniform(10.0, 80.0, 7)
    random = np.random.default_rng(seed)
    load = 0.55 * capacity.sum() * random.uniform(0.5, 1.0, (count, 1))
    zones = shares * random.uniform(0.8, 1.2, (count, 10)) * load
    groups = np.array([zones[:, :3].sum(1), zones[:, 3:6].sum(1), zones[:, 6:].sum(1)]).T
    zones = np.hstack([np.repeat(groups[:, [k]], s, axis=1) / s for k, s in enumerate((3, 3, 4))])
    prices = merit * random.uniform(0.7, 1.3, (count, 7))
    limit = np.full(12, 0.1 * capacity.sum())
    flow = zones @ factors.T
    matrix = np.vstack([factors[:, plants], np.ones(7)])
    total = zones.sum(axis=1, keepdims=True)
    low, high = np.hstack([flow - limit, total]), np.hstack([flow + limit, total])
    found = optimal(matrix, (low, high), (np.zeros(7), capacity), prices)
    return np.hstack([prices, groups]), found


def _factory(count: int, seed: int) -> tuple[Array, Array]:
    """Return the most profitable production of eight goods by eleven resources."""
    fixed = np.random.default_rng(11)
    needs = fixed.uniform(0.2, 1.5, (11, 8)) * (fixed.random((11, 8)) < 0.6)
    random = np.random.default_rng(seed)
    stock = needs.sum(axis=1) * 10.0
    room = np.tile(stock, (count, 1)) * 0.6
    signals = random.uniform(0.6, 1.2, (count, 4))
    room[:, :4] *= signals
    prices = -fixed.uniform(2.0, 6.0, 8) * random.uniform(0.6, 1.4, (count, 8))
    low = np.full(room.shape, -np.inf)
    found = optimal(needs, (low, room), (np.zeros(8), np.full(8, 25.0)), prices)
    return np.hstack([prices, signals]), found


MAKERS: dict[str, Make] = {
    **{name: _grid(name) for name in GRIDS},
    "network": _network,
    "factory": _factory,
    "blending": KINDS["blending, noise 5 %"][2],
    "power5": KINDS["power5, 100 rows"][2],
}


@cache
def exact(name: str, seed: int) -> tuple[Array, Array]:
    """Return the rows of a log without errors; rows without a decision are left out."""
    signals, decisions = MAKERS[name](TRAIN + TEST + 100, seed)
    there = ~np.isnan(decisions).any(axis=1)
    return signals[there], decisions[there]


def draw(name: str, how: str, level: float, seed: int, rows: int = TRAIN) -> Log:
    """Return a log with errors of one way and size in its training rows."""
    signals, decisions = exact(name, seed)
    train, out = decisions[:rows].copy(), slice(rows, rows + TEST)
    random = np.random.default_rng([seed, 77])
    odd = ERRORS[how](train, level, random)
    cost = list(range(train.shape[1]))
    return Log(cost, signals[:rows], train, signals[out], decisions[out], odd)


def _unchanged(x: Array, _: float, __: np.random.Generator) -> Array:
    return np.zeros(len(x), bool)


def _additive(x: Array, level: float, random: np.random.Generator) -> Array:
    x += level * x.std(axis=0) * random.normal(size=x.shape)
    return np.zeros(len(x), bool)


def _proportional(x: Array, level: float, random: np.random.Generator) -> Array:
    x *= 1.0 + level * random.normal(size=x.shape)
    return np.zeros(len(x), bool)


def _rounded(x: Array, level: float, _: np.random.Generator) -> Array:
    step = level * np.ptp(x, axis=0)
    step = np.where(step > 0.0, step, 1.0)
    x[:] = np.round(x / step) * step
    return np.zeros(len(x), bool)


def _in_steps(x: Array, level: float, _: np.random.Generator) -> Array:
    x[:] = np.round(x / level) * level
    return np.zeros(len(x), bool)


def _odd(change: Callable[[Array, np.random.Generator], Array]) -> Callable[..., Array]:
    def errors(x: Array, level: float, random: np.random.Generator) -> Array:
        odd = np.zeros(len(x), bool)
        odd[random.choice(len(x), max(1, round(level * len(x))), replace=False)] = True
        before = x[odd].copy()
        x[odd] = change(x[odd], random)
        odd[odd] = np.abs(x[odd] - before).max(axis=1) > 1e-6 * np.ptp(x, axis=0).max()
        return odd

    return errors


def _shed(x: Array, random: np.random.Generator) -> Array:
    """Some of the load is not served: the largest plants give less."""
    return x * (1.0 - random.uniform(0.05, 0.2, (len(x), 1)))


def _stuck(x: Array, random: np.random.Generator) -> Array:
    """One meter shows something else."""
    j, sign = random.integers(x.shape[1], size=len(x)), random.choice([-1.0, 1.0], len(x))
    size = random.uniform(0.1, 0.3, len(x)) * np.abs(x).max(axis=0)[j]
    x[np.arange(len(x)), j] += sign * size
    return np.maximum(x, 0.0)


#: What happens to rows; levels are shares of the spread, of the value, of the range, units, and
#: shares of the rows.
ERRORS: dict[str, Callable[..., Array]] = {
    "exact": _unchanged,
    "noise": _additive,
    "value": _proportional,
    "round": _rounded,
    "step": _in_steps,
    "shed": _odd(_shed),
    "stuck": _odd(_stuck),
}
