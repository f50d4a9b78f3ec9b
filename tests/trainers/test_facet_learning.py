"""Facets learned from optimal decisions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from facet_recovery import learned_rows, random_polytope
from feaslearn.exceptions import DataError, NotFittedError
from registry import Array, fit_rows, fit_to


def fit(signals: Array, decisions: Array, costs: Array, **options: object) -> fl.RegionRegressor:
    model = fl.RegionRegressor(
        options.pop("hypothesis", fl.Facets()),
        cost=np.ones(np.shape(costs)[1]),
        features="all",
        trainer=options.pop("trainer", "auto"),
        random_state=options.pop("random_state", 0),
    )
    return model.fit(signals, decisions, costs=costs, **options)  # type: ignore[arg-type]


def test_power5() -> None:
    losses = []
    for seed in range(5):
        data = fl.datasets.make_power5(300, random_state=seed)
        train, test = data[:100], data[100:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = fit_to(train, fl.Facets()).predict(test.signals)
        losses.append(((predicted - test.decisions) ** 2).sum(axis=1).mean())
    # The claim is about the mean: single draws of 100 rows reach 0.03.
    assert np.mean(losses) <= 0.02


def test_no_facet_where_decisions_ignore_prices() -> None:
    invented = 0
    for seed in range(4):
        random = np.random.default_rng(100 + seed)
        n, n_samples = int(random.integers(2, 6)), int(random.choice([40, 60]))
        signals, costs = random.normal(size=(n_samples, 2)), random.normal(size=(n_samples, n))
        draw = random.normal if seed % 2 else random.random
        model = fit(signals, draw(size=(n_samples, n)), costs)
        invented += len(learned_rows(model).a) > 0
    assert invented == 0


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_few_rows(count: int) -> None:
    case = random_polytope(2, n=3, n_samples=count, balance=False)
    model = fit(case.signals, case.decisions, case.costs)
    assert np.isfinite(model.theta_).all()
    assert np.isfinite(model.predict(case.signals, costs=case.costs)).all()


def test_incomplete_rows_are_left_out() -> None:
    case = random_polytope(3, n=3, n_samples=150, balance=True)
    decisions = case.decisions.copy()
    decisions[::10, 1] = np.nan
    complete = ~np.isnan(decisions).any(axis=1)
    model = fit(case.signals, decisions, case.costs)
    other = fit(case.signals[complete], decisions[complete], case.costs[complete])
    np.testing.assert_allclose(
        model.predict(case.signals, costs=case.costs),
        other.predict(case.signals, costs=case.costs),
        atol=1e-6,
    )
    with pytest.raises(DataError, match="complete"):
        fit(case.signals[:3], np.where(np.eye(3) > 0, np.nan, decisions[1:4]), case.costs[:3])


@pytest.mark.parametrize("unit", [1e3, 1e-3])
def test_units_do_not_matter(unit: float) -> None:
    data = fl.datasets.make_power5(150, noise=0.02, line_capacity=2.5, random_state=0)
    demands, costs = data.signals[:, 3:], data.cost_matrix
    for decisions in (data.decisions, data.forward.solve(data.signals, costs)):
        model = fit(demands, decisions, costs)
        other = fit(1e6 * demands, unit * decisions, 10.0 * costs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(
                other.predict(1e6 * demands, costs=10.0 * costs) / unit,
                model.predict(demands, costs=costs),
                atol=1e-6,
            )


def test_affine_bounds() -> None:
    random = np.random.default_rng(2)
    signals, costs = random.uniform(-1, 1, size=(100, 1)), random.normal(size=(100, 2))
    decisions = np.where(costs < 0.0, 2.0 + signals * [1.0, -0.5], signals * [0.0, 0.25])
    model = fit(signals, decisions, costs, hypothesis=fl.Facets(bounds="affine", max_facets=0))
    rows = learned_rows(model)
    np.testing.assert_allclose(rows.upper, [[2.0, 1.0], [2.0, -0.5]], atol=1e-6)
    np.testing.assert_allclose(rows.lower, [[0.0, 0.0], [0.0, 0.25]], atol=1e-6)


def test_decisions_that_contradict_each_other_are_named() -> None:
    case = random_polytope(7, n=2, n_samples=60, balance=False)
    signals, decisions, costs = case.signals.copy(), case.decisions.copy(), case.costs
    assert not fit(signals, decisions, costs).result_.warnings
    signals[40] = signals[11]
    # The dearest decision instead of the cheapest.
    decisions[40] = case.rows.solve(case.features[[11]], -costs[[40]]).decisions[0]
    (told,) = fit(signals, decisions, costs).result_.warnings
    saved = costs[40] @ (decisions[40] - decisions[11])
    assert told.startswith("rows 40 and 11 have the same features")
    assert f"costs {saved:.4g} less" in told
    hidden = decisions.copy()
    hidden[3, 0] = np.nan
    assert fit(signals, hidden, costs).result_.warnings == [told]


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("balance", ["auto", None, [[1.0, 1.0, 1.0]], [[1.0, 1.0, 0.9]]])
def test_bounds_and_equalities_that_are_given(balance: object, noise: float) -> None:
    """The last polish moves what was learned, and nothing else."""
    data = fl.datasets.make_power5(100, noise=noise, random_state=0)
    lower, upper = np.array([-0.7, -0.6, -0.8]), np.array([3.7, 3.9, 4.3])
    hypothesis = fl.Facets(bounds=(lower, upper), balance=balance)  # type: ignore[arg-type]
    rows = learned_rows(fit_to(data, hypothesis))
    np.testing.assert_array_equal(rows.lower[:, 0], lower)
    np.testing.assert_array_equal(rows.upper[:, 0], upper)
    assert not rows.upper[:, 1:].any()
    if balance is None:
        assert not rows.E.any()
    elif balance != "auto":
        E = np.array(balance)
        np.testing.assert_allclose(np.abs(rows.E), E / np.linalg.norm(E), atol=1e-9)


def test_bounds_are_exact_where_two_rows_reached_them() -> None:
    """A plant that ran once, and not at its limit, may run at more; a bound never cuts a row."""
    data = fl.datasets.make_power5(60, random_state=3)
    rows = learned_rows(fit_to(data, fl.Facets()))
    for side, ends in (
        (rows.lower, data.decisions.min(axis=0)),
        (rows.upper, data.decisions.max(axis=0)),
    ):
        shared = (np.abs(data.decisions - ends) < 1e-9).sum(axis=0) > 1
        assert shared.any()
        np.testing.assert_array_equal(side[shared, 0], ends[shared])
    assert not shared.all()
    assert (rows.upper[~shared, 0] > ends[~shared]).all()
    features = np.column_stack([np.ones(60), data.signals[:, 3:]])
    assert rows.largest_violation(features, data.decisions).max() < 1e-9


# The table of learned constraints.


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three plants serve a load; the first two share a line of limit ``2 - 0.5 load``."""
    random = np.random.default_rng(0)
    costs, load = random.random((300, 3)), random.uniform(1.0, 2.0, 300)
    decisions = np.zeros((300, 3))
    for i, (c, d) in enumerate(zip(costs, load, strict=True)):
        line, left = 2.0 - 0.5 * d, d
        for j in np.argsort(c):
            most = min(0.8 if j < 2 else 1.4, left, line if j < 2 else np.inf)
            decisions[i, j] = most
            left -= most
            line -= most if j < 2 else 0.0
    signals = pd.DataFrame(np.column_stack([costs, load]), columns=["c1", "c2", "c3", "load"])
    return signals, pd.DataFrame(decisions, columns=["p_g1", "p_g2", "p_g3"])


def fit_frames(signals: Any, decisions: Any, hypothesis: Any = None) -> fl.RegionRegressor:
    return fit_rows(signals, decisions, hypothesis or fl.Facets(), cost=["c1", "c2", "c3"])


def test_the_hidden_line_is_written_in_names_and_printed() -> None:
    table = fit_frames(*frames()).facets_
    assert len(table) == 1
    assert table.equalities == ("p_g1 + p_g2 + p_g3 = load",)
    # Of all forms modulo the balance this has the fewest terms: p_g1 + p_g2 <= 2 - 0.5 load.
    assert table[0].text == "p_g3 >= 1.5 load - 2"
    assert table[0].identified
    assert "0 <= p_g1 <= 0.8" in table.bounds
    assert table[0].normal.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(table[0].normal) == pytest.approx(1.0)
    lines = str(table).splitlines()
    assert lines[0].split() == ["name", "facet", "binds", "worth", "in", "the", "data"]
    assert lines[1].split()[0] == "facet_1"
    assert len(lines[0]) == len(lines[1])
    equality = "equality, or a limit that always binds"
    assert lines[2:5] == [equality, "p_g1 + p_g2 + p_g3 = load", "bounds"]
    assert len(lines) == 8


def test_how_often_it_binds_and_what_it_costs() -> None:
    signals, decisions = frames()
    facet = fit_frames(signals, decisions).facets_[0]
    costs, load = signals.to_numpy()[:, :3], signals["load"].to_numpy()
    full = np.abs(decisions["p_g1"] + decisions["p_g2"] - (2.0 - 0.5 * load)) < 1e-9
    assert facet.binds == full.sum() > 50
    # One unit less of p_g3, which is one more of p_g1 + p_g2, saves the difference in price.
    rows = np.flatnonzero(full)
    used = decisions.to_numpy()[rows, :2]
    inner = (used > 1e-9) & (used < 0.8 - 1e-9)
    saved = [costs[i, 2] - costs[i, :2][free].max() for i, free in zip(rows, inner, strict=True)]
    assert facet.price == pytest.approx(np.mean(saved), rel=1e-6)


def test_units_do_not_hide_terms() -> None:
    signals, decisions = frames()
    table = fit_frames(signals.assign(load=1e6 * signals["load"]), 1e3 * decisions).facets_
    assert table[0].text == "p_g3 >= 0.0015 load - 2000"
    assert table.equalities == ("p_g1 + p_g2 + p_g3 = 0.001 load",)


def test_a_region_without_facets_says_so() -> None:
    table = fit_frames(*frames(), hypothesis=fl.Facets(max_facets=0)).facets_
    assert len(table) == 0
    assert str(table).startswith("no facets were learned\nequality, ")


def test_models_that_have_none() -> None:
    model = fl.RegionRegressor(fl.Facets(), cost=[0, 1, 2])
    with pytest.raises(NotFittedError):
        model.facets_  # noqa: B018
    signals, decisions = frames()
    model = fit_frames(signals, decisions, hypothesis=fl.Affine(fl.Simplex(1)))
    assert not hasattr(model, "facets_")
    with pytest.raises(AttributeError, match=r"Affine\(.*\) has no facets; Facets\(\) has"):
        model.facets_  # noqa: B018
