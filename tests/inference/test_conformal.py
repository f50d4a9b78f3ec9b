"""Bands for the next decision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError, UnsupportedError
from registry import fit_to


def fitted(noise: float = 0.2, count: int = 150) -> tuple[fl.Decisions, fl.RegionRegressor]:
    data = fl.datasets.make_power5(1150, noise=noise, random_state=0)
    return data, fit_to(data[:count], fl.Minkowski.hypersimplices(3))


@pytest.mark.parametrize("rows", [60, 200])
def test_split_bands_cover(rows: int) -> None:
    data, model = fitted()
    model.conformalize(data.signals[150 : 150 + rows], data.decisions[150 : 150 + rows])
    bands = model.predict_interval(data.signals[500:])
    covered = bands.contains(data.decisions[500:])
    assert 0.84 < covered.all(axis=1).mean() < 0.97
    assert bands.level == 0.9
    assert "1950 at level 0.9" in repr(bands)
    each = model.predict_interval(data.signals[500:], joint=False)
    assert np.abs(each.contains(data.decisions[500:]).mean(axis=0) - 0.9).max() < 0.08
    assert each.width.mean() < bands.width.mean()
    narrow = model.predict_interval(data.signals[500:], confidence_level=0.5)
    assert (narrow.width <= bands.width + 1e-12).all()


def test_cross_bands_cover_and_need_no_other_rows() -> None:
    data, model = fitted(count=60)
    model.conformalize(data.signals[:60], data.decisions[:60], method="cross")
    bands = model.predict_interval(data.signals[500:700])
    assert bands.contains(data.decisions[500:700]).all(axis=1).mean() > 0.8


def test_bands_in_time_follow_the_last_rows() -> None:
    data, model = fitted()
    decisions = data.decisions.copy()
    decisions[300:] += np.random.default_rng(0).normal(size=decisions[300:].shape)
    widths = []
    for method in ("split", "time"):
        model.conformalize(data.signals[150:400], decisions[150:400], method=method)
        widths.append(model.predict_interval(data.signals[500:]).width.mean())
    assert widths[1] > widths[0]


@pytest.mark.parametrize("method", ["split", "cross"])
def test_bands_lie_in_the_region_and_its_tolerance(method: str) -> None:
    data, model = fitted(noise=0.0)
    model.conformalize(data.signals[150:400], data.decisions[150:400], method=method)
    bands = model.predict_interval(data.signals[500:600])
    ends = [model.region(signal) for signal in data.signals[500:510]]
    for i, region in enumerate(ends):
        low = [-region.support(-axis) for axis in np.eye(3)]
        high = [region.support(axis) for axis in np.eye(3)]
        room = bands.width[i] + 1e-9
        assert (bands.lower[i] >= low - room).all()
        assert (bands.upper[i] <= high + room).all()
    assert (bands.lower <= bands.center).all()
    assert (bands.center <= bands.upper).all()


def test_a_file_keeps_the_calibration_by_folds(tmp_path: Path) -> None:
    data, model = fitted(count=60)
    model.conformalize(data.signals[150:300], data.decisions[150:300], method="cross")
    fl.save(model, tmp_path / "model.json")
    again = fl.load(tmp_path / "model.json").predict_interval(data.signals[500:520])
    assert np.array_equal(again.width, model.predict_interval(data.signals[500:520]).width)


def test_what_is_refused() -> None:
    data, model = fitted()
    with pytest.raises(NotFittedError, match="conformalize first"):
        model.predict_interval(data.signals[:3])
    with pytest.raises(DataError, match="at least 9 rows"):
        model.conformalize(data.signals[150:155], data.decisions[150:155])
    with pytest.raises(UnsupportedError, match="method"):
        model.conformalize(data.signals, data.decisions, method="jackknife")
    model.conformalize(data.signals[150:200], data.decisions[150:200])
    for level in (0.0, 1.0, "high", True, np.nan):
        with pytest.raises(DataError, match="level"):
            model.predict_interval(data.signals, confidence_level=level)
    assert model.fit(data.signals[:100], data.decisions[:100]).conformal_ is None
