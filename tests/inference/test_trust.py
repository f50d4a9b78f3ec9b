"""What single decisions rest on, bands for the next one, and what data pinned."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
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
from feaslearn.hypotheses.hypothesis import Hypothesis
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


# What data pinned, what they did not show, and what carries a region.

UNITS = ["unit 1", "unit 2", "unit 3"]
COSTS = ["c1", "c2", "c3"]
CAPACITY = 3.5


def dispatch(dearest: float = 2.0, count: int = 120) -> tuple[object, object]:
    """Return signals and merit-order dispatch of three units, as frames."""
    rng = np.random.default_rng(0)
    costs = np.column_stack([rng.uniform(0.2, 1.0, (count, 2)), np.full(count, dearest)])
    demand = rng.uniform(2.0, 8.0, count)
    decisions, left = np.zeros((count, 3)), demand.copy()
    for place in np.argsort(costs, axis=1).T:
        taken = np.minimum(CAPACITY, left)
        decisions[np.arange(count), place] = taken
        left -= taken
    X = pd.DataFrame(np.column_stack([costs, demand]), columns=[*COSTS, "demand"])
    return X, pd.DataFrame(decisions, columns=UNITS)


def fitted_to_frames(
    hypothesis: object, X: object, y: object, **parameters: object
) -> fl.RegionRegressor:
    return fit_rows(X, y, hypothesis, **({"cost": COSTS} | parameters))


HYPOTHESES = {
    "minkowski": fl.Minkowski.hypersimplices(3),
    "facets": fl.Facets(),
    "affine": fl.Affine(fl.Simplex(3)),
    "auto": None,
}


@pytest.mark.parametrize("name", HYPOTHESES)
def test_prices_that_never_reward_a_unit_say_nothing_about_its_upper_limit(name: str) -> None:
    trainer = fl.trainers.Annealing(n_starts=1, ridge=1e-4) if name == "affine" else "auto"
    explained = fitted_to_frames(HYPOTHESES[name], *dispatch(), trainer=trainer).explain()
    limits = {(limit.decision, limit.side): limit for limit in explained.limits}
    assert not limits["unit 3", "upper"].pinned
    assert limits["unit 3", "lower"].pinned
    if name != "affine":
        assert limits["unit 1", "upper"].pinned
        assert limits["unit 2", "upper"].pinned
    text = "the data say nothing about the upper limit of unit 3"
    assert text in str(explained)
    assert explained.carriers


def test_a_unit_that_is_rewarded_is_seen() -> None:
    X, y = dispatch()
    turned = X.copy()
    turned["c1"], turned["c3"] = X["c3"], X["c1"]
    swapped = y.copy()
    swapped["unit 1"], swapped["unit 3"] = y["unit 3"], y["unit 1"]
    both = pd.concat([X, turned]), pd.concat([y, swapped])
    for hypothesis in (fl.Minkowski.hypersimplices(3), fl.Facets()):
        limits = fitted_to_frames(hypothesis, *both).explain().limits
        upper = {limit.decision: limit.share for limit in limits if limit.side == "upper"}
        assert upper["unit 3"] > 0.1
        assert upper["unit 1"] > 0.1


def test_a_signal_outside_the_training_range_is_measured() -> None:
    X, y = dispatch()
    model = fitted_to_frames(fl.Minkowski.hypersimplices(3), X, y)
    inside = model.explain(X.iloc[4])
    assert inside.outside == ()
    assert inside.price_angle < 10.0
    assert "within the range" in str(inside)
    far = X.iloc[[4]].copy()
    far["demand"] = X["demand"].max() + 0.5 * np.ptp(X["demand"])
    far["c3"] = 3.0
    (price, demand) = sorted(model.explain(far).outside, key=lambda each: each.column)
    assert (price.column, demand.column) == ("c3", "demand")
    assert demand.ranges == pytest.approx(0.5)
    assert price.ranges == np.inf
    assert "always 2" in str(price)
    assert "0.5 times that range" in str(demand)


def test_a_decision_at_a_limit_that_was_not_seen_is_a_remark() -> None:
    X, y = dispatch()
    model = fitted_to_frames(fl.Minkowski.hypersimplices(3), X, y)
    signal = X.iloc[[0]].copy()
    assert model.explain(signal).remarks == ()
    explained = model.explain(signal, costs=[2.0, 1.0, 0.1])
    assert any("upper limit of unit 3" in text for text in explained.remarks)
    assert explained.price_angle > 30.0


def test_bad_input_is_said() -> None:
    X, y = dispatch()
    with pytest.raises(NotFittedError):
        fl.RegionRegressor().explain()
    model = fitted_to_frames(fl.Minkowski.hypersimplices(3), X, y)
    with pytest.raises(DataError, match="2 signals"):
        model.explain(X.iloc[:2])
    with pytest.raises(DataError, match="without a signal"):
        model.explain(costs=[1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="costs"):
        model.explain(X.iloc[0], costs=[1.0, 2.0])


@pytest.mark.parametrize("hypothesis", [fl.Facets(), fl.Minkowski.hypersimplices(3)], ids=repr)
def test_what_is_known_counts_where_limits_are_looked_for(hypothesis: Hypothesis) -> None:
    data = fl.datasets.make_power5(100, random_state=0)
    demand = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
    known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), demand))
    explained = fit_to(data, hypothesis, known=known).explain(data.signals[0])
    pinned = {(limit.decision, limit.side) for limit in explained.limits if limit.pinned}
    # The second plant is the cheapest, the third the most expensive.
    assert {("x1", "upper"), ("x2", "lower")} <= pinned
    assert not {("x1", "lower"), ("x2", "upper")} & pinned
    assert "lower limit of x1 is known, and no sample shows it" in str(explained)
