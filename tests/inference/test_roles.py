"""Wrong roles of columns are noticed, right ones are not."""

from __future__ import annotations

import warnings

import pytest
from sklearn.preprocessing import StandardScaler

import feaslearn as fl
from feaslearn.exceptions import RoleWarning
from feaslearn.inference.roles import Roles, check_roles
from roles import NAMES, SETS, draw_market, roles_of, wrong_inputs


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
        signals=power.signals[:count],
        costs=power.costs[:count],
        decisions=power.decisions[:count],
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
