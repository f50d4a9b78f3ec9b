"""Trust in single decisions: are trusted rows right, and wrong ones marked?

Six worlds with known truth, each without noise and with 5 %, and three seeds: two grids of five
buses and one of 39, plants, blending and shortest paths. Half of the new rows have prices like
those of the fit, half have what-if prices that were never seen. A row is right within the larger of
1 % of a decision's range and three times the mean error on rows held out. Claims: at least 99 % of
trusted rows are right, 70 % of the rows in range are trusted, and 90 % of wrong ones marked.

    python benchmarks/trust.py [--seeds FROM TO] [--default] [WORLDS]

``--default`` learns with the hypothesis that the default selects instead of `Facets`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from common.kinds import grid_log
from facets_few_rows import grid_balances
from feaslearn.datasets import AffineRows, LinearProgram

Array = NDArray[np.float64]
#: Rows to learn from, to measure the mean error on, and to predict.
LEARN, HELD_OUT, NEW = 300, 100, 200
NOISES = (0.0, 0.05)


class World(NamedTuple):
    """Signals, the first n of which are costs, and what is optimal at signals and costs."""

    signals: Array
    n: int
    solve: Callable[[Array, Array], Array]


def power(count: int, seed: int) -> World:
    """Return five buses with lines that bind."""
    data = fl.datasets.make_power5(count, line_capacity=1.6, random_state=seed)
    return World(data.signals, data.decisions.shape[1], data.forward.solve)


def grid(case: str, variant: Literal["api"] | None) -> Callable[[int, int], World]:
    """Return a case of a public library of grids."""

    def make(count: int, seed: int) -> World:
        data = grid_log(case, variant, count, seed)
        return World(np.asarray(data.signals), data.decisions.shape[1], data.forward.solve)

    return make


def program(
    G: Array, share: float, capacity: float, prices: tuple[float, float], total: tuple[float, float]
) -> Callable[[int, int], World]:
    """Return least-cost decisions that sum to a total, within capacities and shares of it."""
    n = G.shape[1]

    def make(count: int, seed: int) -> World:
        random = np.random.default_rng(seed)
        costs, sums = random.uniform(*prices, (count, n)), random.uniform(*total, (count, 1))
        matrix = np.vstack([np.ones(n), G])
        follows = np.append(1.0, np.full(len(G), share))[:, None]
        free = np.append(0.0, np.full(len(G), -np.inf))
        lower = AffineRows(free, follows * np.isfinite(free)[:, None])
        upper = AffineRows(np.zeros(len(matrix)), follows)
        found = LinearProgram(matrix, lower, upper, np.zeros(n), np.full(n, capacity), n)
        return World(np.hstack([costs, sums]), n, lambda s, c: found.solve(s[:, n:], c))

    return make


def paths(count: int, seed: int) -> World:
    """Return shortest paths from one corner of nine nodes to the other; lengths are all signals."""
    balances, leaves = grid_balances(3)
    n = balances.shape[1]
    rows = AffineRows(leaves, np.zeros((len(leaves), 1)))
    found = LinearProgram(balances, rows, rows, np.zeros(n), np.ones(n), n)
    lengths = np.random.default_rng(seed).uniform(0.5, 1.5, (count, n))
    return World(lengths, n, lambda s, c: found.solve(np.zeros((len(s), 1)), c))


PLANTS = np.array([[1.0, 1.0, 0.0, 0.0, 0.0]])
CONTENTS = np.array([[0.9, 0.2, 0.5, 0.1], [0.1, 0.8, 0.3, 0.6]])
WORLDS: dict[str, Callable[[int, int], World]] = {
    "grid, 5 buses": power,
    "grid, 5 buses, PJM": grid("case5_pjm", None),
    "grid, 39 buses": grid("case39_epri", "api"),
    "plants": program(PLANTS, 0.4, 2.0, (0.2, 1.0), (2.0, 6.0)),
    "blending": program(CONTENTS, 0.45, 2.0, (0.5, 1.5), (2.0, 4.0)),
    "paths": paths,
}


def measure(name: str, noise: float, seed: int, default: bool) -> tuple[int, ...]:
    """Return trusted rows, those right, rows in range, those trusted, wrong rows, those marked."""
    world = WORLDS[name](2 * (LEARN + HELD_OUT + NEW), seed)
    n, random = world.n, np.random.default_rng([seed, 30])
    exact = world.solve(world.signals, world.signals[:, :n])
    kept = np.flatnonzero(~np.isnan(exact).any(axis=1))[: LEARN + HELD_OUT + NEW]
    signals, exact = world.signals[kept], exact[kept]
    observed = exact + noise * exact.std(axis=0) * random.normal(size=exact.shape)
    learn, held, new = np.split(np.arange(len(kept)), [LEARN, LEARN + HELD_OUT])
    hypothesis = None if default else fl.Facets()
    model = fl.RegionRegressor(hypothesis, cost=list(range(n)), random_state=0)
    model.fit(signals[learn], observed[learn])
    errors = np.abs(model.predict(signals[held]) - observed[held]).mean(axis=0)
    room = np.maximum(0.01 * np.ptp(observed[learn], axis=0), 3.0 * errors)
    room = np.maximum(room, 1e-6 * np.abs(observed[learn]).max(axis=0))  # rounding
    costs = signals[new, :n].copy()
    costs[::2] = random.permuted(costs[::2], axis=1)
    truth = world.solve(signals[new], costs)
    found, trust = model.predict(signals[new], costs=costs, return_trust=True)
    there = ~np.isnan(truth).any(axis=1)
    right = (np.abs(found - truth) <= room).all(axis=1)[there]
    trusted, inside = trust.trusted[there], trust.in_range[there]
    return (
        *(int(trusted.sum()), int((trusted & right).sum())),
        *(int(inside.sum()), int((trusted & inside).sum())),
        *(int((~right).sum()), int((~right & ~trusted).sum())),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each world, and their sum; the exit code says whether claims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="WORLDS")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 3), metavar=("FROM", "TO"))
    parser.add_argument("--default", action="store_true")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    heads = ("trusted", "right", "in range", "trusted", "wrong", "marked")
    print(f"{'world':28}" + _cells(heads))
    total = np.zeros(6, dtype=int)
    for name in given.names or WORLDS:
        for noise in NOISES:
            rows = [measure(name, noise, seed, given.default) for seed in range(*given.seeds)]
            total += np.sum(rows, axis=0)
            label = f"{name}, noise" if noise else name
            print(f"{label:28}" + _cells(np.sum(rows, axis=0)), flush=True)
    print(f"{'all':28}" + _cells(total))
    right, known, marked = (100.0 * b / max(1, a) for a, b in total.reshape(3, 2))
    print(
        f"trusted rows right {right:.1f} % (claim: 99), in-range rows trusted {known:.1f} % "
        f"(claim: 70), wrong rows marked {marked:.1f} % (claim: 90)"
    )
    return int(right < 99.0 or known < 70.0 or marked < 90.0)


def _cells(values: Sequence[object]) -> str:
    return "".join(f"{value!s:>10}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
