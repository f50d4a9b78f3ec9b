"""Rows that could have done better with a mixture of what others did, or do not add up."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import feaslearn as fl
from common.logs import draw
from feaslearn.data import Block
from feaslearn.exceptions import RoleWarning
from feaslearn.inference.data_checks import HullTest, check_data, find_dominated
from feaslearn.inference.roles import Roles, check_roles
from roles import NAMES, SETS, draw_market, roles_of, wrong_inputs


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


def test_rows_that_do_not_add_up_are_named() -> None:
    log = draw("power5", "shed", 0.02, 2)
    n = log.decisions.shape[1]
    counts = zip("scx", (log.signals.shape[1] - n, n, n), strict=True)
    names = [[f"{what}{j}" for j in range(count)] for what, count in counts]
    roles = Roles(log.signals[:, n:], log.signals[:, :n], log.decisions, *names)
    found = next(each for each in check_data(roles) if each.check == "balance")
    assert found.level == "note"
    assert f"in {int((~log.odd).sum())} of {len(log.odd)} rows" in found.text
    assert f"not in rows {np.flatnonzero(log.odd)[0]}; " in found.text


# Wrong roles of columns are noticed, right ones are not.


def wrong(given: Roles) -> list[str]:
    return [found.check for found in check_roles(given) if found.level == "no"]


@pytest.mark.parametrize("name", SETS)
def test_right_roles_are_right(name: str) -> None:
    assert wrong(roles_of(SETS[name](1))) == []


@pytest.mark.parametrize("seed", range(3))
def test_right_roles_of_random_worlds_are_right(seed: int) -> None:
    assert wrong(draw_market(seed)[1]) == []


@pytest.mark.parametrize("name", ["power5, lines", "l1 ball", "switch", "plant"])
def test_wrong_inputs_are_noticed_and_named(name: str) -> None:
    for what, given in wrong_inputs(roles_of(SETS[name](0))):
        # Where prices decide between two plants alone, exchanged prices are another sense, and
        # what is swapped may as well be in another order.
        known = (NAMES[what], "sense", "order") if what in ("order", "swapped") else (NAMES[what],)
        assert wrong(given)[0] in known, what


@pytest.fixture(scope="module")
def power() -> Roles:
    return roles_of(fl.datasets.make_power5(1000, line_capacity=1.6, random_state=0))


def test_repairs_name_the_mistake(power: Roles) -> None:
    for what, given in wrong_inputs(power):
        words = {"sense": "sense='min'", "demands": "demands", "swapped": "swapped"}
        assert words.get(what, "") in str(check_roles(given)[0])


def test_standardised_prices(power: Roles) -> None:
    assert wrong(power._replace(costs=StandardScaler().fit_transform(power.costs))) == ["prices"]
    centred = power.costs - power.costs.mean(axis=0)
    assert wrong(power._replace(costs=centred / power.costs.std(axis=0, ddof=1))) == ["prices"]


def test_one_decision_in_another_unit(power: Roles) -> None:
    for factor in (1000.0, 0.001):
        found = check_roles(power._replace(decisions=power.decisions * [1.0, factor, 1.0]))[0]
        assert found.check == "units"
        assert "1000 of" in str(found)
        assert "'x1'" in str(found)


@pytest.mark.parametrize("count", [1, 5, 19])
def test_few_rows_tell_nothing(power: Roles, count: int) -> None:
    some = power._replace(
        signals=power.signals[:count], costs=power.costs[:count], decisions=power.decisions[:count]
    )
    assert [found.level for found in check_roles(some)] == ["unknown"]
    assert "too few rows to tell" in str(check_roles(some)[0])


def test_fit_warns_and_is_silent_where_roles_are_right() -> None:
    data = fl.datasets.make_power5(200, random_state=0)
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=data.cost, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoleWarning)
        model.fit(data.signals, data.decisions)
    scaled = StandardScaler().fit_transform(data.signals)
    with pytest.warns(RoleWarning, match="mean 0 and standard deviation 1"):
        model.fit(scaled, data.decisions)
