"""The example runs in quick mode, and what it shows holds there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dispatch_behind_a_congested_grid as example


@pytest.mark.soak
def test_the_learned_region_is_ahead(is_drawn: Callable[[Any], bool]) -> None:
    results = example.run(quick=True)
    assert [case for case, _ in results] == list(example.CASES)
    for scores in results.values():
        ours = scores.pop(example.OURS)
        assert ours.r2 > 0.85
        assert ours.r2 > max(other.r2 for other in scores.values()) + 0.2
        assert ours.off < min(other.off for other in scores.values())
        # Cheaper than the optimum is possible only for what the grid cannot carry.
        assert scores[example.NO_LINES].cost < -1.0
        assert scores[example.NO_LINES].off > 10.0
    assert is_drawn(example.draw(example_scores()))


def example_scores() -> dict[tuple[str, int], dict[str, example.Score]]:
    one = example.Score(r2=0.5, cost=1.0, off=2.0, carried=0.5, seconds=1.0)
    return {("a", 100): {example.OURS: one, "ridge": one._replace(r2=-1.0)}, ("b", 100): {"c": one}}


def test_training_days_and_test_days_differ() -> None:
    """Find the hour of each sample again from the proportions of its loads."""
    shares = np.loadtxt(example.DATA / "ercot_zone_loads.csv", delimiter=",", skiprows=1)
    assert shares.shape == (8244, 8)
    assert (shares.max(axis=0) == 1.0).all()
    grid, train, test = example.observe("case118_ieee", 50, 20)
    highest = np.bincount((grid.buses - 1) % 8, weights=grid.loads)
    n = len(grid.generators)
    for data, is_test in ((train, False), (test, True)):
        for loads in data.signals[:, n:] / highest:
            hour = np.abs(shares - loads).max(axis=1).argmin()
            np.testing.assert_allclose(shares[hour], loads)
            assert (hour // 24 % 4 == 3) == is_test
