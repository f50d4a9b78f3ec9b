"""Refits on samples drawn again."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnWarning, NotFittedError, SolverError
from feaslearn.regressor import bootstrap
from feaslearn.trainers import Convex


def ball(count: int = 80, seed: int = 0) -> fl.Decisions:
    return fl.datasets.make_l1_ball(count, n=2, noise=0.2, low=-1.0, random_state=seed)


def fitted(data: fl.Decisions, **parameters: object) -> fl.RegionRegressor:
    parameters = {"hypothesis": fl.Scaled(fl.L1Ball(2)), "cost": data.cost} | parameters
    return fl.RegionRegressor(**parameters).fit(data.signals, data.decisions)


def test_the_short_way_through_moments_is_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    data = fl.datasets.make_power5(60, noise=0.2, random_state=0)
    for trainer in ("auto", Convex(ridge=0.01, sparsity=0.001)):
        model = fitted(data, hypothesis=fl.Minkowski.hypersimplices(3), trainer=trainer)
        short = model.bootstrap(10, data.signals, data.decisions)
        with monkeypatch.context() as patch:
            patch.setattr(bootstrap, "_with_moments", lambda model, data: None)
            long = model.bootstrap(10, data.signals, data.decisions)
        for one, other in zip(short.refits, long.refits, strict=True):
            assert np.allclose(one.theta_, other.theta_, atol=1e-7)
            assert one.result_.objective == pytest.approx(other.result_.objective, abs=1e-9)
        assert len({refit.theta_.tobytes() for refit in short.refits}) == 10


def test_a_refit_is_a_fit_to_the_rows_that_were_drawn() -> None:
    data = ball()
    model = fitted(data)
    boot = model.bootstrap(10, data.signals, data.decisions, random_state=3)
    first = np.random.SeedSequence(int(np.random.RandomState(3).randint(2**31 - 1))).spawn(10)[0]
    drawn = np.random.default_rng(first).multinomial(80, np.full(80, 1 / 80))
    rows = np.repeat(np.arange(80), drawn)
    again = clone(model).fit(data.signals[rows], data.decisions[rows])
    assert np.allclose(boot.refits[0].theta_, again.theta_, atol=1e-9)


def test_threads_and_seeds_decide_nothing_and_everything() -> None:
    data = ball()
    model = fitted(data)
    bands = [
        model.bootstrap(12, data.signals, data.decisions, random_state=seed, n_jobs=jobs)
        .predict(data.signals)
        .width
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    ]
    assert np.array_equal(bands[0], bands[1])
    assert not np.array_equal(bands[0], bands[2])


def test_bands_on_reach_agree_with_those_on_decisions_and_shrink_with_data() -> None:
    few, many = ball(60), ball(2000)
    widths = []
    for data in (few, many):
        model = fitted(data)
        boot = model.bootstrap(40, data.signals, data.decisions)
        cost = np.array([0.2, -0.9])
        reach = boot.support(cost, -cost)
        decision = boot.predict([cost])
        assert reach.center[0] == pytest.approx(-cost @ decision.center[0])
        region = model.region(cost)
        assert boot.support(cost, np.eye(2)).center[1] == pytest.approx(region.support([0.0, 1.0]))
        widths.append(reach.width[0])
    assert widths[1] < 0.4 * widths[0]


def test_failed_refits_are_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data = ball(40)
    model = fitted(data)
    whole = bootstrap._reweighted
    left = iter(range(100))

    def some_fail(*arguments: object) -> object:
        if next(left) % 2:
            raise SolverError("no")
        return whole(*arguments)

    monkeypatch.setattr(bootstrap, "_reweighted", some_fail)
    with pytest.warns(FeaslearnWarning, match="10 of 20 refits failed"):
        boot = model.bootstrap(20, data.signals, data.decisions)
    assert len(boot.refits) == len(boot.failures) == 10
    assert "SolverError: no" in str(boot)
    assert "<table>" in boot._repr_html_()
    left = iter([0, 1, 1, 1] * 5)
    with pytest.raises(DataError, match="15 of 20"):
        model.bootstrap(20, data.signals, data.decisions)


def test_bad_input_is_said() -> None:
    data = ball(40)
    model = fitted(data)
    with pytest.raises(DataError, match="n=3"):
        model.bootstrap(3, data.signals, data.decisions)
    for n_jobs in (0, "two", 1.5):
        with pytest.raises(DataError, match=f"bootstrap: n_jobs={n_jobs!r} is neither"):
            model.bootstrap(10, n_jobs=n_jobs)
    for seed in ("a", -1, 2**40, 1.5):
        with pytest.raises(DataError, match=f"bootstrap: random_state={seed!r} is not a seed"):
            model.bootstrap(10, random_state=seed)
    with pytest.raises(DataError, match="rows"):
        model.bootstrap(10, data.signals[1:], data.decisions)
    boot = model.bootstrap(10, data.signals, data.decisions)
    for directions in ([1.0, 0.0, 0.0], [["a", "b"]], [np.nan, 1.0]):
        with pytest.raises(DataError, match="directions"):
            boot.support(data.signals[0], directions)
    with pytest.raises(NotFittedError):
        fl.RegionRegressor().bootstrap(10, data.signals, data.decisions)


def test_known_constraints_go_through_refits_and_hold_in_each() -> None:
    data = fl.datasets.make_power5(40, noise=0.1, random_state=0)
    demand = np.column_stack([data.signals, data.signals[:, 3:].sum(axis=1)])
    known = fl.Known(balance=(np.ones(3), [8]), contradictions="project")
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], known=known)
    model.fit(demand, data.decisions)
    boot = model.bootstrap(10, demand, data.decisions)
    for refit in boot.refits:
        assert refit.predict(demand).sum(axis=1) == pytest.approx(demand[:, 8], abs=1e-7)
    assert boot.predict(demand).contains(model.predict(demand)).all()


def test_samples_of_the_fit_are_taken_until_a_model_is_copied() -> None:
    data = ball(40)
    model = fitted(data)
    given = model.bootstrap(10, data.signals, data.decisions).predict(data.signals)
    np.testing.assert_array_equal(model.bootstrap(10).predict(data.signals).width, given.width)
    with pytest.raises(DataError, match="together"):
        model.bootstrap(10, data.signals)
    copied = pickle.loads(pickle.dumps(model))
    with pytest.raises(DataError, match="does not have its samples; pass X and y"):
        copied.bootstrap(10)
    again = copied.bootstrap(10, data.signals, data.decisions).predict(data.signals)
    np.testing.assert_array_equal(again.width, given.width)
