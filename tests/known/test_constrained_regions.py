"""Hypotheses within known constraints, with parameters that are given: many samples at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import feaslearn as fl
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import KnownLimits
from feaslearn.region.relax import least_infeasible, rows_of_size_one

Array = NDArray[np.float64]
N = 3
HYPOTHESES: dict[str, Hypothesis] = {
    "affine simplex": fl.Affine(fl.Simplex(4)),
    "scaled cross": fl.Minkowski([fl.Term(fl.L1Ball(N))], scale="constant"),
    "affine hypersimplex": fl.Affine(fl.Hypersimplex(4, 2)),
    "sum": fl.Minkowski([fl.Term(fl.Simplex(3)), fl.Term(fl.Box(2), [0, 2])]),
}


def case(hypothesis: Hypothesis, seed: int, balance: bool) -> tuple[Array, Array, Array, Any]:
    """Return parameters, features with what is known behind them, costs, and what is known."""
    rng, k, count = np.random.default_rng(seed), 2, 6
    theta = rng.normal(size=hypothesis.layout(N, k).size)
    phi = np.column_stack([np.ones(count), rng.normal(size=count)])
    inner = hypothesis.predict(theta, phi, rng.normal(size=(count, N)))
    G, E = rng.normal(size=(1, N)), rng.normal(size=(int(balance), N))
    lower = np.where(rng.random((count, N)) < 0.3, -np.inf, inner - rng.random((count, N)))
    upper = np.where(rng.random((count, N)) < 0.3, np.inf, inner + rng.random((count, N)))
    known = KnownLimits(G, E, inner @ G.T - 0.2, lower, upper, inner @ E.T)
    return theta, np.hstack([phi, known.columns()]), rng.normal(size=(count, N)), known


def least_cost(image: Any, known: KnownLimits, cost: Array) -> float:
    """Minimise over an image of a set within known rows, by a program of its own."""
    points = image.vertices()
    matrix = np.hstack([-np.eye(N), points.T])
    equal = [matrix, np.append(np.zeros(N), np.ones(len(points)))[None]]
    right = [np.zeros(N), np.ones(1)]
    if len(known.E):
        across = np.linalg.pinv(known.E) @ known.E
        equal[0] = np.hstack([-np.eye(N), (np.eye(N) - across) @ points.T])
        right[0] = -np.linalg.pinv(known.E) @ known.e[0]
    found = linprog(
        np.append(cost, np.zeros(len(points))),
        A_ub=np.hstack([-known.G, np.zeros((len(known.G), len(points)))]),
        b_ub=-known.g[0],
        A_eq=np.vstack(equal),
        b_eq=np.concatenate(right),
        bounds=[*zip(known.lower[0], known.upper[0], strict=True), *[(0, None)] * len(points)],
    )
    return float(found.fun) if found.status == 0 else np.inf


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("name", HYPOTHESES)
def test_decisions_are_optimal_within_what_is_known(name: str, balance: bool) -> None:
    hypothesis = HYPOTHESES[name]
    n_inside = 0
    for seed in range(2):
        theta, features, costs, known = case(hypothesis, seed, balance)
        within = Constrained(hypothesis, known.shape)
        decisions, empty, *_ = within.solve(theta, features, costs)
        assert not known.violated(decisions, 1e-7).any()
        for i, cost in enumerate(costs):
            one = known.rows(slice(i, i + 1))
            image = hypothesis.image(theta, features[i, :2], N)
            least = least_cost(image, one, cost)
            assert empty[i] == np.isinf(least)
            if not empty[i]:
                n_inside += 1
                assert cost @ decisions[i] == pytest.approx(least, abs=1e-7)
                region = within.image(theta, features[i], N)
                assert region.contains(decisions[i][None], 1e-6)[0]
                assert cost @ region.minimize(cost) == pytest.approx(least, abs=1e-5)
            else:
                region = within.image(theta, features[i], N)
                assert region.is_point
                assert not one.violated(region.minimize(cost)[None], 1e-7)[0]
    assert n_inside >= 6


def limits(lower: Any, upper: Any, count: int = 1, **rows: Any) -> KnownLimits:
    """Return bounds, and rows where they are given."""
    n = len(lower)
    sides = [np.tile(np.asarray(side, dtype=float), (count, 1)) for side in (lower, upper)]
    G, E = (np.asarray(rows.get(key, np.zeros((0, n))), dtype=float) for key in "GE")
    g, e = (np.tile(np.asarray(rows.get(key, []), dtype=float), (count, 1)) for key in "ge")
    return KnownLimits(G, E, g, *sides, e)


def test_several_decisions_tie_only_where_they_are_different_ones() -> None:
    """The unit square, cut at x0 <= 0.5: x1 is free where its price is zero, and only there."""
    known = limits([-9.0, -9.0], [0.5, 9.0], 4)
    features = np.hstack([np.ones((4, 1)), known.columns()])
    costs = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    square = fl.Affine(fl.Box(2))
    within = Constrained(square, known.shape)
    theta = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert within.tied(theta, features, costs).tolist() == [True, False, True, True]
    centers = within.solve(theta, features, costs, ties="center").decisions
    np.testing.assert_allclose(centers, [[0.5, 0], [0.5, -1], [-1, 0], [-0.25, -1]], atol=1e-6)
    # Several points of the set make one decision: that is no tie.
    flat = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not within.tied(flat, features, costs)[[0, 2]].any()


@pytest.mark.parametrize("costs", [[1e7, 0.0], [0.0, 1e7], [0.0, 0.0], [1e-9, -1e-9]])
def test_however_large_prices_are_the_nearest_decision_comes_first(costs: list[float]) -> None:
    """The square of half-width 1, and x0 at least 2 is known: x0 is 2, and x1 is the cheapest."""
    known = limits([2.0, -9.0], [9.0, 9.0])
    features = np.hstack([np.ones((1, 1)), known.columns()])
    within = Constrained(fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), known.shape)
    (decision,) = within.solve(np.array([1.0, 0.0, 0.0]), features, np.array([costs])).decisions
    assert decision[0] == pytest.approx(2.0, abs=1e-9)
    assert abs(decision[1]) <= 1.0 + 1e-9
    assert costs[1] * decision[1] == pytest.approx(-abs(costs[1]), abs=1e-12)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (limits([0.0, 0.0], [1.0, 1.0], G=[[1.0, 1.0]], g=[3.0]), 1.0),
        (limits([0.0, 0.0], [1.0, 1.0], G=[[-1.0, -1.0]], g=[1.0]), 1.0),
        (limits([0.0, 0.0], [1.0, 1.0], E=[[1.0, 1.0]], e=[-0.5]), 0.5),
        (limits([0.0, 0.0], [1.0, 1.0], E=[[1.0, 1.0]], e=[2.5]), 0.5),
        (limits([-5.0, -5.0], [9.0, 9.0], G=[[1.0, 1.0], [-1.0, 1.0]], g=[30.0, 1.0]), 12.0),
        (limits([-5.0, -5.0], [9.0, 9.0], G=[[-1.0, -2.0]], g=[18.0]), 1.5),
    ],
)
def test_rows_that_contradict_each_other_are_broken_least(
    known: KnownLimits, expected: float
) -> None:
    x, given = least_infeasible(known), known
    known = rows_of_size_one(known)
    beyond = np.maximum(known.lower[0] - x, 0) + np.maximum(x - known.upper[0], 0)
    broken = np.abs(known.E @ x - known.e[0]).sum() + np.maximum(known.g[0] - known.G @ x, 0).sum()
    assert broken + beyond.sum() == pytest.approx(expected)
    features = np.hstack([np.ones((1, 1)), given.columns()])
    within = Constrained(fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), given.shape)
    assert within.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2))).empty[0]
    # A curved region is asked sample by sample.
    round_one = Constrained(fl.Minkowski([fl.Term(fl.L2Ball(2))], scale="constant"), given.shape)
    found = round_one.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2)))
    np.testing.assert_allclose(found.decisions[0], x, atol=1e-6)
    assert found.empty[0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_ties_are_told_in_any_unit(unit: float) -> None:
    known = limits([0.0, 0.0], [0.5 * unit, 2.0 * unit])
    features = np.hstack([np.ones((3, 1)), np.tile(known.columns(), (3, 1))])
    within = Constrained(fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), known.shape)
    costs = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    assert within.tied(np.array([unit, 0.0, 0.0]), features, costs).tolist() == [True, False, False]
