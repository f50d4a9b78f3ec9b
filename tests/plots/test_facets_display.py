"""The picture of learned facets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.plots import FacetsDisplay

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


def test_the_most_binding_ones_are_shown(model: fl.RegionRegressor) -> None:
    display = FacetsDisplay.from_estimator(model, most=1)
    assert len(display.axes_[2].patches) == 1


def test_nothing_to_draw() -> None:
    data = fl.datasets.make_power5(60, line_capacity=100.0, random_state=0)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    with pytest.raises(DataError, match="no facets"):
        FacetsDisplay.from_estimator(model.fit(data.signals, data.decisions))
