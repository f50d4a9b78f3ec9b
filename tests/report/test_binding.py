"""Calendars of rows, and the limits that are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.regressor.limits import limits_at
from feaslearn.report.binding import binding_limits, calendar, duration


@pytest.mark.parametrize(
    ("step", "count", "shape", "unit", "first"),
    [
        ("h", 80, (24, 4), "day", 0.0),
        ("D", 80, (7, 12), "week", 0.0),
        ("h", 24 * 90, (24, 14), "week", 24.0),  # of the hours 0, 24 and 48: weeks begin later
    ],
)
def test_cells_of_a_calendar(
    step: str, count: int, shape: tuple[int, int], unit: str, first: float
) -> None:
    times = pd.date_range("2025-03-03", periods=count, freq=step).to_numpy("datetime64[s]")
    when = calendar(times)
    means = when.mean(np.arange(float(count)))
    assert (means.shape, when.unit) == (shape, unit)
    assert np.isnan(means).sum() == max(0, np.prod(shape) - count)
    assert means[0, 0] == pytest.approx(first)


def test_limits_that_bind_and_their_prices_in_falling_order() -> None:
    data = fl.datasets.make_power5(80, line_capacity=1.5, random_state=0)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    model.fit(data.signals, data.decisions)
    shown = binding_limits(limits_at(model, data.signals))
    assert shown
    assert all(limit.is_facet and limit.binds.any() for limit in shown)
    share, prices = duration(shown[0].prices)
    assert (share[0], share[-1]) == (0.0, 100.0)
    assert (np.diff(prices) <= 0.0).all()
    assert prices[0] == shown[0].prices.max()
