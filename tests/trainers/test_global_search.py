"""The bilinear program, against answers that are known otherwise."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import MissingExtraError, UnsupportedError
from feaslearn.losses import Objective
from feaslearn.solvers.bilinear import make_solver
from feaslearn.trainers import Annealing, Global, MixedInteger, Trained
from registry import example

#: Costs c = (1, 1), (1, -1), (1, 0.05) with decisions at -1, 1 and in between.
COSTS = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.05]])
DECISIONS = np.array([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])


def objective(hypothesis: object, loss: object = None, rows: Block | None = None) -> Objective:
    if rows is None:
        rows = Block(np.ones((3, 1)), COSTS, DECISIONS, np.full(3, 1 / 3))
    return Objective(loss or fl.Predictability(), hypothesis, Samples.of(rows))


def train(problem: Objective, **parameters: object) -> Trained:
    return Global(max_seconds=300.0, n_starts=3, **parameters).train(
        problem, np.random.default_rng(0)
    )


def tied_columns() -> np.ndarray:
    """Return the two columns nearest to the ends that tie for the third cost."""
    third = COSTS[2]
    step = 0.05 * third / (third @ third)
    return np.column_stack([DECISIONS[0] + step, DECISIONS[1] - step])


def test_binary_and_continuous_simplices_can_differ() -> None:
    """At the binary optimum every minimiser is unique, and yet the continuous one is far lower."""
    binary = objective(fl.Affine(fl.Simplex(2, binary=True)))
    theta, result = MixedInteger(tol=1e-6).train(binary, np.random.default_rng(0))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(1 / 6, rel=1e-5)
    assert result.tied_share == 0.0
    continuous = objective(fl.Affine(fl.Simplex(2)))
    assert continuous.value(theta) == pytest.approx(1 / 6, rel=1e-5)
    tied = tied_columns().ravel()
    assert continuous.value(tied) == pytest.approx(0.0017, abs=1e-4)
    # For the third cost the two columns tie: the corrected condition does not hold there.
    assert continuous.hypothesis.tied(tied, np.ones((3, 1)), COSTS).tolist() == [False, False, True]
    # A solver that knows nothing of this finds no less, and that much.
    bound = train(continuous).result.lower_bound
    assert bound == pytest.approx(continuous.value(tied), rel=2e-2)


@pytest.mark.soak
def test_they_agree_where_the_continuous_optimum_is_unique() -> None:
    data = fl.datasets.make_l1_ball(6, n=2, low=-1.0, noise=0.1, random_state=3)
    rows = Block(np.ones((6, 1)), data.cost_matrix, data.decisions, np.full(6, 1 / 6))
    result = train(objective(fl.Affine(fl.Simplex(2)), rows=rows)).result
    assert result.status == "optimal"
    assert result.tied_share == 0.0
    binary = objective(fl.Affine(fl.Simplex(2, binary=True)), rows=rows)
    proved = MixedInteger().train(binary, np.random.default_rng(0)).result
    assert proved.status == "optimal"
    assert result.objective == pytest.approx(proved.objective, rel=2e-3)
    assert result.lower_bound == pytest.approx(proved.lower_bound, rel=2e-3)


@pytest.mark.parametrize("loss", [fl.Suboptimality()], ids=repr)
def test_a_point_is_the_linear_policy(loss: object) -> None:
    rows = Block(np.ones((3, 1)), COSTS, DECISIONS + np.array([5.0, 9.0]), np.full(3, 1 / 3))
    problem = objective(fl.Affine(fl.Simplex(1)), loss, rows)
    theta, result = train(problem)
    assert result.status == "optimal"
    assert result.objective == problem.value(theta)
    # A region that is a point costs what the best of many points does.
    grid = np.linspace(-1.5, 1.5, 121)
    points = np.array([[5.0 + a, 9.0 + b] for a in grid for b in grid])
    best = min(problem.value(point) for point in points)
    assert result.objective <= best + 1e-6
    assert result.objective == pytest.approx(best, abs=0.02)
    assert result.lower_bound == pytest.approx(best, abs=0.02)


def test_zero_is_a_proof_for_a_curved_set() -> None:
    costs = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    decisions = -costs / np.linalg.norm(costs, axis=1, keepdims=True)
    rows = Block(np.ones((3, 1)), costs, decisions, np.full(3, 1 / 3))
    theta, result = train(objective(fl.Affine(fl.L2Ball(2)), rows=rows))
    assert result.objective < 1e-6
    assert result.lower_bound <= 1e-6
    # Every decision is the cheapest of the region.
    image = fl.Affine(fl.L2Ball(2)).image(theta, np.ones(1), 2)
    for cost, decision in zip(costs, decisions, strict=True):
        assert image.minimize(cost) == pytest.approx(decision, abs=1e-3)


def test_a_search_that_was_stopped_has_a_bound_below_what_others_reach() -> None:
    data = fl.datasets.make_l1_ball(40, noise=0.3, random_state=0)
    rows = Block(np.ones((40, 1)), data.cost_matrix, data.decisions, np.full(40, 1 / 40))
    problem = objective(fl.Affine(fl.Simplex(3)), rows=rows)
    result = Global(max_seconds=1.0, n_starts=1).train(problem, np.random.default_rng(0)).result
    assert result.status == "time limit"
    other = Annealing(n_starts=3, ridge=0.01).train(problem, np.random.default_rng(1)).result
    # On a busy machine, nothing may be proved in time.
    assert result.lower_bound is None or result.lower_bound <= other.objective


def test_what_is_not_served_is_refused() -> None:
    for hypothesis, said in (
        (fl.Scaled(fl.Box(2)), "Convex trains Scaled"),
        (fl.Affine(fl.Simplex(2, binary=True)), "MixedInteger serves it"),
        (fl.Affine(example("conic-parabola-cap")), "AdaptiveSmoothing and GradientDescent serve"),
    ):
        with pytest.raises(UnsupportedError, match=said):
            Global().train(objective(hypothesis), np.random.default_rng(0))


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    for solver, extra in (("auto", "scip"), ("scip", "scip"), ("gurobi", "gurobi")):
        with pytest.raises(MissingExtraError, match=rf"feaslearn\[{extra}\]"):
            make_solver(solver)
    with pytest.raises(UnsupportedError, match="'cplex' is not known"):
        make_solver("cplex")
