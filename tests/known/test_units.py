"""Fits within known constraints are as good in any units of decisions and signals."""

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
HYPOTHESES = [fl.Affine(fl.Simplex(3)), fl.Minkowski.pairs(3), fl.Scaled(fl.Simplex(3))]


def losses(
    hypothesis: fl.Hypothesis,
    unit: float = 1.0,
    signal_unit: float = 1.0,
    move: float = 0.0,
    order: tuple[int, ...] = (0, 1, 2),
) -> np.ndarray:
    """Return what the returned decisions lose, for six seeds, in the first units."""
    units = np.array([1.0, 1.0, 1.0, *(signal_unit,) * 5])
    rates = [[0.0, 0.0, 0.0, *(unit / signal_unit,) * 5]]
    known = fl.Known(
        bounds=(move, 3.5 * unit + move),
        balance=(np.ones(3), fl.AffineCost([3.0 * move], rates)),
        contradictions="project",
    )
    trainer = ANNEALING if isinstance(hypothesis, fl.Affine) else "auto"
    decisions = DATA.decisions[:ROWS][:, order] * unit + move
    found = []
    for seed in range(6):
        model = fl.RegionRegressor(
            hypothesis, cost=list(order), known=known, trainer=trainer, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
            model.fit(DATA.signals[:ROWS] * units, decisions)
        found.append(model.result_.returned_loss / unit**2)
    return np.array(found)


@pytest.mark.soak
@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)
def test_refits_are_as_good_in_other_units_and_orders(hypothesis: fl.Hypothesis) -> None:
    """Each is a local search on a loss that jumps: rounding decides where it ends."""
    expected = losses(hypothesis)
    for found in (
        losses(hypothesis, 1e-7, 3.7e6),
        losses(hypothesis, move=20.0, order=(2, 0, 1)),
    ):
        error = np.sqrt((expected.var(ddof=1) + found.var(ddof=1)) / len(found))
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-6, abs=error)


def test_small_decisions_that_break_what_is_known_are_seen() -> None:
    sides = (np.zeros((1, 0)), np.zeros((1, 2)), np.full((1, 2), 1e-7), np.zeros((1, 0)))
    limits = KnownLimits(np.zeros((0, 2)), np.zeros((0, 2)), *sides)
    assert limits.violated(np.array([[1.001e-7, 0.0]]), 1e-6)[0]
    assert not limits.violated(np.array([[1e-7, -1e-22]]), 1e-6)[0]


def test_equalities_that_say_the_same_count_once() -> None:
    """The second singular value is rounding, which must not be inverted."""
    for size in (0.3, 0.1, 1e-3, 7.0):
        E = np.outer([1.0, size, 1.0 / size], [0.1, 0.7, 1.3])
        across = np.outer(E[0], E[0]) / (E[0] @ E[0])
        np.testing.assert_allclose(pseudo_inverse(E) @ E, across, atol=1e-12)
