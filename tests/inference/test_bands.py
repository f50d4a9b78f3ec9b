"""Bands are what their formulas say."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.inference.bands import KINDS, bands_of, normal_bands


def test_bands_of_normal_draws_hold_the_share_that_they_say() -> None:
    rng = np.random.default_rng(0)
    draws = 2.0 + 3.0 * rng.normal(size=(20_000, 1))
    for kind in KINDS:
        bands = bands_of(np.array([2.0]), draws, 0.9, kind)
        assert bands.lower[0] == pytest.approx(2.0 - 1.645 * 3.0, abs=0.1)
        assert bands.upper[0] == pytest.approx(2.0 + 1.645 * 3.0, abs=0.1)
        assert bands.contains([2.0]).all()
        assert not bands.contains([8.0]).any()


def test_percentiles_follow_the_draws_and_the_basic_band_turns_them_around() -> None:
    draws = np.linspace(0.0, 1.0, 1001)[:, None] ** 2
    center = np.array([0.5])
    percentile = bands_of(center, draws, 0.9, "percentile")
    assert percentile.lower[0] == pytest.approx(0.05**2)
    assert percentile.upper[0] == pytest.approx(0.95**2)
    basic = bands_of(center, draws, 0.9, "basic")
    assert basic.lower[0] == pytest.approx(1.0 - 0.95**2)
    assert basic.upper[0] == pytest.approx(1.0 - 0.05**2)


def test_a_drift_of_the_refits_widens_the_band_by_the_bias_that_makes_it() -> None:
    rng = np.random.default_rng(1)
    bias, share = 0.7, 1.0 - np.exp(-1.0)
    # A bias that falls like one over the root of the number of distinct samples.
    drift = bias * (share**-0.5 - 1.0)
    draws = 1.0 + drift + 0.5 * rng.normal(size=(50_000, 1))
    bands = bands_of(np.array([1.0]), draws, 0.9, "bias-aware")
    assert bands.width[0] == pytest.approx(2.0 * 1.645 * np.hypot(0.5, bias), rel=0.02)
    assert bands_of(np.array([1.0]), draws, 0.9, "normal").width[0] < bands.width[0]


def test_few_draws_do_not_make_a_bias_of_their_noise() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(50, 4000))
    center = np.zeros(4000)
    aware = bands_of(center, draws, 0.9, "bias-aware").width.mean()
    plain = bands_of(center, draws, 0.9, "normal").width.mean()
    assert plain <= aware <= 1.08 * plain


def test_bands_print_and_refuse_what_they_do_not_know() -> None:
    bands = normal_bands(np.zeros((2, 3)), np.ones((2, 3)), 0.9)
    assert "6 at level 0.9" in repr(bands)
    assert bands._repr_html_().count("<td>") == 6
    for level in (0.0, 1.0, "high", True, np.nan):
        with pytest.raises(DataError, match="level"):
            normal_bands(np.zeros(1), np.ones(1), level)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="did you mean 'percentile'"):
        bands_of(np.zeros(1), np.ones((20, 1)), 0.9, "percentiles")
