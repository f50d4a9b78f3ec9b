"""Ternary maps, against all of them."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from feaslearn import Box, L1Ball, L2Ball, Simplex
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.problem import Clock, Problem, Samples
from feaslearn.paper.regions import Affine, Ternary
from feaslearn.paper.ternary_map import TernaryProgram, ternary
from paper.cases import LINEAR_OR_SQUARED as LOSSES
from paper.cases import length

SETS = {"box": Box(2, -1.0, [1.0, 2.0]), "l1-ball": L1Ball(2), "simplex": Simplex(2)}


def drawn(Z: object, seed: int, noise: float, rows: int = 5) -> Samples:
    random = np.random.default_rng(seed)
    A = np.array([[1.0, -1.0], [0.0, 1.0]])
    costs, features = random.normal(size=(rows, 2)), np.ones((rows, 2))
    features[:, 1] = random.normal(size=rows)
    decisions = Z.argmin(costs @ A) @ A.T + features @ [[1.0, 2.0], [0.5, -0.5]]
    decisions = decisions + noise * random.normal(size=(rows, 2))
    return Samples(features, costs, decisions, np.full(rows, 1.0 / rows))


def problem_of(samples: Samples, Z: object, loss: object) -> Problem:
    return Problem(Ternary(Z), loss, samples)


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
    samples = drawn(SETS[name], seed=2, noise=0.5)
    found = ternary(problem_of(samples, SETS[name], LOSSES[loss]), n_starts=1)
    right = least_of_all_maps(samples, SETS[name], LOSSES[loss])
    assert found.status == "optimal"
    assert found.objective == pytest.approx(right, rel=3e-4)
    assert found.lower_bound <= right * (1.0 + 1e-6)
    assert found.objective - found.lower_bound <= 1.1e-4 * right
    assert set(found.theta[:4]) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(("norm", "n_starts"), [("l1", 0), ("l2", 3)])
def test_the_map_without_an_error_is_found(norm: Any, n_starts: int) -> None:
    """By the program alone, and by descents, which then end the search."""
    samples = drawn(Box(2), seed=0, noise=0.0, rows=15)
    found = ternary(problem_of(samples, Box(2), Predictability(norm)), n_starts=n_starts)
    assert found.status == "optimal"
    assert found.objective < 1e-7


def test_every_round_has_a_bound() -> None:
    samples = drawn(SETS["box"], seed=2, noise=0.5)
    found = ternary(problem_of(samples, SETS["box"], Predictability()), n_starts=0, tol=1e-6)
    bounds, losses = ([row[name] for row in found.history] for name in ("lower bound", "loss"))
    assert len(bounds) > 1
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(losses) <= 0.0).all()
    one = ternary(problem_of(samples, SETS["box"], Predictability()), n_starts=0, max_iter=1)
    assert one.status == "iteration limit"
    assert one.lower_bound <= found.objective * (1.0 + 1e-6)


def test_units_and_row_order_do_not_matter() -> None:
    samples = drawn(SETS["box"], seed=2, noise=0.5)
    plain = ternary(problem_of(samples, SETS["box"], Predictability()))
    scaled = samples._replace(features=samples.features * [1.0, 1e3], costs=1e2 * samples.costs)
    found = ternary(problem_of(scaled, SETS["box"], Predictability()))
    assert found.objective == pytest.approx(plain.objective, rel=3e-4)
    turned = samples.rows(np.array([3, 1, 4, 0, 2]))
    found = ternary(problem_of(turned, SETS["box"], Predictability()))
    assert found.objective == pytest.approx(plain.objective, rel=3e-4)


def test_a_time_limit_returns_a_map() -> None:
    samples = drawn(SETS["box"], seed=0, noise=1.0, rows=40)
    began = time.monotonic()
    problem = problem_of(samples, SETS["box"], Predictability())
    found = ternary(problem, max_seconds=0.2, n_starts=0)
    assert time.monotonic() - began < 5.0
    assert found.status == "time limit"
    assert found.lower_bound <= found.objective < 10.0


def test_a_program_without_an_answer_keeps_the_best_map(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SolverError("no")

    samples = drawn(SETS["box"], seed=0, noise=1.0)
    problem = problem_of(samples, SETS["box"], Predictability())
    program = TernaryProgram(problem, Clock())
    monkeypatch.setattr(type(program.model), "solve", fail)
    found = ternary(problem, n_starts=1)
    assert found.status == "stalled"
    assert found.lower_bound == 0.0
    assert found.objective == problem.value(found.theta)


def test_what_is_not_served_is_refused() -> None:
    samples = drawn(SETS["box"], seed=0, noise=1.0)
    with pytest.raises(UnsupportedError, match="curved"):
        ternary(problem_of(samples, L2Ball(2), Predictability()))
    with pytest.raises(UnsupportedError, match="not squared"):
        ternary(problem_of(samples, Box(2), Predictability(squared=False)))
    with pytest.raises(UnsupportedError, match="without binary=True"):
        ternary(problem_of(samples, Simplex(2, binary=True), Predictability()))
    with pytest.raises(UnsupportedError, match="is not Ternary"):
        ternary(Problem(Affine(Box(2)), Predictability(), samples))
