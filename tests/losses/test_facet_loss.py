"""The gradient of the loss of a region given by rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.kernels import facet_loss
from feaslearn.solvers.small_lp_kernels import OPTIMAL, solve_rows, workspace

Array = NDArray[np.float64]

N, DECISIONS, FEATURES, EQUALITIES, FACETS = 30, 4, 3, 1, 3
PENALTY = 7.0


class Case:
    """A region with an equality, bounds and facets that bind in some samples."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        n, k, q, m = DECISIONS, FEATURES, EQUALITIES, FACETS
        self.features = np.column_stack([np.ones(N), random.normal(size=(N, k - 1))])
        self.costs = random.normal(size=(N, n))
        self.decisions = random.normal(size=(N, n))
        self.decisions[3, 1] = np.nan
        self.weights = random.random(N)
        self.importance = random.random(n) + 0.5
        H = np.column_stack([random.random(q + m), 0.1 * random.normal(size=(q + m, k - 1))])
        lower = np.column_stack([-np.ones(n), 0.1 * random.normal(size=(n, k - 1))])
        upper = np.column_stack([np.ones(n), 0.1 * random.normal(size=(n, k - 1))])
        self.parts = [random.normal(size=(q + m, n)), H, lower, upper]
        self.slack = np.concatenate([np.zeros(q), np.full(m, np.inf)])

    def loss(self, parts: list[Array]) -> tuple[float, list[Array]]:
        slopes = [np.zeros_like(part) for part in parts]
        data = self.features, self.costs, self.decisions, self.weights, self.importance
        work = workspace(*parts[0].shape)
        value = facet_loss(work, *parts, self.slack, *data, PENALTY, *slopes)
        return value, slopes


def test_gradient_against_finite_differences() -> None:
    step = 1e-6
    for seed in range(6):
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


def test_value_is_that_of_the_programs() -> None:
    case = Case(1)
    G, H, lower, upper = case.parts
    X, duals = np.full((N, DECISIONS), np.nan), np.empty((N, len(G)))
    status, tied = np.empty(N, dtype=np.int8), np.empty(N, dtype=bool)
    bounds = (np.ascontiguousarray(case.features @ side.T) for side in (lower, upper))
    right = np.ascontiguousarray(case.features @ H.T)
    out = X, duals, status, tied
    solve_rows(workspace(*G.shape), G, right, case.costs, *bounds, case.slack, *out)
    squares = np.nan_to_num(X - case.decisions) ** 2 @ case.importance
    expected = case.weights @ np.where(status == OPTIMAL, squares, PENALTY)
    np.testing.assert_allclose(case.loss(case.parts)[0], expected, rtol=1e-12)


def test_empty_regions_cost_the_penalty_and_have_no_gradient() -> None:
    case = Case(2)
    case.parts[1][0] = [100.0, 0.0, 0.0]
    value, slopes = case.loss(case.parts)
    np.testing.assert_allclose(value, PENALTY * case.weights.sum())
    assert not any(slope.any() for slope in slopes)
