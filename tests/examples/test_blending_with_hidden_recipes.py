"""The example runs in quick mode, and what it shows holds there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import blending_with_hidden_recipes as example


def test_the_published_optimum() -> None:
    """GLPK reports 296.2166065 for its model ``plan``."""
    problem = example.foundry()
    value = problem.optimal_value([[*example.PRICES, example.ORDER]], [example.PRICES])
    assert value[0] == pytest.approx(296.2166065, abs=1e-6)


def test_the_recipe_is_recovered(is_drawn: Callable[[Any], bool]) -> None:
    results = example.run(quick=True)
    for scores in results.scores.values():
        ours = scores.pop(example.OURS)
        assert ours.r2 > 0.95
        assert ours.r2 > max(other.r2 for other in scores.values()) + 0.2
        assert abs(ours.cost) < 0.2
        scores[example.OURS] = ours
    for name in ("iron at most", "manganese at most", "aluminium at least"):
        assert results.binds[name] > 30
        assert results.angles[name] < 0.01
    assert "magnesium at most" not in results.binds
    assert is_drawn(example.draw(results))


def test_a_row_binds_where_the_purchase_says_so() -> None:
    data = example.observe(40)
    rows = example.binding_rows(data)
    assert rows["silicon at least"][1] == 40
    assert 0 < rows["copper at most"][1] < 10
