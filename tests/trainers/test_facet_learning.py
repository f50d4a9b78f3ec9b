"""Facets learned from optimal decisions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from facet_recovery import learned_rows, random_polytope, recovery
from feaslearn.exceptions import DataError

Array = NDArray[np.float64]


def fit(signals: Array, decisions: Array, costs: Array, **options: object) -> fl.RegionRegressor:
    model = fl.RegionRegressor(
        options.pop("hypothesis", fl.Facets()),
        cost=np.ones(np.shape(costs)[1]),
        features="all",
        trainer=options.pop("trainer", "auto"),
        random_state=options.pop("random_state", 0),
    )
    return model.fit(signals, decisions, costs=costs, **options)  # type: ignore[arg-type]


def test_random_polytopes_are_recovered() -> None:
    counts = np.zeros(3, dtype=int)
    for seed in range(8):
        counts += recovery(random_polytope(seed, 2 + seed % 3, 250, balance=seed % 2 == 1))
    recovered, asked, learned = counts
    assert asked > 20
    assert recovered >= 0.95 * asked
    # Hardly a facet more than there are.
    assert learned <= 1.2 * asked


def test_power5() -> None:
    losses = []
    for seed in range(5):
        data = fl.datasets.make_power5(300, random_state=seed)
        train, test = data[:100], data[100:]
        model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.fit(train.signals, train.decisions).predict(test.signals)
        losses.append(((predicted - test.decisions) ** 2).sum(axis=1).mean())
    # The claim is about the mean: single draws of 100 rows reach 0.03.
    assert np.mean(losses) <= 0.02


def test_no_facet_where_decisions_ignore_prices() -> None:
    invented = 0
    for seed in range(8):
        random = np.random.default_rng(100 + seed)
        n, n_samples = int(random.integers(2, 6)), int(random.choice([50, 200]))
        signals, costs = random.normal(size=(n_samples, 2)), random.normal(size=(n_samples, n))
        draw = random.normal if seed % 2 else random.random
        model = fit(signals, draw(size=(n_samples, n)), costs)
        invented += len(learned_rows(model).a) > 0
    assert invented <= 1


def test_no_facet_where_no_line_binds() -> None:
    invented = 0
    for seed in range(6):
        noise = 0.05 if seed % 2 else 0.0
        data = fl.datasets.make_power5(150, noise=noise, line_capacity=100.0, random_state=seed)
        model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=seed)
        rows = learned_rows(model.fit(data.signals, data.decisions))
        assert len(rows.E) == 1
        invented += len(rows.a) > 0
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


def test_weights_of_zero_are_rows_that_are_not_there() -> None:
    case = random_polytope(4, n=3, n_samples=120, balance=False)
    weights = (np.arange(120) < 90).astype(float)
    wrong = case.decisions + 10.0 * (1.0 - weights)[:, None]
    model = fit(case.signals, wrong, case.costs, sample_weight=weights)
    other = fit(case.signals[:90], case.decisions[:90], case.costs[:90])
    np.testing.assert_allclose(model.theta_, other.theta_, atol=1e-8)


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


def test_bounds_and_equalities_that_are_given() -> None:
    data = fl.datasets.make_power5(100, random_state=1)
    hypothesis = fl.Facets(bounds=(0.0, 3.5), balance=[[2.0, 2.0, 2.0]])
    model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
    rows = learned_rows(model.fit(data.signals, data.decisions))
    np.testing.assert_allclose(np.abs(rows.E), 1 / np.sqrt(3.0), atol=1e-12)
    np.testing.assert_allclose(rows.upper[:, 0], 3.5)
    assert not rows.upper[:, 1:].any()
    assert not rows.lower.any()


@pytest.mark.parametrize("balance", ["auto", [[1.0, 1.0, 0.9]]])
def test_what_is_given_stays_under_noise(balance: object) -> None:
    """The last polish moves what was learned, and nothing else."""
    data = fl.datasets.make_power5(100, noise=0.1, random_state=0)
    lower, upper = np.array([-0.7, -0.6, -0.8]), np.array([3.7, 3.9, 4.3])
    hypothesis = fl.Facets(bounds=(lower, upper), balance=balance)  # type: ignore[arg-type]
    model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
    rows = learned_rows(model.fit(data.signals, data.decisions))
    np.testing.assert_array_equal(rows.lower[:, 0], lower)
    np.testing.assert_array_equal(rows.upper[:, 0], upper)
    if balance != "auto":
        E = np.array(balance)
        np.testing.assert_allclose(np.abs(rows.E), E / np.linalg.norm(E), atol=1e-9)


def test_bounds_that_were_seen_are_exact() -> None:
    data = fl.datasets.make_power5(100, random_state=1)
    rows = learned_rows(
        fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0).fit(
            data.signals, data.decisions
        )
    )
    for side, ends in (
        (rows.lower, data.decisions.min(axis=0)),
        (rows.upper, data.decisions.max(axis=0)),
    ):
        shared = (np.abs(data.decisions - ends) < 1e-9).sum(axis=0) > 1
        assert shared.any()
        np.testing.assert_array_equal(side[shared, 0], ends[shared])


def test_a_bound_that_one_row_reached_is_no_bound() -> None:
    """A plant that ran once, and not at its limit, may run at more; a bound never cuts a row."""
    data = fl.datasets.make_power5(60, random_state=3)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    rows = learned_rows(model.fit(data.signals, data.decisions))
    top = data.decisions.max(axis=0)
    once = (np.abs(data.decisions - top) < 1e-9).sum(axis=0) == 1
    assert once.any()
    assert (rows.upper[once, 0] > top[once]).all()
    assert (
        rows.largest_violation(
            np.column_stack([np.ones(60), data.signals[:, 3:]]), data.decisions
        ).max()
        < 1e-9
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


def test_maximising_is_minimising_the_negative() -> None:
    case = random_polytope(8, n=2, n_samples=60, balance=False)
    options = {"cost": np.ones(2), "features": "all", "random_state": 0}
    model = fl.RegionRegressor(fl.Facets(), sense="max", **options)
    model.fit(case.signals, case.decisions, costs=-case.costs)
    np.testing.assert_array_equal(
        model.theta_, fit(case.signals, case.decisions, case.costs).theta_
    )
