"""The learned region gives one optimum in three tools, and a joint plan that is worth its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cold_store
import flexible_plant_under_prices as plant
import learned_region_in_a_market as example


@pytest.mark.soak
def test_one_optimum_in_three_tools(is_drawn: Callable[[Any], bool]) -> None:
    results = example.run(quick=True)
    assert set(results.optima) == {"CVXPY", "Pyomo", "MPS"}
    for tool in ("Pyomo", "MPS"):
        np.testing.assert_allclose(results.optima[tool], results.optima["CVXPY"], rtol=1e-7)
    regrets = dict(results.regrets)
    assert all((each > -1e-4).all() for each in regrets.values())
    ours = regrets.pop(example.OURS)
    assert ours.mean() < 5.0
    assert ours.mean() < 0.2 * min(each.mean() for each in regrets.values())
    assert is_drawn(example.draw(results))


def test_the_plant_in_cvxpy_is_the_plant() -> None:
    """The cheapest schedule of one implementation costs what that of the other does."""
    import cvxpy as cp

    _, data = cold_store.observe()
    power = cp.Variable(24)
    for i in (3, 400):
        price, heat = data.signals[i, :24], data.signals[i, 24]
        problem = cp.Problem(cp.Minimize(price @ power), cold_store.in_cvxpy(power, heat))
        best = problem.solve(solver=cp.HIGHS)
        np.testing.assert_allclose(best, price @ data.decisions[i], rtol=1e-7)


def test_days_are_divided_by_date() -> None:
    dates, data = cold_store.observe()
    train, test = plant.days(quick=False)
    assert len(train) + len(test) == len(data) == 726
    assert len(train) == (dates < np.datetime64("2022-07-01")).sum() == 543
    assert (data.signals[:, :24] >= 0.0).all()


def test_the_store_is_found(is_drawn: Callable[[Any], bool]) -> None:
    train, _ = plant.days(quick=True)
    assert abs(plant.find_keep(train) - cold_store.KEEP) < 1e-5
    score = plant.Score(0.9, 0.1, 0.2, 1.0)
    assert is_drawn(plant.draw(plant.Results({"a": {plant.OURS: score, "b": score}}, np.eye(24))))
