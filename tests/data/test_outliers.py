"""Outliers: found where they are errors, and only there; fits resist or name them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.data.diagnostics import outlying_decisions
from feaslearn.trainers import Annealing, Convex
from registry import Array, fit_rows

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


# Robust fits still find the right region; others are warned.


def drawn(n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Return signals (two prices and a level) and the decisions of least cost."""
    signals = np.column_stack([random.normal(size=(n, 2)), random.random(n)])
    level = signals[:, 2:]
    reach = 1.0 + level * [0.3, 0.6]
    center = np.array([1.0, -2.0]) + level * [0.5, 1.0]
    return signals, center - np.sign(signals[:, :2]) * reach


def spoiled_samples(size: float, seed: int = 1) -> tuple[Array, Array, Array]:
    """Return signals, decisions, and the rows that were moved."""
    random = np.random.default_rng(seed)
    signals, decisions = drawn(60, random)
    spoiled = np.sort(random.choice(60, 6, replace=False))
    decisions[spoiled] += size * random.normal(size=(6, 2))
    return signals, decisions, spoiled


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_a_robust_fit_finds_the_right_region_and_says_nothing(size: float) -> None:
    signals, decisions, _ = spoiled_samples(size)
    new, truth = drawn(40, np.random.default_rng(0))
    farthest = []
    for trainer, warned in ((Convex(robust=True), False), (Convex(0.0, 0.0), True)):
        model = fit_rows(signals, decisions, fl.Minkowski.box(2), trainer=trainer)
        farthest.append(np.abs(model.predict(new) - truth).max())
        assert any("as far from" in text for text in model.result_.warnings) == warned
    assert farthest[0] <= 0.1
    assert farthest[1] > 0.01 * size


@pytest.mark.parametrize(
    ("hypothesis", "trainer"),
    [
        (fl.Affine(fl.Box(2)), Annealing(5, n_starts=1, ridge=0.1, ridge_floor=1.0)),
        (fl.Facets(bounds="affine"), "auto"),
        (None, "auto"),
    ],
    ids=["Annealing", "Facets", "choice"],
)
def test_searches_are_warned_of_rows_that_may_bias_them(hypothesis: Any, trainer: Any) -> None:
    signals, decisions, spoiled = spoiled_samples(1e4)
    model = fit_rows(signals, decisions, hypothesis, trainer=trainer)
    (told,) = (text for text in model.result_.warnings if "as far from" in text)
    assert told.startswith("; ".join(f"row {row}" for row in spoiled[:5]) + "; and 1 more: ")
    assert "take them out if they are errors" in told


def test_squared_losses_are_warned_of_rows_that_count() -> None:
    signals, decisions, spoiled = spoiled_samples(1e4)
    # The numbers are those of the user, although two rows do not count.
    weights = np.ones(60)
    weights[[0, 1]] = 0.0
    model = fl.RegionRegressor(fl.Minkowski.box(2), cost=[0, 1])
    model.fit(signals, decisions, sample_weight=weights)
    (told,) = (text for text in model.result_.warnings if "as far from" in text)
    assert told.startswith(f"row {spoiled[0]}; ") or spoiled[0] < 2


def test_chunks_are_seen_in_part() -> None:
    random = np.random.default_rng(0)
    signals, decisions = drawn(30_000, random)
    for times, warned in ((1.0, 0), (1e5, 1)):
        decisions[random.choice(30_000, 3000, replace=False)] *= times
        model = fl.RegionRegressor(fl.Minkowski.box(2), cost=[0, 1], trainer=Convex(ridge=0.0))
        told = model.fit(fl.Chunks((signals, decisions))).result_.warnings
        assert sum("samples that were checked: decisions" in text for text in told) == warned
