"""Algorithms 1 and 2: what they promise along the way, and what they recover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from feaslearn.exceptions import DataError
from feaslearn.paper import descent
from feaslearn.paper.algorithm_1 import algorithm1
from feaslearn.paper.algorithm_2 import algorithm2
from feaslearn.paper.datasets import make_l1_ball
from feaslearn.paper.descent import least_squares, linear_start, random_start
from feaslearn.paper.evaluation import evaluate
from feaslearn.paper.losses import Loss, Predictability, Suboptimality
from feaslearn.paper.problem import Clock, Found, Problem, Samples
from feaslearn.paper.regions import Affine, MapClass, Maps, Scaled
from feaslearn.sets import Box, Hypersimplex, L1Ball, L2Ball, Polytope, PrimitiveSet, Simplex
from paper.cases import Array
from registry import example

LOSSES = [Predictability(), Suboptimality()]
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES, ids=["predictability", "suboptimality"])
TRIANGLE = Polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]], [0.0, 0.0, -2.0])
REGIONS = [
    *(Affine(Simplex(4)), Affine(Box(2)), Affine(L2Ball(2))),
    *(Scaled(Box(2)), Scaled(L1Ball(2))),
]
SMOOTHED = [
    *REGIONS,
    *(Affine(L1Ball(3)), Affine(Hypersimplex(4, 2)), Scaled(L2Ball(2)), Affine(TRIANGLE)),
]
#: Both algorithms, with few steps.
BOTH: list[Callable[..., Found]] = [algorithm1, algorithm2]


def samples(seed: int = 0, n_rows: int = 30) -> Samples:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 2))
    decisions = features @ random.normal(size=(3, 2)) - np.sign(costs)
    decisions += 0.2 * random.normal(size=decisions.shape)
    return Samples(features, costs, decisions, np.full(n_rows, 1 / n_rows))


def noiseless(Z: PrimitiveSet, columns: Array, seed: int = 0, rows: int = 100) -> Problem:
    """Return the problem of exact decisions of a region that does not move."""
    random = np.random.default_rng(seed)
    costs = random.uniform(size=(rows, len(columns)))
    if not Z.conic_form().polyhedral:
        costs = random.normal(size=costs.shape)  # all sides are seen
    region, features = Affine(Z), np.ones((rows, 1))
    theta = region.theta_of(Maps(columns[None], np.ones((1, len(columns)))))
    decisions = region.decisions(theta, features, costs)
    whole = Samples(features, costs, decisions, np.full(rows, 1 / rows))
    return Problem(region, Predictability(), whole)


def column(found: Found, name: str) -> Array:
    return np.array([record[name] for record in found.history])


# Whole searches: the numbers that they ended at when they were first right.


@pytest.mark.parametrize(
    ("algorithm", "loss", "objective", "returned", "true"),
    [
        (1, Predictability(), 0.11625379480, 0.11625379480, 0.03634290831),
        (2, Predictability(), 0.09015663121, 0.09015663121, 0.00245169087),
        (2, Suboptimality(), 0.05926899634, 0.12674712095, 0.04107195412),
    ],
)
def test_a_noisy_ball_of_the_l1_norm(
    algorithm: int, loss: Loss, objective: float, returned: float, true: float
) -> None:
    data = make_l1_ball(60, n=2, low=-1.0, noise=0.2, random_state=1)
    problem = Problem.of(Affine(L1Ball(2)), data, loss)
    options: dict[str, Any] = {"max_iter": 60, "seed": 3}
    found = algorithm1(problem, n_starts=2, **options)
    if algorithm == 2:
        found = algorithm2(problem, **options)
    measured = evaluate(found, data)
    assert found.objective == pytest.approx(objective, rel=1e-6)
    assert measured.returned == pytest.approx(returned, rel=1e-6)
    assert measured.true_predictability == pytest.approx(true, rel=1e-6)


# Algorithm 1.


@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("loss", [*LOSSES, Predictability("l1")], ids=repr)
def test_the_objective_never_rises_and_the_best_is_kept(region: MapClass, loss: Loss) -> None:
    problem = Problem(region, loss, samples())
    found = algorithm1(problem, max_iter=12, n_starts=2)
    walk = column(found, "objective")
    assert (np.diff(walk) <= 0.0).all()
    assert walk[-1] < walk[0]
    assert found.objective == pytest.approx(problem.value(found.theta))
    kept, measured = "objective", problem.value(found.theta)
    if isinstance(loss, Predictability):
        kept, measured = "returned_loss", problem.returned_loss(found.theta)
    assert measured == pytest.approx(column(found, kept).min(), rel=1e-9)
    last = found.history[-1]
    assert problem.value(last["theta"]) == pytest.approx(last["objective"], rel=1e-9)


@EACH_LOSS
def test_scales_stay_in_their_class(loss: Loss) -> None:
    """These decisions ask for a negative scale: the best that is allowed is zero."""
    flipped = samples()._replace(costs=-samples().costs)
    found = algorithm1(Problem(Scaled(Box(2)), loss, flipped), max_iter=15, n_starts=1)
    assert found.theta[0] >= 0.0
    assert column(found, "objective")[-1] == pytest.approx(found.objective, rel=1e-6)


@pytest.mark.parametrize("Z", [Box(2), L1Ball(2)], ids=repr)
def test_finds_the_optimum_of_a_convex_suboptimality(Z: PrimitiveSet) -> None:
    problem = Problem(Scaled(Z), Suboptimality(), samples())
    bounds = [(1e-9, None)] + 6 * [(None, None)]
    expected = minimize(
        problem.value_and_gradient, np.ones(7), jac=True, method="L-BFGS-B", bounds=bounds
    )
    assert algorithm1(problem, n_starts=1).objective == pytest.approx(expected.fun, rel=1e-4)


def test_a_region_that_explains_all_is_recognised_as_optimal() -> None:
    rows = samples()
    exact = rows._replace(decisions=rows.features @ np.arange(6.0).reshape(3, 2))
    zero = rows._replace(decisions=np.zeros((30, 2)))
    for each in (exact, zero):
        found = algorithm1(Problem(Affine(Simplex(2)), LOSSES[0], each), n_starts=1)
        assert found.objective < 1e-20
    assert found.status == "optimal"
    assert found.lower_bound == found.objective == 0.0


# Algorithm 2.


@EACH_LOSS
@settings(max_examples=10, deadline=None)
@given(region=st.sampled_from(SMOOTHED), seed=st.integers(0, 10_000))
def test_the_smoothed_loss_never_rises_while_epsilon_stays(
    loss: Loss, region: MapClass, seed: int
) -> None:
    found = algorithm2(Problem(region, loss, samples(seed, 20)), max_iter=30)
    epsilon, walk = column(found, "epsilon"), column(found, "smoothed_loss")
    stays = np.diff(epsilon) == 0.0
    assert (np.diff(walk)[stays] <= 0.0).all()
    assert set(epsilon[1:][~stays] / epsilon[:-1][~stays]) <= {2.0}
    # More weight on the slacks cannot make the loss smaller, and slack only helps.
    assert (walk <= column(found, "objective") * (1 + 1e-9)).all()


def test_a_search_that_reaches_the_last_epsilon_has_converged() -> None:
    problem = Problem(Affine(Simplex(2)), LOSSES[0], samples())
    found = algorithm2(problem, max_iter=5000, max_epsilon=4.0, tol=1e-4)
    assert found.status == "converged"
    assert column(found, "epsilon").max() == 4.0


@EACH_LOSS
def test_the_noiseless_simplex_is_recovered(loss: Loss) -> None:
    problem = noiseless(Simplex(5), -np.eye(5), seed=1)
    found = algorithm2(Problem(problem.region, loss, problem.samples), seed=1)
    assert found.objective <= 1e-5
    rest = noiseless(Simplex(5), -np.eye(5), seed=2)
    assert Problem(rest.region, loss, rest.samples).value(found.theta) <= 1e-5


@EACH_LOSS
def test_the_noiseless_ellipsoid_is_recovered(loss: Loss) -> None:
    truth = np.array([[1.0, 0.3], [0.0, 0.5]])
    problem = noiseless(L2Ball(2), truth)
    found = algorithm2(Problem(problem.region, loss, problem.samples))
    assert noiseless(L2Ball(2), truth, seed=3).returned_loss(found.theta) <= 1e-6
    # The map is known up to a rotation of the ball: the shape is A A'.
    A = found.maps().A[0]
    np.testing.assert_allclose(A @ A.T, truth @ truth.T, atol=1e-2)


def test_a_set_that_no_kernel_serves_is_trained_through_cvxpy() -> None:
    found = algorithm2(
        Problem(Affine(example("conic-half-disc")), LOSSES[0], samples(2, 12)), max_iter=4
    )
    assert column(found, "smoothed_loss")[-1] < column(found, "smoothed_loss")[0]
    assert found.problem.returned_loss(found.theta) < found.history[0]["returned_loss"]


def test_the_program_of_the_paper_gives_the_same_search() -> None:
    problem = Problem(Affine(Simplex(3)), Predictability(), samples(1, 15))
    ours, program = (algorithm2(problem, max_iter=3, compiled=each) for each in (True, False))
    for name in ("smoothed_loss", "slack_primal", "slack_dual"):
        np.testing.assert_allclose(column(ours, name), column(program, name), rtol=1e-5, atol=1e-7)


@EACH_LOSS
@pytest.mark.parametrize("weighted", [False, True])
def test_as_printed(loss: Loss, weighted: bool) -> None:
    problem = noiseless(Simplex(3), -np.eye(3), rows=12)
    found = algorithm2(
        Problem(problem.region, loss, problem.samples), printed=True, weighted=weighted, max_iter=40
    )
    walk = column(found, "smoothed_loss")
    weights = np.column_stack([column(found, "epsilon"), column(found, "epsilon_dual")])
    stays = ~np.diff(weights, axis=0).any(axis=1)
    assert stays.any()
    assert (np.diff(walk)[stays] <= 1e-7 * walk[0]).all()
    assert found.objective < 0.5 * problem.value(algorithm1(problem, max_iter=0).theta)
    with pytest.raises(DataError, match="for simplices"):
        algorithm2(Problem(Affine(Box(2)), loss, samples()), printed=True)


# Both.


@pytest.mark.parametrize("algorithm", BOTH)
def test_limits_and_starts(algorithm: Callable[..., Found]) -> None:
    problem = Problem(Affine(Simplex(4)), Predictability(), samples())
    for max_iter in (0, 1, 4):
        found = algorithm(problem, max_iter=max_iter, n_starts=1, tol=0.0)
        assert (found.n_iter, found.status) == (max_iter, "iteration limit")
        assert len(found.history) == max_iter + 1
    several = algorithm(problem, max_iter=3, n_starts=4, tol=0.0)
    assert several.n_iter == 12
    one = algorithm(problem, max_iter=3, n_starts=1, tol=0.0)
    assert problem.returned_loss(several.theta) <= problem.returned_loss(one.theta)
    again = algorithm(problem, max_iter=3, n_starts=4, tol=0.0)
    assert again.theta.tolist() == several.theta.tolist()
    for wrong in ({"n_starts": 0}, {"max_iter": -1}, {"start": [1.0]}, {"max_seconds": 0.0}):
        with pytest.raises(DataError):
            algorithm(problem, **wrong)


@pytest.mark.parametrize("algorithm", BOTH)
def test_given_parameters_are_where_the_search_begins(algorithm: Callable[..., Found]) -> None:
    problem = Problem(Affine(Box(2)), Suboptimality(), samples())
    theta = np.random.default_rng(0).normal(size=problem.size)
    found = algorithm(problem, start=theta, max_iter=0, n_starts=1)
    np.testing.assert_allclose(found.theta, theta, rtol=1e-9)
    random = algorithm(problem, start=random_start, max_iter=2, n_starts=1)
    assert random.objective != algorithm(problem, max_iter=2, n_starts=1).objective


@pytest.mark.parametrize("algorithm", BOTH)
@EACH_LOSS
def test_units_and_the_order_of_rows_do_not_matter(
    algorithm: Callable[..., Found], loss: Loss
) -> None:
    """Signals in other units, decisions in others, money in others, rows in another order."""
    whole = samples()
    problem = Problem(Affine(Simplex(3)), loss, whole)
    found = algorithm(problem, max_iter=4, n_starts=1)
    features = whole.features * [1.0, 1e3, 1e-3] + [0.0, 50.0, 0.0] * whole.features[:, :1]
    order = np.random.default_rng(0).permutation(30)
    for other in (
        whole._replace(features=np.ascontiguousarray(features)),
        whole._replace(costs=1e-4 * whole.costs),
        whole.rows(order),
    ):
        moved = algorithm(problem.with_samples(other), max_iter=4, n_starts=1)
        assert moved.objective == pytest.approx(found.objective, rel=1e-6)


def test_ties_that_flatter_the_objective_are_not_kept() -> None:
    """Columns that tie for every cost put all decisions on an optimal face: the loss is zero."""
    whole = samples()._replace(features=np.ones((30, 1)), costs=np.ones((30, 2)))
    problem = Problem(Affine(Simplex(2)), Predictability(), whole)
    tied = np.array([[5.0, -5.0], [-5.0, 5.0]]).ravel()
    assert problem.tied_share(tied) == pytest.approx(1.0)
    assert problem.value(tied) < 0.9 * problem.returned_loss(tied)
    found = algorithm1(problem, start=tied, n_starts=1, max_iter=20)
    assert problem.returned_loss(found.theta) == pytest.approx(
        column(found, "returned_loss").min(), rel=1e-9
    )


def test_least_squares_of_dependent_features() -> None:
    rng = np.random.default_rng(0)
    s = rng.normal(size=(20, 1))
    features = np.hstack([np.ones((20, 1)), s, 2.0 * s, np.full((20, 1), 3.0)])
    targets = np.hstack([1.0 + s, 2.0 - s])
    beta = least_squares(features, targets, rng.uniform(0.5, 1.0, 20))
    np.testing.assert_allclose(features @ beta, targets, atol=1e-9)
    assert beta[3].tolist() == [0.0] * 2


def test_the_linear_start_is_the_policy_with_noise() -> None:
    problem = Problem(Affine(Box(2)), Predictability(), samples())
    theta = linear_start(problem, np.random.default_rng(0), 0)
    beta = least_squares(
        problem.samples.features, problem.samples.decisions, problem.samples.weights
    )
    np.testing.assert_allclose(problem.maps(theta).b, beta, atol=1e-12)
    wide = linear_start(problem, np.random.default_rng(0), 1)
    np.testing.assert_allclose(problem.maps(wide).A, 10.0 * problem.maps(theta).A)


def test_the_line_search_gives_up_where_no_step_helps() -> None:
    problem = Problem(Affine(Box(2)), Suboptimality(), samples())
    theta, tried = np.ones(problem.size), []

    def evaluate(point: Array) -> tuple[float, None]:
        tried.append(float(np.linalg.norm(point - theta)))
        return 2.0, None

    uphill = theta, 1.0, np.ones(problem.size), 1.0
    assert descent.backtrack(problem, *uphill, evaluate, Clock()) == "stalled"
    np.testing.assert_allclose(np.array(tried[:4]) / tried[0], [1.0, 0.5, 0.25, 0.125])
