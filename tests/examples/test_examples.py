"""The examples run in quick mode, and what they show holds there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest

import a_first_region
import blending_with_hidden_recipes as blending
import cold_store
import dispatch_behind_a_congested_grid as dispatch
import flexible_plant_under_prices as plant
import learned_region_in_a_market as market
import noisy_data_and_trust

Check = Callable[[Any], bool]


@pytest.fixture
def is_drawn(tmp_path: Path) -> Iterator[Check]:
    """A picture of an example is drawn, not empty, and closed again."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def check(figure: Any) -> bool:
        path = tmp_path / "picture.png"
        figure.savefig(path)
        return path.stat().st_size > 5000

    yield check
    plt.close("all")


def test_a_first_region(is_drawn: Check) -> None:
    results = a_first_region.run(quick=True)
    assert results.errors["linear policy"] > 0.1
    assert max(results.errors["two points"], results.errors["rows"]) < 1e-12
    assert is_drawn(a_first_region.draw(results))


def test_noisy_data_and_trust(is_drawn: Check) -> None:
    results = noisy_data_and_trust.run(quick=True)
    assert results.scores[50] < results.scores[200]
    assert all(each.contains(results.truth).mean() > 0.9 for each in results.bands.values())
    widths = {name: float(np.mean(each.width)) for name, each in results.bands.items()}
    assert widths["200 samples"] < widths["50 samples"]
    assert any("upper limit of x2" in limit for limit in results.unseen)
    assert is_drawn(noisy_data_and_trust.draw(results))


def test_the_published_optimum_of_blending() -> None:
    """GLPK reports 296.2166065 for its model ``plan``."""
    problem = blending.foundry()
    value = problem.optimal_value([[*blending.PRICES, blending.ORDER]], [blending.PRICES])
    assert value[0] == pytest.approx(296.2166065, abs=1e-6)


def test_the_recipe_is_recovered(is_drawn: Check) -> None:
    results = blending.run(quick=True)
    for scores in results.scores.values():
        ours = scores.pop(blending.OURS)
        assert ours.r2 > 0.95
        assert ours.r2 > max(other.r2 for other in scores.values()) + 0.2
        assert abs(ours.cost) < 0.2
        scores[blending.OURS] = ours
    for name in ("iron at most", "manganese at most", "aluminium at least"):
        assert results.binds[name] > 30
        assert results.angles[name] < 0.01
    assert "magnesium at most" not in results.binds
    assert is_drawn(blending.draw(results))


def test_a_row_binds_where_the_purchase_says_so() -> None:
    data = blending.observe(40)
    rows = blending.binding_rows(data)
    assert rows["silicon at least"][1] == 40
    assert 0 < rows["copper at most"][1] < 10


@pytest.mark.soak
def test_the_learned_region_is_ahead(is_drawn: Check) -> None:
    results = dispatch.run(quick=True)
    assert [case for case, _ in results] == list(dispatch.CASES)
    for scores in results.values():
        ours = scores.pop(dispatch.OURS)
        assert ours.r2 > 0.85
        assert ours.r2 > max(other.r2 for other in scores.values()) + 0.2
        assert ours.off < min(other.off for other in scores.values())
        # Cheaper than the optimum is possible only for what the grid cannot carry.
        assert scores[dispatch.NO_LINES].cost < -1.0
        assert scores[dispatch.NO_LINES].off > 10.0
    assert is_drawn(dispatch.draw(example_scores()))


def example_scores() -> dict[tuple[str, int], dict[str, dispatch.Score]]:
    one = dispatch.Score(r2=0.5, cost=1.0, off=2.0, carried=0.5, seconds=1.0)
    return {
        ("a", 100): {dispatch.OURS: one, "ridge": one._replace(r2=-1.0)},
        ("b", 100): {"c": one},
    }


def test_training_days_and_test_days_differ() -> None:
    """Find the hour of each sample again from the proportions of its loads."""
    shares = np.loadtxt(dispatch.DATA / "ercot_zone_loads.csv", delimiter=",", skiprows=1)
    assert shares.shape == (8244, 8)
    assert (shares.max(axis=0) == 1.0).all()
    grid, train, test = dispatch.observe("case118_ieee", 50, 20)
    highest = np.bincount((grid.buses - 1) % 8, weights=grid.loads)
    n = len(grid.generators)
    for data, is_test in ((train, False), (test, True)):
        for loads in data.signals[:, n:] / highest:
            hour = np.abs(shares - loads).max(axis=1).argmin()
            np.testing.assert_allclose(shares[hour], loads)
            assert (hour // 24 % 4 == 3) == is_test


@pytest.mark.soak
def test_one_optimum_in_three_tools(is_drawn: Check) -> None:
    results = market.run(quick=True)
    assert set(results.optima) == {"CVXPY", "Pyomo", "MPS"}
    for tool in ("Pyomo", "MPS"):
        np.testing.assert_allclose(results.optima[tool], results.optima["CVXPY"], rtol=1e-7)
    regrets = dict(results.regrets)
    assert all((each > -1e-4).all() for each in regrets.values())
    ours = regrets.pop(market.OURS)
    assert ours.mean() < 5.0
    assert ours.mean() < 0.2 * min(each.mean() for each in regrets.values())
    assert is_drawn(market.draw(results))


def test_the_plant_in_cvxpy_is_the_plant() -> None:
    """The cheapest schedule of one implementation costs what that of the other does."""
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


def test_the_store_is_found(is_drawn: Check) -> None:
    train, _ = plant.days(quick=True)
    assert abs(plant.find_keep(train) - cold_store.KEEP) < 1e-5
    score = plant.Score(0.9, 0.1, 0.2, 1.0)
    assert is_drawn(plant.draw(plant.Results({"a": {plant.OURS: score, "b": score}}, np.eye(24))))
