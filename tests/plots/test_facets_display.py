"""The picture of learned facets."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.plots import FacetsDisplay, FacetsOverTimeDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def model() -> fl.RegionRegressor:
    data = fl.datasets.make_power5(150, line_capacity=1.2, random_state=0)
    signals = pd.DataFrame(data.signals, columns=[f"s{j}" for j in range(8)])
    decisions = pd.DataFrame(
        data.decisions, columns=["hydro", "$gas$", "a very long name of a unit"]
    )
    return fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0).fit(signals, decisions)


def test_every_facet_has_a_row(model: fl.RegionRegressor, tmp_path: Path) -> None:
    display = FacetsDisplay.from_estimator(model)
    decisions, features, bars = display.axes_
    m = len(model.facets_)
    assert m > 0
    assert decisions.images[0].get_array().shape == (m, 3)
    assert features.images[0].get_array().shape == (m, 5)
    widths = [bar.get_width() for bar in bars.patches]
    assert widths == [facet.binds for facet in model.facets_]
    names = [label.get_text() for label in decisions.get_xticklabels()]
    assert names == ["hydro", "$gas$", "a very long name …"]
    display.figure_.savefig(tmp_path / "facets.png")
    assert np.abs(decisions.images[0].get_array()).max() == pytest.approx(1.0)


def test_the_form_is_that_of_the_text(model: fl.RegionRegressor) -> None:
    display = FacetsDisplay.from_estimator(model)
    decisions, features, _ = display.axes_
    labels = [label.get_text() for label in decisions.get_yticklabels()]
    assert labels == [facet.name for facet in model.facets_]
    # A text without a decision has no colour there, and signs are those of the text.
    for facet, row in zip(model.facets_, decisions.images[0].get_array(), strict=True):
        left = re.split(" [<>]= ", facet.text)[0]
        for name, value in zip(("hydro", "$gas$", "a very long name of a unit"), row, strict=True):
            assert (name in left) == (abs(value) > 1e-3), (facet.text, row)
            assert (f"- {name}" in left) == (value < -1e-3)
    assert features.images[0].get_array().shape[0] == len(model.facets_)


def test_when_facets_bind(model: fl.RegionRegressor) -> None:
    data = fl.datasets.make_power5(150, line_capacity=1.2, random_state=0)
    signals = pd.DataFrame(data.signals, columns=[f"s{j}" for j in range(8)])
    display = FacetsOverTimeDisplay.from_estimator(model, signals, most=2)
    assert display.axes_.shape == (2, 2)
    strip = display.axes_[0, 0].images[0].get_array()
    assert strip.shape == (1, 150)
    assert (
        f"binds in {100 * np.mean(np.ma.filled(strip, 0) > 0):.0f} %"
        in display.axes_[0, 1].get_title()
    )
    times = pd.date_range("2025-03-03", periods=150, freq="h").to_pydatetime()
    display = FacetsOverTimeDisplay.from_estimator(model, signals, times=times)
    assert display.axes_[0, 0].images[0].get_array().shape == (24, 7)
    daily = pd.date_range("2025-03-03", periods=150, freq="D").to_pydatetime()
    display = FacetsOverTimeDisplay.from_estimator(model, signals, times=daily)
    assert display.axes_[0, 0].images[0].get_array().shape[0] == 7
    with pytest.raises(DataError, match="3 times for 150 rows"):
        FacetsOverTimeDisplay.from_estimator(model, signals, times=times[:3])
    policy = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, random_state=0)
    with pytest.raises(DataError, match="no known limit binds"):
        FacetsOverTimeDisplay.from_estimator(policy.fit(data.signals, data.decisions), data.signals)
