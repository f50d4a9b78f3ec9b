"""Whether rows could have done better with a mixture of what others did."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.inference.data_checks import HullTest, find_dominated


def hull(features: np.ndarray, costs: np.ndarray, x: np.ndarray, error: float) -> HullTest:
    whole = np.column_stack([np.ones(len(features)), features])
    return find_dominated(Block(whole, costs, x, np.ones(len(x))), error, np.inf)


@pytest.mark.parametrize(
    ("of", "unit"), [("decisions", 1e-9), ("decisions", 1e5), ("features", 1e9), ("costs", 1e-7)]
)
def test_a_row_that_a_mixture_dominates_is_found_in_any_units(of: str, unit: float) -> None:
    data = fl.datasets.make_power5(40, random_state=0)
    costs, features = data.signals[:, :3], data.signals[:, 3:]
    wrong = data.decisions.copy()
    wrong[5] += 0.3
    wrong[5, costs[5].argmax()] -= 0.9
    sizes = {"features": 1.0, "costs": 1.0, "decisions": 1.0} | {of: unit}
    for decisions, expected in ((data.decisions, []), (wrong, [5])):
        test = hull(
            sizes["features"] * features,
            sizes["costs"] * costs,
            sizes["decisions"] * decisions,
            1e-6 * sizes["decisions"],
        )
        assert test.tested == 40
        assert test.common() == expected


@pytest.mark.parametrize(("excess", "dearer"), [(1.5, False), (3.0, True)])
def test_a_mixture_is_cheaper_from_twice_the_error_on(excess: float, dearer: bool) -> None:
    """Between two decisions that may each be off by the error lies twice the error."""
    decisions = np.array([[0.0], [1.0], [0.5 + excess * 1e-6]])
    test = hull(np.array([[0.0], [1.0], [0.5]]), np.ones((3, 1)), decisions, 1e-6)
    assert test.common() == ([0, 1, 2] if dearer else [])


def test_rows_without_prices_and_without_time_are_not_tested() -> None:
    features, x = np.array([[0.0], [1.0], [0.5]]), np.array([[0.0], [1.0], [3.0]])
    assert hull(features, np.zeros((3, 1)), x, 1e-6) == HullTest([], 3)
    block = Block(np.column_stack([np.ones(3), features]), np.ones((3, 1)), x, np.ones(3))
    assert find_dominated(block, 1e-6, 0.0) == HullTest([], 0)
