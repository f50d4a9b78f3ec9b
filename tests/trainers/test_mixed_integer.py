"""Branch and bound over listed points, against enumeration of all assignments."""

from __future__ import annotations

from functools import cache
from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.losses import Objective
from feaslearn.results import TrainingResult
from feaslearn.runs import Clock
from feaslearn.trainers import MixedInteger
from feaslearn.trainers.automatic import choose_trainer
from feaslearn.trainers.mixed_integer.enumerated_samples import EnumeratedSamples
from feaslearn.trainers.mixed_integer.enumerated_search import BranchAndBound

LOSSES = {
    "predictability": fl.Predictability(),
    "predictability-l1": fl.Predictability("l1"),
    "predictability-linf": fl.Predictability("linf"),
    "suboptimality": fl.Suboptimality(),
    "suboptimality-l1": fl.Suboptimality("l1"),
    "suboptimality-linf": fl.Suboptimality("linf", normalize_cost=False),
}
SETS = {
    "simplex": fl.Simplex(2, binary=True),
    "polytope": fl.Polytope([[-1.0, -1.0]], [-1.0], binary=True),
}


def noisy(rows: int, seed: int, k: int = 1, hidden: bool = False) -> Block:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), random.normal(size=(rows, k - 1))])
    decisions = random.normal(size=(rows, 2)) + 5.0
    decisions[1] = decisions[0]
    features[1] = features[0]
    if hidden:
        decisions[2, 0] = np.nan
    weights = random.uniform(0.5, 1.5, rows)
    return Block(features, random.normal(size=(rows, 2)), decisions, weights / weights.sum())


def objective(whole: Block, primitive: object, loss: object) -> Objective:
    return Objective(loss, fl.Affine(primitive), Samples.of(whole, 4))


def solve(problem: Objective, *arguments: object, **parameters: object) -> TrainingResult:
    """Train, and return the result."""
    trainer = MixedInteger(*arguments, **parameters)
    return trainer.train(problem, np.random.default_rng(0)).result


def size(loss: object, residual: object) -> object:
    if loss.norm == "l2":
        return cp.sum_squares(residual)
    return cp.norm(residual, 1 if loss.norm == "l1" else "inf")


def least_by_enumeration(whole: Block, primitive: object, loss: object) -> float:
    """Solve one convex program for every way to give each sample a point."""
    points, (rows, n), k = primitive.vertices(), whole.decisions.shape, whole.features.shape[1]
    costs = whole.costs
    suboptimality = isinstance(loss, fl.Suboptimality)
    if suboptimality:
        costs = loss.unit_costs(costs)
    A, b = [cp.Variable((n, points.shape[1])) for _ in range(k)], cp.Variable((n, k))
    values = []
    for chosen in product(range(len(points)), repeat=rows):
        total, limits = 0.0, []
        for i, m in enumerate(chosen):
            phi, c, x = whole.features[i], costs[i], whole.decisions[i]
            map_ = sum(phi[j] * A[j] for j in range(k))
            images = [map_ @ w + b @ phi for w in points]
            seen = ~np.isnan(x)
            gap = images[m][seen] - x[seen]
            if suboptimality:
                J = cp.Variable(nonneg=True)
                limits += [c @ x - c @ image <= J for image in images]
                joined = {"l2": cp.sum_squares(gap) + J**2, "l1": size(loss, gap) + J}
                term = joined.get(loss.norm, cp.maximum(size(loss, gap), J))
            else:
                limits += [c @ images[m] <= c @ image for image in images]
                term = size(loss, gap)
            total = total + whole.weights[i] * term
        problem = cp.Problem(cp.Minimize(total), limits)
        values.append(problem.solve(solver="CLARABEL"))
    return float(min(values))


@cache
def few_rows(loss: str, primitive: str) -> tuple[Block, float]:
    """Return a few samples and their least loss."""
    whole = noisy(4 if primitive == "simplex" else 3, seed=3)
    return whole, least_by_enumeration(whole, SETS[primitive], LOSSES[loss])


@pytest.mark.parametrize(
    ("loss", "primitive"),
    [*((loss, "simplex") for loss in LOSSES), ("predictability", "polytope")],
)
def test_the_optimum_is_that_of_enumeration(loss: str, primitive: str) -> None:
    whole, right = few_rows(loss, primitive)
    problem = objective(whole, SETS[primitive], LOSSES[loss])
    theta, result = MixedInteger(tol=1e-6).train(problem, np.random.default_rng(0))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(right, abs=1e-5)
    assert result.lower_bound <= right + 1e-6
    assert result.objective == pytest.approx(problem.value(theta), rel=1e-12)
    assert result.objective - result.lower_bound <= 1e-5


class NoIncumbent(BranchAndBound):
    """A search that never finds better parameters, so that nothing hides a bound."""

    def offer(self, beta: np.ndarray) -> None:
        """Leave the best as it is."""


@pytest.mark.parametrize("loss", LOSSES)
def test_without_an_incumbent_the_bound_is_the_optimum(loss: str) -> None:
    whole, right = few_rows(loss, "simplex")
    samples = EnumeratedSamples.of(objective(whole, SETS["simplex"], LOSSES[loss]))
    bounds: list[float] = []

    def record(_: int, bound: float, __: float) -> bool:
        bounds.append(samples.in_units(bound))
        return False

    far = 10.0 * right / samples.in_units(1.0)
    search = NoIncumbent(samples, 1e-6, Clock(), 10_000, record, value=far)
    assert search.run() == "optimal"
    assert max(bounds) <= right * (1.0 + 1e-6)
    assert samples.in_units(search.lower_bound) == pytest.approx(right, rel=1e-4)


@pytest.mark.parametrize("hidden", [False, True], ids=["seen", "hidden"])
def test_features_and_unobserved_decisions(hidden: bool) -> None:
    whole = noisy(5, seed=5, k=2, hidden=hidden)
    result = solve(objective(whole, SETS["simplex"], fl.Predictability()), tol=1e-6)
    right = least_by_enumeration(whole, SETS["simplex"], fl.Predictability())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(right, abs=1e-5)


def fit(data: fl.Decisions, p: int, **parameters: object) -> fl.RegionRegressor:
    return fl.RegionRegressor(
        fl.Affine(fl.Simplex(p, binary=True)),
        cost=data.cost,
        trainer=MixedInteger(**parameters),
        random_state=0,
    ).fit(data.signals, data.decisions)


def test_four_columns_for_five_vertices_are_proved_best() -> None:
    result = fit(fl.datasets.make_l1_ball(100, random_state=0), 4).result_
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.1981, abs=1e-4)
    assert result.gap <= 1e-4 * result.objective
    # No prediction hangs on a tie.
    assert result.returned_loss == pytest.approx(result.objective)
    assert result.tied_share == 0.0


def test_enough_columns_reach_zero_which_is_a_proof() -> None:
    data = fl.datasets.make_l1_ball(200, random_state=0)
    model = fit(data[:100], 5)
    assert model.result_.status == "optimal"
    assert model.result_.objective < 1e-20
    assert fl.evaluate(model, data[100:]).returned.mean < 1e-20


def test_a_search_that_was_stopped_has_a_bound_below_the_optimum() -> None:
    whole = noisy(6, seed=4)
    problem = objective(whole, SETS["simplex"], fl.Predictability())
    least = solve(problem, tol=1e-6)
    assert least.status == "optimal"
    bounds = []
    for steps in (1, 5, 20):
        result = solve(problem, None, max_iter=steps, n_starts=1)
        assert result.status == "iteration limit"
        assert result.lower_bound <= least.objective * (1.0 + 1e-6)
        bounds.append(result.lower_bound)
    assert bounds[0] <= bounds[1] <= bounds[2]
    data = fl.datasets.make_l1_ball(60, noise=0.2, random_state=0)
    assert fit(data, 4, max_seconds=0.3).result_.status == "time limit"


def test_units_do_not_matter() -> None:
    data = fl.datasets.make_l1_ball(30, random_state=1)
    plain = fit(data, 3).result_
    large = fl.Decisions.from_arrays(1e-3 * data.signals, 1e4 * data.decisions, data.cost)
    assert fit(large, 3).result_.objective == pytest.approx(1e8 * plain.objective, rel=1e-3)


def test_what_is_not_served_is_refused_before_any_work() -> None:
    whole = noisy(4, seed=0)
    served = objective(whole, fl.Simplex(2, binary=True), fl.Predictability())
    assert isinstance(choose_trainer("auto", served), MixedInteger)
    wrong = Objective(fl.Suboptimality(squared=False), fl.Affine(fl.Simplex(2)), served.samples)
    with pytest.raises(UnsupportedError) as told:
        solve(wrong)
    assert "binary=True" in str(told.value)
    assert "not squared" in str(told.value)
    hidden = objective(noisy(4, 0, hidden=True), fl.Simplex(2, True), fl.Suboptimality())
    with pytest.raises(UnsupportedError, match="needs every decision observed"):
        solve(hidden)


def test_a_callback_sees_the_gap_close_and_can_stop() -> None:
    seen: list[tuple[int, float, float]] = []

    def stop(step: int, bound: float, loss: float) -> bool:
        seen.append((step, bound, loss))
        return step > 30

    data = fl.datasets.make_l1_ball(60, noise=0.2, random_state=0)
    result = fit(data, 4, callback=stop).result_
    assert result.status == "stopped by callback"
    assert seen[-1][0] > 30
    bounds, losses = (result.history[name] for name in ("lower bound", "loss"))
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(losses) <= 0.0).all()
    assert losses[-1] == pytest.approx(result.objective)
    assert len(result.history["seconds"]) == len(bounds)


def test_a_solver_that_fails_leaves_the_bound_of_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from feaslearn.trainers.mixed_integer.node_program import NodeProgram

    whole, works = noisy(5, seed=3), NodeProgram.solve
    calls = iter(range(10**6))

    def sometimes(self: NodeProgram, *arguments: object) -> object:
        if next(calls) % 5 == 4:
            raise SolverError("no")
        return works(self, *arguments)

    problem = objective(whole, SETS["simplex"], fl.Predictability())
    right = solve(problem, None, tol=1e-6)
    monkeypatch.setattr(NodeProgram, "solve", sometimes)
    result = solve(problem, None, tol=1e-6)
    assert result.lower_bound <= right.objective + 1e-6
    assert result.objective == pytest.approx(right.objective, rel=1e-3)


def test_ties_that_the_optimum_needs_are_mentioned() -> None:
    # One cost, two decisions: they are both optimal only where their columns tie.
    whole = Block(np.ones((2, 1)), np.ones((2, 2)), np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
    result = solve(objective(whole, fl.Simplex(2, binary=True), fl.Predictability()))
    assert result.objective == pytest.approx(0.0, abs=1e-9)
    assert result.tied_share == 1.0
    assert "the model returns the first" in result.warnings[-1]
