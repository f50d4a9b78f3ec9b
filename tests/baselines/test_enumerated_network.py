"""All networks of the five regions, and what is wrong with bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError

ARGUMENTS = {
    "nodes": 5,
    "generators": [1, 3, 5],
    "generator_capacity": 3.5,
    "line_capacity": 3.5,
    "cost": [0, 1, 2],
    "demand": range(3, 8),
}
DATA = fl.datasets.make_power5(n_samples=100, random_state=0)


def enumerated(**changes: object) -> fl.baselines.EnumeratedNetwork:
    return fl.baselines.EnumeratedNetwork(**{**ARGUMENTS, **changes})


def test_labels_names_and_capacities_of_each_line() -> None:
    names = ["north", "south"]
    signals = pd.DataFrame(
        {"price_a": [1.0, 1.0], "price_b": [5.0, 5.0], "need_n": [1.0, 0.5], "need_s": [2.0, 2.5]}
    )
    model = fl.baselines.EnumeratedNetwork(
        names,
        names,
        generator_capacity=[3.0, 4.0],
        line_capacity=[0.5],
        candidate_lines=[("south", "north")],
        cost=["price_*"],
        demand=["need_n", "need_s"],
    )
    model.fit(signals, [[1.5, 1.5], [1.0, 2.0]])
    assert model.lines_ == [("south", "north")]
    np.testing.assert_allclose(model.predict(signals[:1]), [[1.5, 1.5]])
    np.testing.assert_allclose(model.predict(signals[:1], costs=[[9.0, 1.0]]), [[0.5, 2.5]])


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"line_capacity": [1.0, -2.0]}, ["line_capacity has shape (2,), expected one number, or"]),
        (
            {"known_lines": [(1, 2), (3, 4)], "forbidden_lines": [(2, 1)]},
            ["both in known_lines and in forbidden_lines: 1-2"],
        ),
        (
            {"forbidden_lines": [(5, 1), (5, 2), (5, 3), (5, 4)]},
            ["the plant at node 5 is cut off"],
        ),
        (
            {"candidate_lines": [(1, 2), (2, 1), (1, 9), (3, 3), 7], "known_lines": [(4, 5)]},
            ["2-1 is listed twice", "names 9", "joins a node to itself", "7 is not a pair", "4-5"],
        ),
        ({"nodes": 17}, ["there are 17 nodes"]),
        ({"nodes": [1, 2, 3, 5, 5]}, ["names 5 more than once"]),
        ({"generators": [1, 8, 5]}, ["a generator is at node 8"]),
        ({"demand": [3, 4]}, ["2 columns for 5 nodes"]),
        ({"cost": [0, 1]}, ["cost: the number of entries is 2"]),
        ({"line_capacity": 0.2, "loss": "squared"}, ["no network serves", "loss is 'squared'"]),
    ],
)
def test_bad_arguments_are_named(changes: dict[str, object], parts: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        enumerated(**changes).fit(DATA.signals, DATA.decisions)
    for part in parts:
        assert part in str(caught.value)


def test_bad_data_are_named() -> None:
    signals = DATA.signals.copy()
    signals[7, 4] = -0.25
    with pytest.raises(DataError, match=r"negative demand at sample 7, node 2 \(-0.25\)"):
        enumerated().fit(signals, DATA.decisions)
    signals[7, 4], signals[3, 3:] = 1.0, 9.0
    with pytest.raises(DataError, match="no network serves the demand of sample 3,"):
        enumerated().fit(signals, DATA.decisions)
    with pytest.raises(DataError, match="signals has 100 rows and decisions has 99"):
        enumerated().fit(DATA.signals, DATA.decisions[:99])
    with pytest.raises(DataError, match="decisions has 2 columns for 3 generators"):
        enumerated().fit(DATA.signals, DATA.decisions[:, :2])
    decisions = DATA.decisions.copy()
    decisions[4, 1] = np.nan
    with pytest.raises(DataError, match="row 4, column 1 is NaN"):
        enumerated().fit(DATA.signals, decisions)


def test_predictions_name_what_they_cannot_do() -> None:
    with pytest.raises(NotFittedError):
        enumerated().predict(DATA.signals)
    model = enumerated().fit(DATA.signals, DATA.decisions)
    with pytest.raises(DataError, match="8"):
        model.predict(DATA.signals[:, :7])
    high = DATA.signals[:3].copy()
    high[2, 3:] = 3.0
    with pytest.raises(DataError, match="cannot serve the demand of sample 2"):
        model.predict(high)
    with pytest.raises(DataError, match=r"costs has shape \(1, 3\)"):
        model.predict(DATA.signals, costs=[[1.0, 2.0, 3.0]])


def test_too_many_networks_are_left_to_the_learner() -> None:
    data = fl.datasets.make_ieee14(n_samples=5, random_state=0)
    model = enumerated(nodes=14, generators=[2, 8, 13], generator_capacity=3.6, demand=range(3, 17))
    with pytest.raises(DataError, match="use NetworkLearner"):
        model.fit(data.signals, data.decisions)
