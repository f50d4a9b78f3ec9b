"""Projections onto cones, against an interior-point solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feaslearn.solvers.cone_least_squares import DualActiveSet


def rows(random: np.random.Generator, m: int, count: int, whole: bool) -> np.ndarray:
    """Return rows of length one; whole numbers make many of them dependent."""
    V = random.integers(-1, 2, (m, count)) if whole else random.normal(size=(m, count))
    V = V[:, np.abs(V).sum(axis=0) > 0].astype(float)
    return np.asarray(V / np.linalg.norm(V, axis=0))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 12),
    count=st.integers(1, 60),
    whole=st.booleans(),
)
def test_optimality_conditions(seed: int, m: int, count: int, whole: bool) -> None:
    random = np.random.default_rng(seed)
    V, c = rows(random, m, count, whole), random.normal(size=m)
    search = DualActiveSet(c)
    # More rows may follow: the search goes on from where it was.
    search.add_rows(V[:, : count // 2])
    search.add_rows(V)
    assert (search.y @ V).min(initial=0.0) >= -1e-9
    assert search.multipliers.min(initial=0.0) >= 0.0
    np.testing.assert_allclose(c + V[:, search.active] @ search.multipliers, search.y, atol=1e-9)
    assert abs(search.y @ (search.y - c)) <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_equals_an_interior_point_solver(seed: int) -> None:
    random = np.random.default_rng(seed)
    V, c = rows(random, 20, 100, whole=False), random.normal(size=20)
    V[0] = np.abs(V[0]) + 1.0
    V /= np.linalg.norm(V, axis=0)
    search = DualActiveSet(c)
    search.add_rows(V)
    y = cp.Variable(20)
    cp.Problem(cp.Minimize(cp.sum_squares(y - c)), [V.T @ y >= 0]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(search.y, y.value, atol=1e-6)
    assert np.linalg.norm(search.y) > 0.1


def test_rows_that_nearly_depend_on_each_other_leave_no_rounding() -> None:
    for seed in (8, 33):
        rng = np.random.default_rng(seed)
        base = rng.normal(size=(12, 9))
        copies = base[:, rng.integers(0, 9, 30)]
        rows = np.hstack(
            [base, copies + 10.0 ** rng.uniform(-9, -6, 30) * rng.normal(size=(12, 30))]
        )
        rows /= np.linalg.norm(rows, axis=0)
        start = rng.normal(size=12)
        search = DualActiveSet(start)
        for count in (9, 20, 39):
            search.add_rows(rows[:, :count])
        pushed = rows[:, search.active] @ search.multipliers
        np.testing.assert_allclose(search.y, start + pushed, rtol=0, atol=1e-13)
        assert (search.y @ rows).min() > -1e-10
        assert (search.multipliers >= 0.0).all()
