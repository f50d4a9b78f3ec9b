"""Objective learning over a known set."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from feaslearn.baselines import QuadraticCost
from feaslearn.exceptions import DataError, NotFittedError

SQUARE = fl.Box(2, 0.0, 2.0)


def rule(Q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the minimisers over the square by another solver."""
    x, q = cp.Variable(2), cp.Parameter(2)
    problem = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, Q) + q @ x), [x >= 0, x <= 2])
    found = []
    for q.value in slopes:
        problem.solve(solver="CLARABEL")
        found.append(x.value)
    return np.array(found)


def test_a_quadratic_decision_maker_is_recovered() -> None:
    random = np.random.default_rng(0)
    Q, B = np.array([[2.0, 0.5], [0.5, 1.5]]), np.array([[1.0, -1.0], [0.5, 2.0]])
    signals = random.uniform(-2.0, 2.0, size=(60, 2))
    decisions = rule(Q, signals @ B.T - 1.0)
    model = QuadraticCost(SQUARE, ridge=1e-9).fit(signals[:40], decisions[:40])
    np.testing.assert_allclose(model.predict(signals), decisions, atol=1e-3)
    # Without curvature above one nothing else fixes the unit of cost.
    assert np.linalg.eigvalsh(model.Q_).min() >= 1.0 - 1e-6


def test_predictions_are_minimisers_over_the_known_set() -> None:
    random = np.random.default_rng(1)
    signals, decisions = random.normal(size=(20, 3)), random.uniform(0.0, 2.0, size=(20, 2))
    model = QuadraticCost(SQUARE).fit(signals, decisions)
    np.testing.assert_allclose(
        model.predict(signals), rule(model.Q_, signals @ model.B_.T + model.a_), atol=1e-5
    )


def test_everything_wrong_is_named() -> None:
    with pytest.raises(DataError) as told:
        QuadraticCost(fl.L2Ball(3), ridge=0.0).fit([[1.0]], [[np.nan, 1.0]])
    for part in ("polyhedral", "3 entries", "y[0, 0] is NaN", "ridge=0.0"):
        assert part in str(told.value)
    with pytest.raises(DataError, match="give the known set"):
        QuadraticCost().fit([[1.0]], [[1.0, 1.0]])
    with pytest.raises(NotFittedError):
        QuadraticCost(SQUARE).predict([[1.0]])
