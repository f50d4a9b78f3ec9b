"""Ternary maps, against all of them."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import (
    InfeasibleProblemError,
    UnboundedProblemError,
    UnsupportedError,
)
from feaslearn.losses import Objective
from feaslearn.results import TrainingResult
from feaslearn.solvers.mip import MixedIntegerProgram
from feaslearn.trainers import GradientDescent, MixedInteger
from feaslearn.trainers.automatic import choose_trainer

SETS = {"box": fl.Box(2, -1.0, [1.0, 2.0]), "l1-ball": fl.L1Ball(2), "simplex": fl.Simplex(2)}
LOSSES = {
    "predictability": fl.Predictability(),
    "predictability-l1": fl.Predictability("l1"),
    "predictability-linf": fl.Predictability("linf"),
    "suboptimality": fl.Suboptimality(),
    "suboptimality-l1": fl.Suboptimality("l1", normalize_cost=False),
    "suboptimality-linf": fl.Suboptimality("linf"),
}


def samples(primitive: object, seed: int, noise: float, rows: int = 5) -> Block:
    random = np.random.default_rng(seed)
    A = np.array([[1.0, -1.0], [0.0, 1.0]])
    costs, features = random.normal(size=(rows, 2)), np.ones((rows, 2))
    features[:, 1] = random.normal(size=rows)
    decisions = primitive.argmin(costs @ A) @ A.T + features @ [[1.0, 2.0], [0.5, -0.5]]
    decisions = decisions + noise * random.normal(size=(rows, 2))
    return Block(features, costs, decisions, np.full(rows, 1.0 / rows))


def objective(whole: Block, primitive: object, loss: object) -> Objective:
    return Objective(loss, fl.Ternary(primitive), Samples.of(whole, 5))


def solve(problem: Objective, **parameters: object) -> TrainingResult:
    """Train, and return the result."""
    return MixedInteger(**parameters).train(problem, np.random.default_rng(0)).result


def least_of_all_maps(whole: Block, primitive: object, loss: object) -> float:
    """Go through all maps; for each, the best offset is a convex program over listed vertices."""
    rows, n = whole.decisions.shape
    costs = loss.unit_costs(whole.costs) if isinstance(loss, fl.Suboptimality) else whole.costs
    vertices = primitive.vertices()
    b, mix = cp.Variable((2, n)), cp.Variable((rows, len(vertices)), nonneg=True)
    corners = cp.Parameter((len(vertices), n))
    values = []
    terms, limits = [], [cp.sum(mix, axis=1) == 1]
    best = cp.Parameter((rows, n))
    for i in range(rows):
        offset = whole.features[i] @ b
        if isinstance(loss, fl.Suboptimality):
            gap = mix[i] @ corners + offset - whole.decisions[i]
            J = cp.pos(costs[i] @ (whole.decisions[i] - offset - best[i]))
            parts = {"l2": cp.sum_squares(gap) + J**2, "l1": cp.norm1(gap) + J}
            terms.append(parts.get(loss.norm, cp.maximum(cp.norm_inf(gap), J)))
        else:
            gap = best[i] + offset - whole.decisions[i]
            parts = {"l2": cp.sum_squares(gap), "l1": cp.norm1(gap)}
            terms.append(parts.get(loss.norm, cp.norm_inf(gap)))
    problem = cp.Problem(cp.Minimize(sum(terms) / rows), limits)
    for entries in product((-1.0, 0.0, 1.0), repeat=2 * n):
        A = np.array(entries).reshape(n, 2)
        corners.value = vertices @ A.T
        best.value = primitive.argmin(whole.costs @ A) @ A.T
        values.append(problem.solve(solver="CLARABEL"))
    return float(min(values))


@pytest.mark.parametrize(
    ("primitive", "loss"),
    [
        *(("box", loss) for loss in LOSSES),
        ("l1-ball", "predictability"),
        ("simplex", "suboptimality"),
    ],
)
def test_the_best_of_all_maps_is_found_and_proved(primitive: str, loss: str) -> None:
    whole = samples(SETS[primitive], seed=2, noise=0.5)
    problem = objective(whole, SETS[primitive], LOSSES[loss])
    theta, result = MixedInteger(n_starts=1).train(problem, np.random.default_rng(0))
    right = least_of_all_maps(whole, SETS[primitive], LOSSES[loss])
    assert result.status == "optimal"
    assert result.objective == pytest.approx(right, rel=3e-4)
    assert result.lower_bound <= right * (1.0 + 1e-6)
    assert result.gap <= 1.1e-4 * right
    assert set(theta[:4]) <= {-1.0, 0.0, 1.0}


def test_the_program_alone_finds_the_map() -> None:
    primitive = fl.Box(2)
    whole = samples(primitive, seed=0, noise=0.0, rows=15)
    problem = objective(whole, primitive, fl.Predictability("l1"))
    result = solve(problem, n_starts=0)
    assert result.status == "optimal"
    assert result.objective < 1e-7


@pytest.mark.parametrize("loss", ["predictability", "suboptimality"])
def test_unobserved_decisions(loss: str) -> None:
    primitive = SETS["box"]
    whole = samples(primitive, seed=1, noise=0.0, rows=20)
    whole.decisions[3, 0] = whole.decisions[7, 1] = np.nan
    problem = objective(whole, primitive, LOSSES[loss])
    result = solve(problem, n_starts=5)
    assert result.status == "optimal"
    assert result.objective < 1e-9
    assert result.lower_bound == 0.0


def test_a_model_learns_a_flow_between_two_places() -> None:
    random = np.random.default_rng(0)
    prices, demand = random.uniform(size=(60, 2)), random.uniform(1.0, 2.0, size=(60, 2))
    flow = np.sign(prices[:, 1] - prices[:, 0])[:, None]
    decisions = demand + 0.5 * flow * [1.0, -1.0]
    signals = np.hstack([prices, demand])
    model = fl.RegionRegressor(fl.Ternary(fl.Box(1, -0.5, 0.5)), cost=[0, 1], random_state=0).fit(
        signals[:30], decisions[:30]
    )
    assert model.result_.status == "optimal"
    assert abs(model.theta_[:2]).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(model.predict(signals), decisions, atol=1e-6)


def test_a_time_limit_returns_a_map() -> None:
    whole = samples(SETS["box"], seed=0, noise=1.0, rows=40)
    problem = objective(whole, SETS["box"], fl.Predictability())
    result = solve(problem, max_seconds=0.2, n_starts=0)
    assert result.status == "time limit"
    assert result.lower_bound <= result.objective < 10.0


def test_what_is_not_served_is_refused() -> None:
    whole = samples(SETS["box"], seed=0, noise=1.0)
    served = objective(whole, fl.Box(2), fl.Suboptimality())
    assert isinstance(choose_trainer("auto", served), MixedInteger)
    wrong = objective(whole, fl.L2Ball(2), fl.Predictability(squared=False))
    with pytest.raises(UnsupportedError) as told:
        solve(wrong)
    assert "curved" in str(told.value)
    assert "not squared" in str(told.value)
    with pytest.raises(UnsupportedError, match="without binary=True"):
        solve(objective(whole, fl.Simplex(2, binary=True), fl.Predictability()))
    with pytest.raises(UnsupportedError, match="MixedInteger trains it"):
        GradientDescent().train(served, np.random.default_rng(0))


def test_programs_without_an_answer_say_so() -> None:
    model = MixedIntegerProgram("small")
    x = model.columns(2, lower=0.0, upper=1.0, integer=True)
    model.row([(x, 1.0)], lower=3.0)
    with pytest.raises(InfeasibleProblemError, match="small program has no feasible point"):
        model.solve()
    assert model.solve(feasible=False) == ("infeasible", None, np.inf)
    model = MixedIntegerProgram("small")
    y = model.columns(1, cost=-1.0, integer=True)
    model.row([(y, 1.0)], lower=0.0)
    with pytest.raises(UnboundedProblemError):
        model.solve()
