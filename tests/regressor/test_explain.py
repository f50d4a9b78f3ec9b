"""What data pinned, what they did not show, and what carries a region."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError
from feaslearn.hypotheses.hypothesis import Hypothesis
from registry import fit_rows, fit_to

pd = pytest.importorskip("pandas")

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


def fitted(hypothesis: object, X: object, y: object, **parameters: object) -> fl.RegionRegressor:
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
    explained = fitted(HYPOTHESES[name], *dispatch(), trainer=trainer).explain()
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
        limits = fitted(hypothesis, *both).explain().limits
        upper = {limit.decision: limit.share for limit in limits if limit.side == "upper"}
        assert upper["unit 3"] > 0.1
        assert upper["unit 1"] > 0.1


def test_a_signal_outside_the_training_range_is_measured() -> None:
    X, y = dispatch()
    model = fitted(fl.Minkowski.hypersimplices(3), X, y)
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
    model = fitted(fl.Minkowski.hypersimplices(3), X, y)
    signal = X.iloc[[0]].copy()
    assert model.explain(signal).remarks == ()
    explained = model.explain(signal, costs=[2.0, 1.0, 0.1])
    assert any("upper limit of unit 3" in text for text in explained.remarks)
    assert explained.price_angle > 30.0


def test_bad_input_is_said() -> None:
    X, y = dispatch()
    with pytest.raises(NotFittedError):
        fl.RegionRegressor().explain()
    model = fitted(fl.Minkowski.hypersimplices(3), X, y)
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
