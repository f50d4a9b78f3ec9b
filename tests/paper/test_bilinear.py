"""The bilinear program, against answers that are known otherwise."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from feaslearn import Box, L2Ball, Simplex
from feaslearn.exceptions import DataError, MissingExtraError, UnsupportedError
from feaslearn.paper.algorithm_1 import algorithm1
from feaslearn.paper.bilinear_program import bilinear
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.milp import mixed_integer
from feaslearn.paper.problem import Found, Problem, Samples
from feaslearn.paper.regions import Affine, Cone, ConicSet, Scaled

#: Costs c = (1, 1), (1, -1), (1, 0.05) with decisions at -1, 1 and in between.
COSTS = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.05]])
DECISIONS = np.array([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])


def stated(
    Z: object, costs: np.ndarray = COSTS, decisions: np.ndarray = DECISIONS, loss: object = None
) -> Problem:
    N = len(costs)
    samples = Samples(np.ones((N, 1)), costs, decisions, np.full(N, 1 / N))
    return Problem(Affine(Z), loss or Predictability(), samples)


def solve(problem: Problem) -> Found:
    return bilinear(problem, max_seconds=300.0, n_starts=3)


def tied_columns() -> np.ndarray:
    """Return the two columns nearest to the ends that tie for the third cost."""
    third = COSTS[2]
    step = 0.05 * third / (third @ third)
    return np.column_stack([DECISIONS[0] + step, DECISIONS[1] - step])


def test_binary_and_continuous_simplices_can_differ() -> None:
    """At the binary optimum every minimiser is unique, and yet the continuous one is far lower."""
    binary = stated(Simplex(2, binary=True))
    found = mixed_integer(binary, tol=1e-6)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(1 / 6, rel=1e-5)
    assert not binary.rows(found.theta).tied.any()
    continuous = stated(Simplex(2))
    assert continuous.value(found.theta) == pytest.approx(1 / 6, rel=1e-5)
    tied = tied_columns().ravel()
    assert continuous.value(tied) == pytest.approx(0.0017, abs=1e-4)
    # For the third cost the two columns tie: the corrected condition does not hold there.
    assert continuous.rows(tied).tied.tolist() == [False, False, True]
    # A solver that knows nothing of this finds no less, and that much.
    bound = solve(continuous).lower_bound
    assert bound == pytest.approx(continuous.value(tied), rel=2e-2)


def test_a_point_is_the_linear_policy() -> None:
    decisions = DECISIONS + np.array([5.0, 9.0])
    problem = stated(Simplex(1), decisions=decisions, loss=Suboptimality())
    found = solve(problem)
    assert found.status == "optimal"
    assert found.objective == problem.value(found.theta)
    # A region that is a point costs what the best of many points does.
    grid = np.linspace(-1.5, 1.5, 121)
    points = np.array([[5.0 + a, 9.0 + b] for a in grid for b in grid])
    best = min(problem.value(point) for point in points)
    assert found.objective <= best + 1e-6
    assert found.objective == pytest.approx(best, abs=0.02)
    assert found.lower_bound == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_other_norms(norm: str) -> None:
    problem = stated(Simplex(1), loss=Predictability(norm))
    found = solve(problem)
    assert found.status == "optimal"
    # One point for three decisions on a line: the one in between.
    assert found.objective == pytest.approx(2 / 3, rel=1e-3)
    assert found.lower_bound == pytest.approx(2 / 3, rel=2e-3)


def test_zero_is_a_proof_for_a_curved_set() -> None:
    costs = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    decisions = -costs / np.linalg.norm(costs, axis=1, keepdims=True)
    found = solve(stated(L2Ball(2), costs, decisions))
    assert found.objective < 1e-6
    assert found.lower_bound <= 1e-6
    # Every decision is the cheapest of the region.
    np.testing.assert_allclose(found.decide(np.ones((3, 1)), costs), decisions, atol=1e-3)


def test_a_search_that_was_stopped_has_a_bound_below_what_others_reach() -> None:
    random = np.random.default_rng(0)
    costs = random.uniform(size=(40, 5))
    decisions = 1.0 - np.eye(5)[costs.argmax(axis=1)] + 0.3 * random.normal(size=(40, 5))
    problem = stated(Simplex(3), costs, decisions)
    found = bilinear(problem, max_seconds=1.0, n_starts=1)
    assert found.status == "time limit"
    assert found.lower_bound <= algorithm1(problem, n_starts=3, seed=1).objective
    assert found.objective == problem.value(found.theta)


def test_what_is_not_served_is_refused() -> None:
    # {z : the matrix [[1, z], [z, 1]] is semidefinite}
    disc = ConicSet([[0.0], [np.sqrt(2.0)], [0.0]], [-1.0, 0.0, -1.0], [Cone("semidefinite", 3)])
    for Z, said in ((Simplex(2, binary=True), "mixed_integer serves"), (disc, "semidefinite")):
        with pytest.raises(UnsupportedError, match=said):
            bilinear(stated(Z))
    problem = stated(Simplex(2))
    with pytest.raises(UnsupportedError, match="convex serves Scaled"):
        bilinear(Problem(Scaled(Box(2)), Predictability(), problem.samples))
    for wrong in ({"tol": 1.0}, {"radius": 0.0}):
        with pytest.raises(DataError, match=next(iter(wrong))):
            bilinear(problem, **wrong)


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingExtraError, match=r"feaslearn\[scip\]"):
        bilinear(stated(Simplex(2)))
