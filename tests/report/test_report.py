"""What the report says, and what it refuses."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError
from feaslearn.regressor.limits import limits_at
from feaslearn.report import write_report
from feaslearn.report.binding import binding_limits, calendar, duration
from feaslearn.report.comparison import compare
from feaslearn.report.findings import find_problems
from feaslearn.report.report import worst_rows
from feaslearn.report.samples import Samples, fitting_samples
from registry import fit_to
from report.conftest import learned

#: Writes a page and reads it.
Page = Callable[..., str]


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Return what writes a page and reads it."""
    path = tmp_path_factory.mktemp("pages") / "page.html"

    def page(model: Any, data: fl.Decisions, **options: Any) -> str:
        write_report(model, data, path, **options)
        return path.read_text("utf-8")

    return page


def samples_of(model: Any, data: fl.Decisions) -> Samples:
    return fitting_samples(model, data, "row {}".format, "data")


@pytest.fixture(scope="module")
def text(page_of: Page, model: fl.RegionRegressor, power: fl.Decisions) -> str:
    return page_of(model, power[:60], train=power[60:], units="MW", title="A < B & C")


def test_the_page_is_whole_and_needs_nothing(text: str) -> None:
    assert text.startswith("<!DOCTYPE html>")
    assert text.count("<section") == text.count("</section>") == 7
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text
    assert not re.search(r"<link|<img|src=|@import|url\((?!#)", text)
    assert "<title>A &lt; B &amp; C</title>" in text
    assert len(text) < 300_000


# Comparison.


def test_others_are_measured_on_rows_they_have_not_seen(
    model: fl.RegionRegressor, power: fl.Decisions
) -> None:
    train, test = power[:50], power[50:]
    found = compare(samples_of(model, test), samples_of(model, train), None)
    policy = LinearRegression().fit(train.signals, train.decisions)
    lines = {line.name: line for line in found.lines}
    expected = fl.evaluate(policy, test).returned
    assert lines["linear policy"].loss == pytest.approx(expected.mean)
    assert lines["linear policy"].r2 == pytest.approx(
        fl.metrics.pooled_r2(test.decisions, policy.predict(test.signals))
    )
    measured = fl.evaluate(model, test)
    assert lines["this model"].loss == pytest.approx(measured.returned.mean)
    assert lines["this model"].mae == pytest.approx(measured.mae)
    mean = np.square(test.decisions - train.decisions.mean(axis=0)).sum(axis=1).mean()
    assert lines["mean decision"].loss == pytest.approx(mean)
    assert found.fair is lines["this model"]
    assert found.best_other is not None


def test_without_a_training_file_parts_are_held_out(
    model: fl.RegionRegressor, power: fl.Decisions
) -> None:
    found = compare(samples_of(model, power), None, None)
    anew, as_it_is, *others = found.lines
    assert (anew.name, as_it_is.note) == ("this model, fitted anew", "has seen these rows")
    assert found.fair == anew
    assert anew.loss > as_it_is.loss > 0.0
    assert "These are the rows the model was fitted to" in found.held_out
    # A copy of each row in another part would be the answer: nothing is fitted to all rows.
    assert all(line.loss > 0.0 for line in others)
    kept = compare(samples_of(model, power[:40]), None, False)
    assert kept.fair is None
    assert "not asked for" in kept.held_out
    assert "is not known" in kept.held_out


# Problems of the data.


def problems(model: Any, data: fl.Decisions, **options: Any) -> str:
    found = find_problems(samples_of(model, data), **options)
    return "\n".join(finding.text for finding in found if finding.level != "ok")


def changed(data: fl.Decisions, change: Any) -> fl.Decisions:
    signals, decisions = data.signals.copy(), data.decisions.copy()
    change(signals, decisions)
    return fl.Decisions.from_arrays(signals, decisions, cost=data.cost, names=data.names)


def test_every_problem_is_found(model: fl.RegionRegressor, power: fl.Decisions) -> None:
    def spoil(signals: Any, decisions: Any) -> None:
        signals[1], decisions[1] = signals[0], decisions[0]  # a row twice
        signals[3], decisions[3] = signals[2], decisions[2] + 0.1  # two decisions
        signals[4, :3] = 0.0  # no cost
        decisions[5, 1], decisions[6] = np.nan, np.nan  # gaps
        signals[7, 5] = 400.0  # far out
        signals[:, 6] = 1.5  # constant

    found = problems(model, changed(power, spoil))
    for expected in (
        "5 signals besides prices span 4 dimensions",
        "4 missing decisions in 2 rows",
        "rows without any decision: row 6",
        "rows that repeat an earlier one: row 1",
        "other decisions under the same signals: row 3",
        "rows in which every cost is zero: row 4",
        "'demand_3' in row 7 (400)",
    ):
        assert expected in found, found


# Words.


def test_rows_that_fit_worst(model: fl.RegionRegressor, power: fl.Decisions) -> None:
    off = changed(power, lambda _, decisions: decisions.__setitem__((9, 0), 99.0))
    rows = worst_rows(samples_of(model, off), "MW")
    assert rows[0]["place"] == "row 9"
    assert rows[0]["off"][0][:2] == ("plant_1", "99")
    assert rows[0]["error"].endswith(" MW")


@pytest.mark.parametrize("hypothesis", [fl.Minkowski.hypersimplices(3), fl.Affine(fl.Simplex(1))])
def test_every_kind_of_region_has_a_page(
    page_of: Page, hypothesis: fl.hypotheses.Hypothesis, power: fl.Decisions
) -> None:
    page = page_of(fit_to(power, hypothesis), power[:9])
    assert f"in a region of the kind {type(hypothesis).__name__}(" in page


# What is refused.


def test_data_that_do_not_fit(
    page_of: Page, model: fl.RegionRegressor, power: fl.Decisions
) -> None:
    few = fl.Decisions.from_arrays(power.signals[:, :5], power.decisions[:, :2], cost=[0, 1])
    with pytest.raises(DataError) as caught:
        page_of(model, few)
    assert "5 signals, the model has 8" in str(caught.value)
    assert "2 decisions, the model has 3" in str(caught.value)
    other = fl.Decisions.from_arrays(
        power.signals, power.decisions, power.cost, names=(list("abcdefgh"), list("xyz"))
    )
    with pytest.raises(DataError, match=r"missing: .'cost_1'"):
        page_of(model, other)
    with pytest.raises(DataError, match="did you mean 'plant_1'"):
        page_of(model, power, units={"plant1": "MW"})
    with pytest.raises(NotFittedError):
        page_of(fl.RegionRegressor(), power)


def test_the_first_screen_has_limits_evidence_and_trust(page_of: Page) -> None:
    data = fl.datasets.make_power5(260, line_capacity=1.4, random_state=0)
    train, test = data[:200], data[200:]
    model = learned(train)
    page = page_of(model, test, train=train, units="MW")
    first = page[page.index('<section id="limits">') : page.index('<section id="good">')]
    for limit in model.facets_:
        assert limit.name in first
    assert "plant_3" in first[: first.index("not seen")]
    assert "not seen" in first
    assert "observed decisions lie on the limit, none beyond" in first
    assert "hidden limits and 1 balance explain" in page[: page.index("<nav")]
    assert "of what varies in rows it has not seen" in page[: page.index("<nav")]
    assert "the best simpler predictor" in page[: page.index("<nav")]
    assert "[MW] (MW)" not in page
    assert not re.search(r"[+-]\d\.\d+e-1[0-9]", page)
    # Decisions beyond the limit are counted.
    more = fl.Decisions.from_arrays(
        test.signals, test.decisions + np.array([0.0, 0.5, -0.5]), data.cost
    )
    assert re.search(r"lie on the limit, \d+ beyond", page_of(model, more, train=train))


def test_when_limits_bind_by_hour_and_day(
    page_of: Page, model: fl.RegionRegressor, power: fl.Decisions
) -> None:
    start = datetime(2025, 3, 3)
    times = [start + timedelta(hours=hour) for hour in range(len(power))]
    page = page_of(model, power, refit=False, times=times)
    when = page[page.index('<section id="when">') : page.index('<section id="good">')]
    assert (
        when.count('<svg class="calendar"') == when.count("Price-duration curve</figcaption>") > 0
    )
    assert "2025-03-03" in when
    assert "2025-03-06" in when
    assert re.search(r"most at \d\d h \(\d+ %\)", when)
    with pytest.raises(DataError, match="3 times are given for 80 rows"):
        page_of(model, power, times=times[:3])
    assert '<svg class="calendar"' not in page_of(model, power, refit=False)


def test_a_poor_fit_says_so_first(page_of: Page, power: fl.Decisions) -> None:
    rng = np.random.default_rng(0)
    noisy = changed(
        power, lambda _, decisions: np.add(decisions, rng.normal(0, 1, decisions.shape), decisions)
    )
    with warnings.catch_warnings(action="ignore"):
        model = learned(noisy[:60])
    head = page_of(model, noisy[60:], train=noisy[:60]).partition("<nav")[0]
    assert re.search("explains? (only )?[0-9.]*\xa0?%|explains? (only )?nothing", head)
    assert "A poor fit" in head


def test_decisions_that_never_moved_are_one_line(page_of: Page, power: fl.Decisions) -> None:
    decisions = np.column_stack([power.decisions, np.full(len(power), 7.0)])
    signals = np.column_stack([power.signals, 0.1 * np.ones(len(power))])
    names = ([*power.names.signals, "cost_7"], [*power.names.decisions, "plant_7"])
    data = fl.Decisions.from_arrays(signals, decisions, [0, 1, 2, 8], names=names)
    with warnings.catch_warnings(action="ignore"):
        model = learned(data)
    assert all("plant_7" not in facet.text for facet in model.facets_)
    page = page_of(model, data, refit=False)
    first = page[page.index('<section id="limits">') : page.index('<section id="trust">')]
    assert "plant_7 = 7 <small>never moved in the data" in first
    assert first.count("plant_7") == 1 + first.count("+ plant_7 =")
    # It is no decision to look at, in no table.
    assert (
        "plant_7"
        not in page[page.index('<section id="good">') : page.index('<section id="worst">')]
    )
    assert "0.000</td>" not in page


# When limits bind.


@pytest.mark.parametrize(
    ("step", "count", "shape", "unit", "first"),
    [
        ("h", 80, (24, 4), "day", 0.0),
        ("D", 80, (7, 12), "week", 0.0),
        ("h", 24 * 90, (24, 14), "week", 24.0),  # of the hours 0, 24 and 48: weeks begin later
    ],
)
def test_cells_of_a_calendar(
    step: str, count: int, shape: tuple[int, int], unit: str, first: float
) -> None:
    times = pd.date_range("2025-03-03", periods=count, freq=step).to_numpy("datetime64[s]")
    when = calendar(times)
    means = when.mean(np.arange(float(count)))
    assert (means.shape, when.unit) == (shape, unit)
    assert np.isnan(means).sum() == max(0, np.prod(shape) - count)
    assert means[0, 0] == pytest.approx(first)


def test_limits_that_bind_and_their_prices_in_falling_order(
    model: fl.RegionRegressor, power: fl.Decisions
) -> None:
    shown = binding_limits(limits_at(model, power.signals))
    assert shown
    assert all(limit.is_facet and limit.binds.any() for limit in shown)
    share, prices = duration(shown[0].prices)
    assert (share[0], share[-1]) == (0.0, 100.0)
    assert (np.diff(prices) <= 0.0).all()
    assert prices[0] == shown[0].prices.max()
