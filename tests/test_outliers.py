"""Gross outliers: robust fits still find the right region; others are warned of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.trainers import Annealing, Convex
from registry import fit_rows

Array = NDArray[np.float64]


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
