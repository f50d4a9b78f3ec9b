"""Learned regions in the words of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd

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
