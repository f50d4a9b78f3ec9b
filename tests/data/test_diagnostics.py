"""Outliers: found where they are errors, and only there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.data.diagnostics import outlying_decisions

Array = NDArray[np.float64]
Draw = Callable[[int, float, int], tuple[Array, Array, Array]]


@dataclass
class FromData:
    """Features, costs and decisions of a data set whose first signals are the costs."""

    make: Callable[..., fl.Decisions]

    def __call__(self, n: int, noise: float, seed: int) -> tuple[Array, Array, Array]:
        data = self.make(n, noise=noise, random_state=seed)
        named = [j for j in np.ravel(data.cost) if isinstance(j, int | np.integer)]
        return np.delete(data.signals, named, axis=1), data.cost_matrix, data.decisions


def lognormal_demand(n: int, noise: float, seed: int) -> tuple[Array, Array, Array]:
    """The cheaper of two plants serves up to 3, the other the rest; few demands are very large."""
    random = np.random.default_rng(seed)
    prices, demand = random.random((n, 2)), random.lognormal(0.0, 2.0, n)
    both = np.column_stack([np.minimum(demand, 3.0), np.maximum(demand - 3.0, 0.0)])
    first = (prices[:, 0] < prices[:, 1])[:, None]
    decisions = np.where(first, both, both[:, ::-1]) + noise * random.normal(size=(n, 2))
    return demand[:, None], prices, decisions


def seldom_on(n: int, noise: float, seed: int) -> tuple[Array, Array, Array]:
    """Two plants that run in one hour of ten, and whose meters are nearly exact."""
    random = np.random.default_rng(seed)
    prices = random.random((n, 2))
    decisions = np.where(prices > 0.9, 100.0, 0.0) + 1e-4 * noise * random.normal(size=(n, 2))
    return random.random((n, 1)), -prices, decisions


CLEAN: dict[str, Draw] = {
    "switch": FromData(fl.datasets.make_switch),
    "power5": FromData(fl.datasets.make_power5),
    "l1 ball": FromData(fl.datasets.make_l1_ball),
    "lognormal demand": lognormal_demand,
    "seldom on": seldom_on,
}


def as_block(features: Array, costs: Array, decisions: Array) -> Block:
    n = len(features)
    return Block(
        np.column_stack([np.ones(n), features]), costs, decisions.copy(), np.full(n, 1 / n)
    )


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_said_of_data_without_errors(name: str, noise: float) -> None:
    for seed in range(3):
        for n in (30, 100):
            assert outlying_decisions(as_block(*CLEAN[name](n, noise, seed))) is None


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("name", ["power5", "l1 ball", "lognormal demand"])
def test_errors_are_found(name: str, noise: float) -> None:
    for seed in range(3):
        rows = as_block(*CLEAN[name](100, noise, seed))
        wrong = np.sort(np.random.default_rng(seed).choice(100, 10, replace=False))
        wrong = wrong[np.abs(rows.features[wrong, 1:]).max(axis=1, initial=0.0) < 10.0]
        rows.decisions[wrong] *= -1e5
        rows.decisions[wrong, 0] += 1e6
        found = outlying_decisions(rows)
        assert found is not None
        assert found.indices.tolist() == wrong.tolist()
        assert found.times > 50.0


def test_units_offsets_and_gaps_do_not_matter() -> None:
    rows = as_block(*CLEAN["power5"](80, 0.0, 0))
    rows.decisions[[3, 17]] += 1e6
    gaps = rows.decisions.copy()
    gaps[::4, 1] = np.nan
    for decisions in (rows.decisions, 1e-7 * rows.decisions, rows.decisions + 1e4, gaps):
        found = outlying_decisions(rows._replace(decisions=decisions))
        assert found is not None
        assert found.indices.tolist() == [3, 17]
