"""What single decisions rest on, and bands for the next one."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import feaslearn as fl
import trust as trust_benchmark
from feaslearn.exceptions import (
    DataError,
    FeaslearnWarning,
    NotFittedError,
    UnseenLimitWarning,
    UnsupportedError,
)
from feaslearn.regressor import Trust
from registry import fit_rows, fit_to


@cache
def power() -> tuple[fl.Decisions, fl.RegionRegressor]:
    data = fl.datasets.make_power5(600, line_capacity=1.2, random_state=3)
    return data, fit_to(data[:500], fl.Facets())


def what_if(factor: float) -> tuple[np.ndarray, np.ndarray, Trust]:
    """Return what happens if plant 5 costs so many times as much: truth, decisions, trust."""
    data, model = power()
    costs = data.cost_matrix[500:] * [1.0, 1.0, factor]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenLimitWarning)
        found, trust = model.predict(data.signals[500:], costs=costs, return_trust=True)
    assert data.forward is not None
    truth = data.forward.solve(data.signals[500:], costs)
    return np.asarray(truth), found, trust


def test_ordinary_predictions_are_silent_and_trusted() -> None:
    data, model = power()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FeaslearnWarning)
        found, trust = model.predict(data.signals[500:], return_trust=True)
        assert np.array_equal(found, model.predict(data.signals[500:]))
    assert trust.trusted.all()
    assert trust.in_range.all() or trust.counts.get("out of range", 0) < 5
    assert not trust.unseen.any()
    names = {name for text in trust.rests_on for name in text.split()}
    assert names <= {"facet_1", "facet_2", "facet_3", "x0<=", "x1<=", "x2>="}


def test_decisions_on_limits_never_seen_are_marked() -> None:
    data, model = power()
    truth, found, trust = what_if(0.1)
    wrong = np.abs(truth - found).max(axis=1) > 0.01
    assert wrong.mean() > 0.5
    assert not (wrong & trust.trusted).any()
    assert (trust.status[wrong] == "not seen").all()
    assert "x2<=" in trust.limits
    with pytest.warns(UnseenLimitWarning, match=r"100 of 100 decisions.*x2<="):
        model.predict(data.signals[500:], costs=data.cost_matrix[500:] * [1.0, 1.0, 0.1])


def test_a_what_if_on_limits_that_were_seen_is_trusted_and_right() -> None:
    truth, found, trust = what_if(2.0)
    assert trust.trusted.mean() > 0.9
    assert np.abs(truth - found)[trust.trusted].max() < 1e-6


def test_other_hypotheses_know_what_they_have_not_seen() -> None:
    hypothesis = fl.Minkowski.hypersimplices(3)
    data = fl.datasets.make_power5(200, random_state=0)
    model = fit_to(data[:150], hypothesis)
    found, trust = model.predict(data.signals[150:], return_trust=True)
    assert np.array_equal(found, model.predict(data.signals[150:]))
    assert trust.unseen.mean() < 0.1
    costs = np.tile([1.0, 0.9, 0.1], (50, 1))
    with pytest.warns(UnseenLimitWarning, match="x2<="):
        _, trust = model.predict(data.signals[150:], costs=costs, return_trust=True)
    assert trust.unseen.mean() > 0.9


def test_known_limits_need_not_be_seen() -> None:
    data = fl.datasets.make_power5(200, random_state=0)
    demand = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
    known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), demand))
    model = fit_to(data[:150], fl.Facets(), known=known)
    costs = np.tile([1.0, 0.9, 0.1], (50, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenLimitWarning)
        _, trust = model.predict(data.signals[150:], costs=costs, return_trust=True)
    assert trust.trusted.all()


def test_bounds_and_explanations_mark_what_one_row_reached() -> None:
    _, model = power()
    assert "upper not seen" in model.facets_.bounds[2]
    limits = {(limit.decision, limit.side): limit for limit in model.explain().limits}
    assert not limits["x0", "lower"].pinned
    assert not limits["x2", "upper"].pinned
    # The plant is at 0 in a quarter of the samples, however often a facet limits it.
    assert limits["x2", "lower"].share == pytest.approx(0.25, abs=0.01)
    assert "stable" not in str(model.facets_)


def test_rows_near_a_missing_limit_and_prices_out_of_range_are_not_trusted() -> None:
    world = trust_benchmark.WORLDS["grid, 39 buses"](500, 0)
    n = world.n
    exact = world.solve(world.signals, world.signals[:, :n])
    model = fit_rows(world.signals[:300], exact[:300], fl.Facets())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        found, trust = model.predict(world.signals[300:], return_trust=True)
        what_if = model.predict(
            world.signals[300:],
            costs=np.roll(world.signals[300:, :n], 1, axis=1),
            return_trust=True,
        )[1]
    room = 0.01 * np.ptp(exact[:300], axis=0) + 1e-6 * np.abs(exact).max(axis=0)
    right = (np.abs(found - exact[300:]) <= room).all(axis=1)
    assert right[trust.trusted].mean() > right.mean() + 0.02
    assert not what_if.in_range.any()


def test_decisions_between_which_errors_do_not_tell_are_ties() -> None:
    world = trust_benchmark.paths(600, 0)
    exact = world.solve(world.signals, world.signals)
    noisy = exact + 0.02 * np.random.default_rng(0).normal(size=exact.shape)
    counts = []
    for decisions in (exact, noisy):
        model = fit_rows(world.signals[:300], decisions[:300], fl.Facets())
        counts.append(model.predict(world.signals[300:], return_trust=True)[1].counts.get("tie", 0))
    assert counts[0] == 0
    assert 0 < counts[1] < 60


# Bands for the next decision.


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
