"""Fits within known constraints do not depend on the units of decisions and signals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.known import KnownLimits
from feaslearn.known.known_limits import pseudo_inverse

DATA = fl.datasets.make_power5(60, noise=0.1, random_state=0)
ROWS = 24
ANNEALING = fl.trainers.Annealing(max_iter=4, n_starts=1, ridge=0.1, ridge_floor=1.0)


def predicted(
    hypothesis: fl.Hypothesis,
    unit: float,
    signal_unit: float,
    move: float,
) -> np.ndarray:
    units = np.array([1.0, 1.0, 1.0, *(signal_unit,) * 5])
    rates = [[0.0, 0.0, 0.0, *(unit / signal_unit,) * 5]]
    known = fl.Known(
        bounds=(move, 3.5 * unit + move),
        balance=(np.ones(3), fl.AffineCost([3.0 * move], rates)),
        contradictions="project",
    )
    trainer = ANNEALING if isinstance(hypothesis, fl.Affine) else "auto"
    model = fl.RegionRegressor(
        hypothesis, cost=DATA.cost, known=known, trainer=trainer, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        model.fit(DATA.signals[:ROWS] * units, DATA.decisions[:ROWS] * unit + move)
        return np.asarray((model.predict(DATA.signals[40:] * units) - move) / unit)


@pytest.mark.parametrize(
    "hypothesis", [fl.Affine(fl.Simplex(3)), fl.Minkowski.pairs(3), fl.Scaled(fl.Simplex(3))]
)
def test_units_do_not_matter(hypothesis: fl.Hypothesis) -> None:
    expected = predicted(hypothesis, 1.0, 1.0, 0.0)
    for unit, signal_unit, move in ((1e-7, 3.7e6, 0.0), (3.7e6, 1.0, 0.0), (1.0, 1.0, 20.0)):
        found = predicted(hypothesis, unit, signal_unit, move)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("hypothesis", [fl.Minkowski.pairs(3), fl.Scaled(fl.Simplex(3))])
def test_the_order_of_decisions_does_not_matter(hypothesis: fl.Hypothesis) -> None:
    known = fl.Known(
        bounds=(0.0, 3.5),
        balance=(np.ones(3), fl.AffineCost([0.0], [[0.0] * 3 + [1.0] * 5])),
        contradictions="project",
    )
    found = []
    for order in ([0, 1, 2], [2, 0, 1]):
        model = fl.RegionRegressor(hypothesis, cost=order, known=known, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
            model.fit(DATA.signals[:ROWS], DATA.decisions[:ROWS][:, order])
            found.append(model.predict(DATA.signals[40:])[:, np.argsort(order)])
    np.testing.assert_allclose(*found, rtol=0.0, atol=1e-6 * np.abs(found[0]).max())


def test_small_decisions_that_break_what_is_known_are_seen() -> None:
    sides = (np.zeros((1, 0)), np.zeros((1, 2)), np.full((1, 2), 1e-7), np.zeros((1, 0)))
    limits = KnownLimits(np.zeros((0, 2)), np.zeros((0, 2)), *sides)
    assert limits.broken(np.array([[1.001e-7, 0.0]]), 1e-6)[0]
    assert not limits.broken(np.array([[1e-7, -1e-22]]), 1e-6)[0]


def test_equalities_that_say_the_same_count_once() -> None:
    """The second singular value is rounding, which must not be inverted."""
    for size in (0.3, 0.1, 1e-3, 7.0):
        E = np.outer([1.0, size, 1.0 / size], [0.1, 0.7, 1.3])
        across = np.outer(E[0], E[0]) / (E[0] @ E[0])
        np.testing.assert_allclose(pseudo_inverse(E) @ E, across, atol=1e-12)
