"""Branch and bound over listed points, against enumeration of all assignments."""

from __future__ import annotations

import time
from functools import cache
from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from feaslearn import Polytope, Simplex
from feaslearn.exceptions import DataError, SolverError, UnsupportedError
from feaslearn.paper.datasets import make_l1_ball
from feaslearn.paper.enumerated import EnumeratedSamples, NodeProgram
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.milp import BranchAndBound, mixed_integer
from feaslearn.paper.problem import Clock, Problem, Samples
from feaslearn.paper.regions import Affine
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


def test_what_is_not_served_is_refused_before_any_work() -> None:
    samples = noisy(4, seed=0)
    with pytest.raises(UnsupportedError, match="binary=True"):
        mixed_integer(Problem(Affine(Simplex(2)), Predictability(), samples))
    with pytest.raises(UnsupportedError, match="not squared"):
        mixed_integer(Problem(Affine(SETS["simplex"]), Suboptimality(squared=False), samples))
    with pytest.raises(DataError, match="tol"):
        mixed_integer(problem_of(samples, "simplex", "predictability"), tol=0.0)


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
