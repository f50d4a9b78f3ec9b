"""Bands in closed form do not depend on units, on where signals lie, or on idle parameters."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.hypotheses.hypothesis import Hypothesis

DATA = fl.datasets.make_power5(120, noise=0.2, random_state=0)
CLASSES = {
    "affine": fl.Minkowski.hypersimplices(3),
    "shared": fl.Minkowski.hypersimplices(3, scale="shared"),
    "box": fl.Minkowski.hypersimplices(3, scale="box"),
    "long segments": fl.Minkowski.segments(1e5 * np.eye(3)),
    "scaled": fl.Scaled(fl.L1Ball(3)),
    "linear": fl.Affine(fl.Simplex(1)),
}


def widths(
    hypothesis: Hypothesis,
    *,
    unit: float = 1.0,
    far: float = 0.0,
    prices: float = 1.0,
    decisions: float = 1.0,
    again: bool = False,
) -> np.ndarray:
    """Return the widths of bands of decisions and reaches, in the unit of the decisions."""
    X, y = np.array(DATA.signals), DATA.decisions * decisions
    X[:, :3] *= prices
    X[:, 3:] *= unit
    X[:, 3] += far
    model = fl.RegionRegressor(hypothesis, cost=[0, 1, 2], random_state=0).fit(X, y)
    sandwich = model.sandwich(X, y) if again else model.sandwich()
    reach = sandwich.support(X[0], np.eye(3))
    return np.vstack([sandwich.predict(X[:20]).width, reach.width]) / decisions


@pytest.mark.parametrize("name", CLASSES)
def test_bands_do_not_depend_on_units(name: str) -> None:
    hypothesis = CLASSES[name]
    expected = pytest.approx(widths(hypothesis, again=True), rel=1e-6)
    for unit in (1e-7, 1e7):
        assert widths(hypothesis, unit=unit, again=True) == expected
    for far in (1e4, -1e5):
        assert widths(hypothesis, far=far, again=True) == expected
    for unit in (1e-6, 1e6):
        assert widths(hypothesis, decisions=unit, again=True) == expected
        assert widths(hypothesis, prices=unit, again=True) == expected


def test_bands_that_were_kept_do_not_depend_on_units() -> None:
    hypothesis = CLASSES["affine"]
    kept = widths(hypothesis, unit=1e-7, far=1e-3)
    assert kept == pytest.approx(widths(hypothesis), rel=1e-6)
    assert kept == pytest.approx(widths(hypothesis, again=True), rel=1e-6)


@pytest.mark.parametrize("more", ["the same number", "another signal in another unit"])
def test_signals_that_say_nothing_new_do_not_change_bands(more: str) -> None:
    same = more == "the same number"
    column = np.full(len(DATA.signals), 0.1) if same else 3.0 + 1e5 * DATA.signals[:, 4]
    found = []
    for X in (DATA.signals, np.column_stack([DATA.signals, column])):
        # A ridge would see the second signal.
        trainer = fl.trainers.Convex(ridge=0.0, sparsity=0.0)
        model = fl.RegionRegressor(CLASSES["affine"], cost=[0, 1, 2], trainer=trainer)
        found.append(model.fit(X, DATA.decisions).sandwich().predict(X[:20]).width)
    assert found[1] == pytest.approx(found[0], rel=1e-6)
