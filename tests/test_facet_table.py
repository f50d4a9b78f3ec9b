"""The table of learned constraints."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.exceptions import NotFittedError


def frames(names: tuple[str, ...] = ("p_g1", "p_g2", "p_g3")) -> tuple[pd.DataFrame, pd.DataFrame]:
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
    return signals, pd.DataFrame(decisions, columns=list(names))


def fit(signals: object, decisions: object, **options: object) -> fl.RegionRegressor:
    hypothesis = options.pop("hypothesis", fl.Facets())
    cost = options.pop("cost", [0, 1, 2])
    model = fl.RegionRegressor(hypothesis, cost=cost, random_state=0, **options)
    return model.fit(signals, decisions)


def test_the_hidden_line_is_written_in_names() -> None:
    model = fit(*frames(), cost=["c1", "c2", "c3"])
    table = model.facets_
    assert len(table) == 1
    assert table.equalities == ("p_g1 + p_g2 + p_g3 = load",)
    # Of all forms modulo the balance this has the fewest terms: p_g1 + p_g2 <= 2 - 0.5 load.
    assert table[0].text == "p_g3 >= 1.5 load - 2"
    assert table[0].identified
    assert "0 <= p_g1 <= 0.8" in table.bounds
    assert table[0].normal.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(table[0].normal) == pytest.approx(1.0)


def test_how_often_it_binds_and_what_it_costs() -> None:
    signals, decisions = frames()
    facet = fit(signals, decisions).facets_[0]
    costs, load = signals.to_numpy()[:, :3], signals["load"].to_numpy()
    full = np.abs(decisions["p_g1"] + decisions["p_g2"] - (2.0 - 0.5 * load)) < 1e-9
    assert facet.binds == full.sum() > 50
    # One unit less of p_g3, which is one more of p_g1 + p_g2, saves the difference in price.
    rows = np.flatnonzero(full)
    used = decisions.to_numpy()[rows, :2]
    inner = (used > 1e-9) & (used < 0.8 - 1e-9)
    saved = [costs[i, 2] - costs[i, :2][free].max() for i, free in zip(rows, inner, strict=True)]
    assert facet.price == pytest.approx(np.mean(saved), rel=1e-6)


def test_print_is_aligned() -> None:
    lines = str(fit(*frames()).facets_).splitlines()
    assert lines[0].split() == ["name", "facet", "binds", "worth", "in", "the", "data"]
    assert lines[1].split()[0] == "facet_1"
    assert len(lines[0]) == len(lines[1])
    assert lines[2:4] == [
        "equality, or a limit that always binds",
        "p_g1 + p_g2 + p_g3 = load",
    ]
    assert lines[4] == "bounds"
    assert len(lines) == 8


def test_units_do_not_hide_terms() -> None:
    signals, decisions = frames()
    table = fit(signals.assign(load=1e6 * signals["load"]), 1e3 * decisions).facets_
    assert table[0].text == "p_g3 >= 0.0015 load - 2000"
    assert table.equalities == ("p_g1 + p_g2 + p_g3 = 0.001 load",)


def test_a_region_without_facets_says_so() -> None:
    table = fit(*frames(), hypothesis=fl.Facets(max_facets=0)).facets_
    assert len(table) == 0
    assert str(table).startswith("no facets were learned\nequality, ")


def test_models_that_have_none() -> None:
    model = fl.RegionRegressor(fl.Facets(), cost=[0, 1, 2])
    with pytest.raises(NotFittedError):
        model.facets_  # noqa: B018
    signals, decisions = frames()
    model = fit(signals, decisions, hypothesis=fl.Affine(fl.Simplex(1)))
    assert not hasattr(model, "facets_")
    with pytest.raises(AttributeError, match=r"Affine\(.*\) has no facets; Facets\(\) has"):
        model.facets_  # noqa: B018
