"""What single decisions rest on."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import feaslearn as fl
import trust as trust_benchmark
from feaslearn.exceptions import FeaslearnWarning, UnseenLimitWarning
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
