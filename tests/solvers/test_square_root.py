"""Roots of moments: exact where they are well posed, deaf to rounding where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from feaslearn.exceptions import SolverError
from feaslearn.solvers.cone_least_squares import MOST_SEEN, square_root

Array = NDArray[np.float64]


def of_rank(rank: int, size: int = 6, seed: int = 0) -> tuple[Array, Array, Array]:
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
