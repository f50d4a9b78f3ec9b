"""Projections onto cones by their optimality conditions, and roots of moments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feaslearn.exceptions import SolverError
from feaslearn.solvers.cone_least_squares import MOST_SEEN, DualActiveSet, square_root


def rows(random: np.random.Generator, m: int, count: int, whole: bool) -> np.ndarray:
    """Return rows of length one; whole numbers make many of them dependent."""
    V = random.integers(-1, 2, (m, count)) if whole else random.normal(size=(m, count))
    V = V[:, np.abs(V).sum(axis=0) > 0].astype(float)
    return np.asarray(V / np.linalg.norm(V, axis=0))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), m=st.integers(1, 12), count=st.integers(1, 60), whole=st.booleans()
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


def of_rank(rank: int, size: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a matrix of a rank, with diagonal at most one, a right side, and the design."""
    random = np.random.default_rng(seed)
    design = random.normal(size=(40, rank)) @ random.normal(size=(rank, size))
    design /= np.linalg.norm(design, axis=0)
    return design.T @ design, design.T @ random.normal(size=40), design


@pytest.mark.parametrize("rank", [6, 3])
def test_roots(rank: int) -> None:
    H, r, _ = of_rank(rank)
    root, lifted, right = square_root(H, r)
    np.testing.assert_allclose(root.L @ root.L.T, lifted, atol=1e-14)
    np.testing.assert_allclose(lifted, H, atol=2e-10)
    table = np.random.default_rng(1).normal(size=(6, 4))
    np.testing.assert_allclose(root.L @ root.below(table), table, atol=1e-9)
    np.testing.assert_allclose(root.L.T @ root.above(table[:, 0]), table[:, 0], atol=1e-9)
    np.testing.assert_allclose(right, r, atol=1e-12)
    np.testing.assert_allclose(root.L @ root.below(right), r, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_reach_the_smallest_solution(seed: int) -> None:
    """Divided by the lift, rounding of 1e-16 would be 1e-6."""
    H, r, design = of_rank(3, seed=seed)
    random = np.random.default_rng(seed)
    found = []
    for size in (0.0, 1e-16):
        noise = size * random.normal(size=H.shape)
        root, _, right = square_root(H + noise + noise.T, r + size * random.normal(size=6))
        found.append(root.above(root.below(right)))
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-12)
    smallest = np.linalg.pinv(design.T @ design, 1e-9, hermitian=True) @ r
    np.testing.assert_allclose(found[0], smallest, atol=1e-7)


def test_rows_without_a_part_along_a_lifted_direction_have_none() -> None:
    H, r, design = of_rank(3)
    row = design[0] @ H  # in the span
    root, _, _ = square_root(H, r)
    lifted = root.lengths < 2e-4  # type: ignore[operator]
    assert lifted.sum() == 3
    assert not root.below(row)[lifted].any()
    assert root.below(row)[~lifted].all()


@pytest.mark.parametrize("size", [3, MOST_SEEN + 1])
def test_what_is_no_sum_of_squares_is_refused(size: int) -> None:
    with pytest.raises(SolverError, match="rounding took over"):
        square_root(np.full((size, size), -0.5), np.ones(size))
