"""Trust in single decisions: are trusted rows right, and wrong ones marked?

Twelve worlds with known truth. Half of the new rows have prices like those of the fit, half have
what-if prices that were never seen. A row is right within the larger of 1 % of a decision's range
and three times the mean error on rows held out. ``python benchmarks/trust.py [worlds]``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl

Array = NDArray[np.float64]
#: Rows to learn from, to measure the mean error on, and to predict.
LEARN, HELD_OUT, NEW = 300, 100, 200


def power(capacity: float, noise: float) -> Callable[[int], fl.Decisions]:
    return lambda count: fl.datasets.make_power5(
        count, line_capacity=capacity, noise=noise, random_state=3
    )


def blending(noise: float) -> Callable[[int], fl.Decisions]:
    """Four ingredients blended to a total with two quality limits."""

    def make(count: int) -> fl.Decisions:
        random = np.random.default_rng(5)
        costs, total = random.uniform(0.5, 1.5, (count, 4)), random.uniform(2.0, 4.0, count)
        return _solved(
            costs, total, np.array([[0.9, 0.2, 0.5, 0.1], [0.1, 0.8, 0.3, 0.6]]), 0.45, 2.0, noise
        )

    return make


def plants(noise: float) -> Callable[[int], fl.Decisions]:
    """Five plants that serve a load, with a shared line."""

    def make(count: int) -> fl.Decisions:
        random = np.random.default_rng(6)
        costs, total = random.uniform(0.2, 1.0, (count, 5)), random.uniform(2.0, 6.0, count)
        return _solved(costs, total, np.array([[1.0, 1.0, 0.0, 0.0, 0.0]]), 0.4, 2.0, noise)

    return make


def paths(noise: float) -> Callable[[int], fl.Decisions]:
    """Flow on three routes, two of which share an arc of limited capacity."""

    def make(count: int) -> fl.Decisions:
        random = np.random.default_rng(7)
        costs, total = random.uniform(0.5, 1.5, (count, 3)), random.uniform(0.5, 1.5, count)
        return _solved(costs, total, np.array([[1.0, 1.0, 0.0]]), 0.6, 1.0, noise)

    return make


def _solved(
    costs: Array, total: Array, G: Array, share: float, capacity: float, noise: float
) -> fl.Decisions:
    """Return least-cost decisions that sum to a total, within capacities and shares of it."""
    n = costs.shape[1]

    def solve(signals: Array, prices: Array) -> Array:
        from scipy.optimize import linprog

        found = []
        for s, c in zip(signals, prices, strict=True):
            answer = linprog(
                c, G, share * s[-1] * np.ones(len(G)), np.ones((1, n)), [s[-1]], (0.0, capacity)
            )
            found.append(answer.x if answer.x is not None else np.full(n, np.nan))
        return np.array(found)

    signals = np.column_stack([costs, total])
    decisions = solve(signals, costs)
    kept = ~np.isnan(decisions).any(axis=1)
    random = np.random.default_rng(1)
    decisions = decisions + noise * np.nanstd(decisions, axis=0) * random.normal(
        size=decisions.shape
    )
    data = fl.Decisions.from_arrays(signals[kept], decisions[kept], list(range(n)))
    TRUTH[id(data)] = solve
    return data


TRUTH: dict[int, Callable[[Array, Array], Array]] = {}
WORLDS: dict[str, Callable[[int], fl.Decisions]] = {
    "grid, tight lines": power(1.3, 0.0),
    "grid, lines": power(1.6, 0.0),
    "grid, wide lines": power(3.5, 0.0),
    "grid, tight lines, noise": power(1.3, 0.05),
    "grid, wide lines, noise": power(3.5, 0.05),
    "plants": plants(0.0),
    "plants, noise": plants(0.05),
    "blending": blending(0.0),
    "blending, noise": blending(0.05),
    "paths": paths(0.0),
    "paths, noise": paths(0.05),
    "grid, lines, noise": power(1.6, 0.05),
}


def measure(make: Callable[[int], fl.Decisions]) -> tuple[int, ...]:
    """Return trusted rows, those right, rows in range, those trusted, wrong rows, those marked."""
    data = make(LEARN + HELD_OUT + NEW)
    first, last = LEARN, LEARN + HELD_OUT
    n = data.decisions.shape[1]
    model = fl.RegionRegressor(fl.Facets(), cost=list(range(n)), random_state=0)
    model.fit(data.signals[:first], data.decisions[:first])
    held = np.abs(model.predict(data.signals[first:last]) - data.decisions[first:last])
    signals = data.signals[last:]
    costs = signals[:, :n].copy()
    costs[::2] = np.random.default_rng(2).permuted(costs[::2], axis=1)
    solve = TRUTH.get(id(data))
    truth = solve(signals, costs) if solve else np.asarray(data.forward.solve(signals, costs))
    found, trust = model.predict(signals, costs=costs, return_trust=True)
    room = np.maximum(0.01 * np.ptp(data.decisions[:first], axis=0), 3.0 * held.mean(axis=0))
    fine = ~np.isnan(truth).any(axis=1)
    right = (np.abs(found - truth) <= room).all(axis=1)[fine]
    trusted, inside = trust.trusted[fine], trust.in_range[fine]
    return (
        *(int(trusted.sum()), int((trusted & right).sum())),
        *(int(inside.sum()), int((trusted & inside).sum())),
        *(int((~right).sum()), int((~right & ~trusted).sum())),
    )


def main(names: list[str]) -> None:
    """Print one line for each world, and their sum."""
    warnings.simplefilter("ignore")
    heads = ("trusted", "right", "in range", "trusted", "wrong", "marked")
    print(f"{'world':28}" + _cells(heads))
    rows = []
    for name in names or list(WORLDS):
        rows.append(measure(WORLDS[name]))
        print(f"{name:28}" + _cells(rows[-1]), flush=True)
    total = np.sum(rows, axis=0)
    print(f"{'all':28}" + _cells(total))
    right, known, marked = (100.0 * b / max(1, a) for a, b in total.reshape(3, 2))
    print(
        f"trusted rows right {right:.1f} % (claim: 99), in-range rows trusted {known:.1f} % "
        f"(claim: 70), wrong rows marked {marked:.1f} % (claim: 90)"
    )


def _cells(values: Sequence[object]) -> str:
    return "".join(f"{value!s:>10}" for value in values)


if __name__ == "__main__":
    main(sys.argv[1:])
