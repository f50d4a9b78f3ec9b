"""The page computes the same regions as the library: a second implementation of every kind."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.plots.region_panels import outline
from feaslearn.report.scene import region_program
from report.browser import Browser

SOLVE = Path(fl.report.__file__).parent / "page" / "solve.js"
SQUARE = fl.Polytope(np.vstack([np.eye(2), -np.eye(2)]), [0.0, 0.0, -1.0, -1.0])

HYPOTHESES: dict[str, fl.hypotheses.Hypothesis] = {
    "facets": fl.Facets(),
    "simplex": fl.Affine(fl.Simplex(4)),
    "ball": fl.Affine(fl.L2Ball(3)),
    "l1": fl.Scaled(fl.L1Ball(3)),
    "points": fl.Affine(SQUARE),
    "binary": fl.Affine(fl.Simplex(2, binary=True)),
    "sum": fl.Minkowski.hypersimplices(3),
    "tents": fl.Minkowski.pairs(3, scale="tents", n_knots=3),
    "index": fl.Minkowski.pairs(3, scale="index", n_knots=3),
    "facets-affine": fl.Facets(2, bounds="affine"),
}


def ask(browser: Browser, part: Any, rows: Any, expression: str) -> Any:
    """Return an expression in ``region`` for each row of features; null where it is empty."""
    return browser.run(
        f"(() => {{ {SOLVE.read_text('utf-8')}\n const part = {json.dumps(part)};"
        f" return {json.dumps(np.asarray(rows).tolist())}.map((phi) => {{"
        f" const region = solve.region(part, phi); return region === null ? null : {expression};"
        " }); })()"
    )


@pytest.mark.parametrize("name", HYPOTHESES)
def test_regions_are_the_same(name: str, power: fl.Decisions, browser: Browser) -> None:
    rng = np.random.default_rng(0)
    quick: Any = fl.trainers.MixedInteger(max_seconds=1.0) if name == "binary" else "auto"
    model = fl.RegionRegressor(HYPOTHESES[name], cost=power.cost, trainer=quick, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        model.fit(power.signals[:40], power.decisions[:40])
        # Beyond the data, too: there knots end, scales are cut off and regions are empty.
        signals = power.signals[:12] * rng.uniform(0.5, 1.8, size=(12, 1))
        phi = model.features_.transform(signals)
        empty = model.hypothesis_.solve(model.theta_, phi, np.zeros((12, 3))).empty
        regions = [model.region(signal) for signal in signals]
    directions = rng.normal(size=(6, 3))
    part = region_program(model, power.signals)
    found = ask(browser, part, phi, f"{directions.tolist()}.map((d) => solve.dot(d, region(d)))")
    if name == "facets":
        assert [least is None for least in found] == empty.tolist()
    compared = 0
    for least, region, nothing in zip(found, regions, empty, strict=True):
        if least is not None and not nothing:
            expected = [-region.support(-direction) for direction in directions]
            assert least == pytest.approx(expected, abs=1e-7)
            compared += 1
    assert compared > 0


def test_known_rows_are_part_of_it(power: fl.Decisions, browser: Browser) -> None:
    known = fl.Known(
        G=[[-1.0, -1.0, 0.0]],
        g=fl.AffineCost([-7.0], 0.2 * np.eye(8)[[3]]),
        bounds=(0.0, [None, 3.0, 3.5]),
        balance=([[1.0, 1.0, 1.0]], fl.AffineCost([0.0], [[0.0] * 3 + [1.0] * 5])),
        contradictions="keep",
    )
    model = fl.RegionRegressor(fl.Facets(2), cost=power.cost, known=known, random_state=0)
    model.fit(power.signals[:40], power.decisions[:40])
    part = region_program(model, power.signals)
    rows = np.hstack([model.features_.transform(power.signals[:10]), power.signals[:10]])
    asked = "[[1, 2, 3], [-3, 1, 0], [0, -1, 1]]"
    found = browser.run(
        f"(() => {{ {SOLVE.read_text('utf-8')}\n const part = {json.dumps(part)};"
        f" return {rows.tolist()}.map((row) => {{"
        " const region = solve.region(part, row.slice(0, -8), row.slice(-8));"
        f" return region && {asked}.map((d) => solve.dot(d, region(d))); }}); }})()"
    )
    compared = 0
    for signal, least in zip(power.signals[:10], found, strict=True):
        if least is not None:
            region = model.region(signal)
            expected = [-region.support(-np.array(d)) for d in json.loads(asked)]
            assert least == pytest.approx(expected, abs=1e-6)
            compared += 1
    assert compared > 4
    curved = model.set_params(known=fl.Known(bounds=(0.0, lambda signals: signals[:, :3] ** 2 + 4)))
    curved.fit(power.signals[:40], power.decisions[:40])
    assert region_program(curved, power.signals) is None


def test_outlines_are_the_same(
    model: fl.RegionRegressor, power: fl.Decisions, browser: Browser
) -> None:
    phi = model.features_.transform(np.array(power.signals[:8]))
    found = ask(
        browser, region_program(model, power.signals), phi, "solve.outline(region, 3, 0, 2)"
    )
    for signal, corners in zip(power.signals[:8], found, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            region = model.region(signal)
        expected = outline(region.minimize, 3, 0, 2)
        gaps = np.abs(expected[:, None] - np.array(corners)[None]).max(axis=2)
        assert gaps.min(axis=1).max() < 1e-6
