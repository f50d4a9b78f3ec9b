"""Branch and bound, the bilinear program and ternary maps, against answers known otherwise."""

from __future__ import annotations

import sys
import time
from functools import cache
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from feaslearn import Box, L1Ball, L2Ball, Polytope, Simplex
from feaslearn.exceptions import DataError, MissingExtraError, SolverError, UnsupportedError
from feaslearn.paper.algorithm_1 import algorithm1
from feaslearn.paper.algorithm_2 import algorithm2
from feaslearn.paper.bilinear_program import bilinear
from feaslearn.paper.datasets import make_l1_ball
from feaslearn.paper.enumerated import EnumeratedSamples, NodeProgram
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.milp import BranchAndBound, mixed_integer
from feaslearn.paper.problem import Clock, Found, Problem, Samples
from feaslearn.paper.regions import Affine, Cone, ConicSet, Scaled, Ternary
from feaslearn.paper.scaled import convex
from feaslearn.paper.ternary_map import TernaryProgram, ternary
from paper.cases import LINEAR_OR_SQUARED as LOSSES
from paper.cases import length

SETS = {
    "simplex": Simplex(2, binary=True),
    "polytope": Polytope([[-1.0, -1.0]], [-1.0], binary=True),
}


def noisy(rows: int, seed: int, k: int = 1) -> Samples:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), random.normal(size=(rows, k - 1))])
    decisions = random.normal(size=(rows, 2)) + 5.0
    decisions[1] = decisions[0]
    features[1] = features[0]
    weights = random.uniform(0.5, 1.5, rows)
    return Samples(features, random.normal(size=(rows, 2)), decisions, weights / weights.sum())


def least_by_enumeration(samples: Samples, Z: object, loss: object) -> float:
    """Solve one convex program for every way to give each sample a point."""
    points, (rows, n), k = Z.vertices(), samples.decisions.shape, samples.features.shape[1]
    costs = samples.costs
    suboptimality = isinstance(loss, Suboptimality)
    if suboptimality:
        costs = loss.unit_costs(costs)
    A, b = [cp.Variable((n, points.shape[1])) for _ in range(k)], cp.Variable((n, k))
    values = []
    for chosen in product(range(len(points)), repeat=rows):
        total, limits = 0.0, []
        for i, m in enumerate(chosen):
            phi, c, x = samples.features[i], costs[i], samples.decisions[i]
            map_ = sum(phi[j] * A[j] for j in range(k))
            images = [map_ @ w + b @ phi for w in points]
            gap = images[m] - x
            if suboptimality:
                J = cp.Variable(nonneg=True)
                limits += [c @ x - c @ image <= J for image in images]
                gap = cp.hstack([gap, J])
            else:
                limits += [c @ images[m] <= c @ image for image in images]
            total = total + samples.weights[i] * length(loss, gap)
        problem = cp.Problem(cp.Minimize(total), limits)
        values.append(problem.solve(solver="CLARABEL"))
    return float(min(values))


@cache
def few_rows(loss: str, name: str, k: int = 1) -> tuple[Samples, float]:
    """Return a few samples of k features and their least loss."""
    samples = noisy(4 if name == "simplex" else 3, seed=3, k=k)
    return samples, least_by_enumeration(samples, SETS[name], LOSSES[loss])


def problem_of(samples: Samples, name: str, loss: str) -> Problem:
    return Problem(Affine(SETS[name]), LOSSES[loss], samples)


@pytest.mark.parametrize(
    ("loss", "name", "k"),
    [
        *((loss, "simplex", 1) for loss in LOSSES),
        ("predictability", "polytope", 1),
        ("predictability", "simplex", 2),
    ],
)
def test_the_optimum_is_that_of_enumeration(loss: str, name: str, k: int) -> None:
    samples, right = few_rows(loss, name, k)
    problem = problem_of(samples, name, loss)
    found = mixed_integer(problem, tol=1e-6)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(right, abs=1e-5)
    assert found.lower_bound <= right + 1e-6
    assert found.objective == pytest.approx(problem.value(found.theta), rel=1e-12)
    assert found.objective - found.lower_bound <= 1e-5


class NoIncumbent(BranchAndBound):
    """A search that never finds better parameters, so that nothing hides a bound."""

    def offer(self, beta: np.ndarray) -> None:
        """Leave the best as it is."""


@pytest.mark.parametrize("loss", LOSSES)
def test_without_an_incumbent_the_bound_is_the_optimum(loss: str) -> None:
    samples, right = few_rows(loss, "simplex")
    listed = EnumeratedSamples.of(problem_of(samples, "simplex", loss))
    far = 10.0 * right / listed.in_units(1.0)
    search = NoIncumbent(listed, 1e-6, Clock(), 10_000, value=far)
    assert search.run() == "optimal"
    assert max(row["lower bound"] for row in search.history) <= right * (1.0 + 1e-6)
    assert listed.in_units(search.lower_bound) == pytest.approx(right, rel=1e-4)


def columns(rows: int, p: int, seed: int = 0, noise: float = 0.0) -> Problem:
    data = make_l1_ball(rows, noise=noise, random_state=seed)
    return Problem.of(Affine(Simplex(p, binary=True)), data)


def test_four_columns_for_five_vertices_are_proved_best() -> None:
    problem = columns(100, 4)
    found = mixed_integer(problem)
    assert found.status == "optimal"
    assert found.objective - found.lower_bound <= 1e-4 * found.objective
    # The two vertices that are visited least share a column.
    assert 0.15 < found.objective < 0.25
    # No prediction hangs on a tie.
    assert problem.returned_loss(found.theta) == pytest.approx(found.objective)
    assert not problem.rows(found.theta).tied.any()


def test_enough_columns_reach_zero_which_is_a_proof() -> None:
    found = mixed_integer(columns(100, 5))
    assert found.status == "optimal"
    assert found.objective < 1e-20
    assert found.lower_bound <= found.objective
    fresh = make_l1_ball(100, random_state=1)
    np.testing.assert_allclose(found.predict(fresh), fresh.decisions, atol=1e-10)


def test_the_wall_clock_ends_a_search() -> None:
    began = time.monotonic()
    found = mixed_integer(columns(60, 4, noise=0.2), max_seconds=0.3)
    assert found.status == "time limit"
    assert time.monotonic() - began < 3.0


def test_bound_and_loss_close_in_on_each_other() -> None:
    found = mixed_integer(columns(60, 4, noise=0.2), max_iter=200)
    bounds, losses, seconds = (
        [row[name] for row in found.history] for name in ("lower bound", "loss", "seconds")
    )
    assert len(bounds) > 1
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(losses) <= 0.0).all()
    assert (np.diff(seconds) >= 0.0).all()
    assert losses[-1] == pytest.approx(found.objective)


def test_units_offsets_and_row_order_do_not_matter() -> None:
    samples = noisy(5, seed=5, k=2)
    moved = samples._replace(features=samples.features * [1.0, 1e-3] + [0.0, 7.0])
    one, other = (
        mixed_integer(problem_of(each, "simplex", "predictability")) for each in (samples, moved)
    )
    assert other.objective == pytest.approx(one.objective, rel=1e-3)
    decided = [each.decide(each.problem.samples.features, samples.costs) for each in (one, other)]
    np.testing.assert_allclose(*decided, atol=1e-4)
    problem = columns(30, 3, seed=1)
    plain, samples = mixed_integer(problem).objective, problem.samples
    large = samples._replace(costs=1e-3 * samples.costs, decisions=1e4 * samples.decisions)
    turned = samples.rows(np.random.default_rng(0).permutation(30))
    for moved, unit in ((large, 1e8), (turned, 1.0)):
        found = mixed_integer(problem.with_samples(moved)).objective
        assert found == pytest.approx(unit * plain, rel=1e-3)


def test_the_same_seed_finds_the_same() -> None:
    problem = problem_of(noisy(6, seed=2, k=2), "simplex", "predictability")
    one, other = (mixed_integer(problem, max_iter=3, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.theta, other.theta)


def test_a_solver_that_fails_leaves_the_bound_of_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, works = problem_of(noisy(5, seed=3), "simplex", "predictability"), NodeProgram.solve
    calls = iter(range(10**6))

    def sometimes(self: NodeProgram, *arguments: object) -> object:
        if next(calls) % 5 == 4:
            raise SolverError("no")
        return works(self, *arguments)

    right = mixed_integer(problem, max_seconds=None, tol=1e-6)
    monkeypatch.setattr(NodeProgram, "solve", sometimes)
    found = mixed_integer(problem, max_seconds=None, tol=1e-6)
    assert found.lower_bound <= right.objective + 1e-6
    assert found.objective == pytest.approx(right.objective, rel=1e-3)


def test_the_optimum_may_need_a_tie() -> None:
    # One cost, two decisions: they are both optimal only where their columns tie.
    decisions = np.array([[0.0, 1.0], [1.0, 0.0]])
    samples = Samples(np.ones((2, 1)), np.ones((2, 2)), decisions, np.full(2, 0.5))
    problem = problem_of(samples, "simplex", "predictability")
    found = mixed_integer(problem)
    assert found.objective == pytest.approx(0.0, abs=1e-9)
    assert problem.rows(found.theta).tied.all()
    assert problem.returned_loss(found.theta) > 0.1


# The bilinear program.

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


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingExtraError, match=r"feaslearn\[scip\]"):
        bilinear(stated(Simplex(2)))


# Ternary maps, against all of them.

MAPPED = {"box": Box(2, -1.0, [1.0, 2.0]), "l1-ball": L1Ball(2), "simplex": Simplex(2)}


def drawn(Z: object, seed: int, noise: float, rows: int = 5) -> Samples:
    random = np.random.default_rng(seed)
    A = np.array([[1.0, -1.0], [0.0, 1.0]])
    costs, features = random.normal(size=(rows, 2)), np.ones((rows, 2))
    features[:, 1] = random.normal(size=rows)
    decisions = Z.argmin(costs @ A) @ A.T + features @ [[1.0, 2.0], [0.5, -0.5]]
    decisions = decisions + noise * random.normal(size=(rows, 2))
    return Samples(features, costs, decisions, np.full(rows, 1.0 / rows))


def boxed(seed: int, noise: float, rows: int = 5) -> Problem:
    samples = drawn(MAPPED["box"], seed, noise, rows)
    return Problem(Ternary(MAPPED["box"]), Predictability(), samples)


def least_of_all_maps(samples: Samples, Z: object, loss: object) -> float:
    """Go through all maps; for each, the best offset is a convex program over listed vertices."""
    rows, n = samples.decisions.shape
    costs = loss.unit_costs(samples.costs) if isinstance(loss, Suboptimality) else samples.costs
    vertices = Z.vertices()
    b, mix = cp.Variable((2, n)), cp.Variable((rows, len(vertices)), nonneg=True)
    corners, best = cp.Parameter((len(vertices), n)), cp.Parameter((rows, n))
    J = cp.Variable(rows, nonneg=True)
    values, terms, limits = [], [], [cp.sum(mix, axis=1) == 1]
    for i in range(rows):
        offset = samples.features[i] @ b
        if isinstance(loss, Suboptimality):
            gap = mix[i] @ corners + offset - samples.decisions[i]
            limits += [costs[i] @ (samples.decisions[i] - offset - best[i]) <= J[i]]
            terms.append(length(loss, cp.hstack([gap, J[i]])))
        else:
            terms.append(length(loss, best[i] + offset - samples.decisions[i]))
    problem = cp.Problem(cp.Minimize(sum(terms) / rows), limits)
    for entries in product((-1.0, 0.0, 1.0), repeat=2 * n):
        A = np.array(entries).reshape(n, 2)
        corners.value = vertices @ A.T
        best.value = Z.argmin(samples.costs @ A) @ A.T
        values.append(problem.solve(solver="CLARABEL"))
    return float(min(values))


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        *(("box", loss) for loss in LOSSES),
        ("l1-ball", "predictability"),
        ("simplex", "suboptimality"),
    ],
)
def test_the_best_of_all_maps_is_found_and_proved(name: str, loss: str) -> None:
    samples = drawn(MAPPED[name], seed=2, noise=0.5)
    found = ternary(Problem(Ternary(MAPPED[name]), LOSSES[loss], samples), n_starts=1)
    right = least_of_all_maps(samples, MAPPED[name], LOSSES[loss])
    assert found.status == "optimal"
    assert found.objective == pytest.approx(right, rel=3e-4)
    assert found.lower_bound <= right * (1.0 + 1e-6)
    assert found.objective - found.lower_bound <= 1.1e-4 * right
    assert set(found.theta[:4]) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(("norm", "n_starts"), [("l1", 0), ("l2", 3)])
def test_the_map_without_an_error_is_found(norm: Any, n_starts: int) -> None:
    """By the program alone, and by descents, which then end the search."""
    samples = drawn(Box(2), seed=0, noise=0.0, rows=15)
    found = ternary(Problem(Ternary(Box(2)), Predictability(norm), samples), n_starts=n_starts)
    assert found.status == "optimal"
    assert found.objective < 1e-7


def test_every_round_has_a_bound() -> None:
    problem = boxed(seed=2, noise=0.5)
    found = ternary(problem, n_starts=0, tol=1e-6)
    bounds, losses = ([row[name] for row in found.history] for name in ("lower bound", "loss"))
    assert len(bounds) > 1
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(losses) <= 0.0).all()
    one = ternary(problem, n_starts=0, max_iter=1)
    assert one.status == "iteration limit"
    assert one.lower_bound <= found.objective * (1.0 + 1e-6)


def test_units_and_row_order_do_not_matter() -> None:
    problem = boxed(seed=2, noise=0.5)
    samples, plain = problem.samples, ternary(problem)
    scaled = samples._replace(features=samples.features * [1.0, 1e3], costs=1e2 * samples.costs)
    for moved in (scaled, samples.rows(np.array([3, 1, 4, 0, 2]))):
        found = ternary(problem.with_samples(moved))
        assert found.objective == pytest.approx(plain.objective, rel=3e-4)


def test_a_time_limit_returns_a_map() -> None:
    began = time.monotonic()
    found = ternary(boxed(seed=0, noise=1.0, rows=40), max_seconds=0.2, n_starts=0)
    assert time.monotonic() - began < 5.0
    assert found.status == "time limit"
    assert found.lower_bound <= found.objective < 10.0


def test_a_program_without_an_answer_keeps_the_best_map(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SolverError("no")

    problem = boxed(seed=0, noise=1.0)
    program = TernaryProgram(problem, Clock())
    monkeypatch.setattr(type(program.model), "solve", fail)
    found = ternary(problem, n_starts=1)
    assert found.status == "stalled"
    assert found.lower_bound == 0.0
    assert found.objective == problem.value(found.theta)


# What each of them serves.

#: {z : the matrix [[1, z], [z, 1]] is semidefinite}
DISC = ConicSet([[0.0], [np.sqrt(2.0)], [0.0]], [-1.0, 0.0, -1.0], [Cone("semidefinite", 3)])
NOT_SQUARED = Suboptimality(squared=False)


@pytest.mark.parametrize(
    ("search", "region", "loss", "said"),
    [
        (mixed_integer, Affine(Simplex(2)), Predictability(), "binary=True"),
        (mixed_integer, Affine(SETS["simplex"]), NOT_SQUARED, "not squared"),
        (bilinear, Affine(Simplex(2, binary=True)), Predictability(), "mixed_integer serves"),
        (bilinear, Affine(DISC), Predictability(), "semidefinite"),
        (bilinear, Scaled(Box(2)), Predictability(), "convex serves Scaled"),
        (ternary, Ternary(L2Ball(2)), Predictability(), "curved"),
        (ternary, Ternary(Box(2)), Predictability(squared=False), "not squared"),
        (ternary, Ternary(SETS["simplex"]), Predictability(), "without binary=True"),
        (ternary, Affine(Box(2)), Predictability(), "is not Ternary"),
        (convex, Affine(Simplex(3)), Suboptimality(), r"Affine\(Z=Simplex\(p=3\)\) is not convex"),
        (algorithm2, Affine(Simplex(2)), Predictability("l1"), "squared l2"),
        (algorithm2, Affine(SETS["simplex"]), Predictability(), "not convex"),
        (algorithm2, Ternary(Box(2)), Predictability(), "integers"),
    ],
)
def test_what_is_not_served_is_refused(search: Any, region: Any, loss: Any, said: str) -> None:
    error = DataError if search is algorithm2 else UnsupportedError
    with pytest.raises(error, match=said):
        search(Problem(region, loss, noisy(4, seed=0)))


@pytest.mark.parametrize(
    ("search", "wrong"),
    [(mixed_integer, {"tol": 0.0}), (bilinear, {"tol": 1.0}), (bilinear, {"radius": 0.0})],
)
def test_wrong_options_are_named(search: Any, wrong: dict[str, float]) -> None:
    region = Affine(Simplex(2, binary=search is mixed_integer))
    with pytest.raises(DataError, match=next(iter(wrong))):
        search(Problem(region, Predictability(), noisy(4, seed=0)), **wrong)
