"""Learned regions in the words of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl


def test_a_minkowski_sum_says_what_can_be_done() -> None:
    random = np.random.default_rng(0)
    prices, demand = random.uniform(size=(80, 2)), random.uniform(1.0, 9.0, 80)
    frame = pd.DataFrame({"cost a": prices[:, 0], "cost b": prices[:, 1], "demand": demand})
    cheap = prices.argmin(axis=1)
    decisions = pd.DataFrame(demand[:, None] * np.eye(2)[cheap], columns=["unit 2", "unit 5"])
    model = fl.RegionRegressor(
        fl.Minkowski.pairs(2, offset=False), cost=["cost a", "cost b"], random_state=0
    ).fit(frame, decisions)
    region = model.region(pd.DataFrame([[0.1, 0.2, 6.1]], columns=frame.columns))
    assert region.account == ("can shift up to 6.1 between unit 2 and unit 5 when demand is 6.1",)
    assert region.describe().splitlines()[1:] == [
        "unit 2 lies in [0, 6.1]",
        "unit 5 lies in [0, 6.1]",
    ]
    assert region.contains([[6.1, 0.0], [3.0, 3.1], [6.1, 6.1]]).tolist() == [True, True, False]
    np.testing.assert_allclose(np.sort(region.vertices(), axis=0), [[0.0, 0.0], [6.1, 6.1]])


def test_other_regions_say_their_ranges() -> None:
    data = fl.datasets.make_l1_ball(50, n=2, low=-1.0, random_state=0)
    model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost)
    region = model.fit(data.signals, data.decisions).region(data.signals[0])
    assert region.account == ()
    assert region.describe() == "x0 lies in [0, 2]\nx1 lies in [0, 2]"
    assert region.optimal_face([1.0, 0.0]).account == ()


def test_many_features_are_not_all_named() -> None:
    random = np.random.default_rng(0)
    signals = random.uniform(size=(60, 10))
    decisions = np.eye(2)[signals[:, :2].argmin(axis=1)]
    model = fl.RegionRegressor(fl.Minkowski.pairs(2), cost=[0, 1], random_state=0)
    said = model.fit(signals, decisions).region(signals[0]).account[0]
    assert said.count(" is ") == 6
    assert said.endswith(" and 2 more")
    with pytest.raises(fl.exceptions.NotFittedError):
        fl.RegionRegressor(fl.Minkowski("auto"), cost=[0, 1]).region(signals[0])
