"""The loss of optima of linear programs, and its gradient in their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.kernels import program_loss
from feaslearn.solvers.small_lp_kernels import OPTIMAL, solve_rows, workspace

Array = NDArray[np.float64]

#: Programs of n entries, of which some have rows with maps of their own.
N, ENTRIES, ROWS, FIRST, MAPS = 30, 4, 4, 1, (2, 3)


class Case:
    """Programs with an equality, bounds and rows that bind in some samples."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.rows = random.normal(size=(ROWS, ENTRIES))
        self.slack = np.array([0.0, np.inf, np.inf, np.inf])
        self.prices, self.targets = random.normal(size=(2, N, ENTRIES))
        self.targets[3, 1] = np.nan
        self.weights = random.random(N)
        self.importance = random.random(ENTRIES) + 0.5
        side = 1.0 + 0.1 * random.normal(size=(2, N, ENTRIES))
        self.parts = [random.normal(size=(N, *MAPS)), random.random((N, ROWS)), -side[0], side[1]]

    def loss(self, parts: list[Array]) -> tuple[float, list[Array]]:
        slopes = [np.zeros_like(part) for part in parts]
        data = self.prices, self.targets, self.weights, self.importance
        work = workspace(ROWS, ENTRIES)
        value = program_loss(work, self.rows.copy(), self.slack, FIRST, *parts, *data, *slopes)
        return value, slopes

    def optima(self) -> tuple[Array, Array]:
        """Solve each program on its own; return the optima, and which there are."""
        maps, right, lower, upper = self.parts
        x, found = np.full((N, ENTRIES), np.nan), np.zeros(N, dtype=bool)
        for i in range(N):
            rows = self.rows.copy()
            rows[FIRST : FIRST + MAPS[0], : MAPS[1]] = -maps[i]
            status, tied = np.empty(1, dtype=np.int8), np.empty(1, dtype=bool)
            out = x[i : i + 1], np.empty((1, ROWS)), status, tied
            sides = (side[i : i + 1] for side in (right, self.prices, lower, upper))
            solve_rows(workspace(ROWS, ENTRIES), rows, *sides, self.slack, *out)
            found[i] = status[0] == OPTIMAL
        return x, found


def test_gradient_against_finite_differences() -> None:
    step = 1e-6
    for seed in range(3):
        case = Case(seed)
        _, slopes = case.loss(case.parts)
        assert all(np.abs(slope).max() > 1e-3 for slope in slopes)
        for which, slope in enumerate(slopes):
            for place in np.ndindex(slope.shape):
                sides = []
                for sign in (1.0, -1.0):
                    moved = [part.copy() for part in case.parts]
                    moved[which][place] += sign * step
                    sides.append(case.loss(moved)[0])
                measured = (sides[0] - sides[1]) / (2.0 * step)
                np.testing.assert_allclose(slope[place], measured, rtol=1e-5, atol=1e-6)


def test_value_is_that_of_the_programs_that_have_an_optimum() -> None:
    case = Case(1)
    case.parts[1][5] = [100.0, 1.0, 1.0, 1.0]  # an equality that no entries reach
    x, found = case.optima()
    assert not found[5]
    assert found.sum() > 0.7 * N
    squares = np.nan_to_num(x - case.targets) ** 2 @ case.importance
    value, slopes = case.loss(case.parts)
    np.testing.assert_allclose(value, case.weights[found] @ squares[found], rtol=1e-12)
    assert not any(slope[~found].any() for slope in slopes)
