"""The convex trainer, against independent solutions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.losses import Objective
from feaslearn.trainers import Convex

SETS = {
    "simplex": fl.Simplex(3),
    "box": fl.Box(3, -1.0, [1.0, 2.0, 0.5]),
    "l1-ball": fl.L1Ball(3),
    "l2-ball": fl.L2Ball(3),
    "hypersimplex": fl.Hypersimplex(3, 2),
    "polytope": fl.Polytope(np.vstack([np.eye(3), -np.ones((1, 3))]), [0.0, 0.0, 0.0, -1.0]),
}


def samples(seed: int, sign: float = 1.0, n_rows: int = 40, gaps: bool = False) -> Block:
    """Return noisy decisions of a set with scale ``sign``: a negative one asks for alpha < 0."""
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 3))
    offset = features @ random.normal(size=(3, 3))
    decisions = offset - sign * np.sign(costs) + 0.3 * random.normal(size=(n_rows, 3))
    if gaps:
        decisions[random.uniform(size=decisions.shape) < 0.3] = np.nan
    return Block(features, costs, decisions, random.uniform(size=n_rows))


def objective(whole: Block, hypothesis: object) -> Objective:
    return Objective(fl.Predictability(), hypothesis, Samples.of(whole, 16))


def design(whole: Block, primitive: object) -> tuple[np.ndarray, np.ndarray]:
    """Write the fit as one least-squares problem in (alpha, b)."""
    minimizers = primitive.argmin(whole.costs)
    rows, right = [], []
    for phi, z, x, w in zip(
        whole.features, minimizers, whole.decisions, whole.weights, strict=True
    ):
        for j in np.flatnonzero(~np.isnan(x)):
            block = np.zeros((len(phi), len(x)))
            block[:, j] = phi
            rows.append(np.sqrt(w) * np.concatenate([[z[j]], block.ravel()]))
            right.append(np.sqrt(w) * x[j])
    return np.array(rows), np.array(right)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["open", "clipped"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_equals_bounded_least_squares(name: str, sign: float, gaps: bool) -> None:
    for seed in range(2):
        whole = samples(seed, sign, gaps=gaps)
        problem = objective(whole, fl.Scaled(SETS[name]))
        theta, result = Convex().train(problem, np.random.default_rng(0))
        matrix, right = design(whole, SETS[name])
        lower = np.full(matrix.shape[1], -np.inf)
        lower[0] = 0.0
        expected = lsq_linear(matrix, right, (lower, np.inf), method="bvls", tol=1e-14)
        np.testing.assert_allclose(theta, expected.x, atol=1e-6)
        assert result.objective == pytest.approx(2.0 * expected.cost, rel=1e-7)
        assert (theta[0] == 0.0) == (sign < 0)
        assert result.status == "optimal"
        assert result.gap == 0.0
        assert result.returned_loss == pytest.approx(result.objective)


def test_ties_go_to_the_nearest_minimiser() -> None:
    """With the exact region, a tied decision anywhere on its face costs nothing."""
    random = np.random.default_rng(0)
    costs = np.vstack([random.uniform(size=(20, 2)), np.tile([0.5, 0.5], (6, 1))])
    decisions = np.eye(2)[costs.argmin(axis=1)]
    share = np.linspace(0.7, 1.0, 6)
    decisions[20:] = np.column_stack([share, 1.0 - share])
    whole = Block(np.ones((26, 1)), costs, decisions, np.full(26, 1 / 26))
    theta, result = Convex().train(
        objective(whole, fl.Scaled(fl.Simplex(2))), np.random.default_rng(0)
    )
    np.testing.assert_allclose(theta, [1.0, 0.0, 0.0], atol=1e-6)
    assert result.objective < 1e-12
    assert result.returned_loss > 1e-3
    assert result.tied_share == pytest.approx(6 / 26)
    assert result.status == "optimal"
    assert result.lower_bound == pytest.approx(0.0, abs=1e-12)
    assert "6 samples tie" in result.warnings[0]


def tied_samples(seed: int) -> Block:
    """Return samples of a box, a third of whose costs are zero."""
    random = np.random.default_rng(seed)
    costs = np.where(random.uniform(size=(40, 2)) < 0.3, 0.0, random.normal(size=(40, 2)))
    decisions = 0.5 - 1.5 * np.sign(costs) + 0.4 * random.normal(size=costs.shape)
    return Block(np.ones((40, 1)), costs, decisions, np.full(40, 1 / 40))


@pytest.mark.parametrize("seed", range(2))
def test_ties_are_solved_by_the_convex_program_with_faces(seed: int) -> None:
    whole = tied_samples(seed)
    alpha, b, zeta = cp.Variable(nonneg=True), cp.Variable((1, 2)), cp.Variable((40, 2))
    fixed = whole.costs != 0.0
    rows = [zeta <= alpha, zeta >= -alpha, zeta[fixed] == -alpha * np.sign(whole.costs[fixed])]
    errors = whole.decisions - zeta - np.ones((40, 1)) @ b
    program = cp.Problem(cp.Minimize(cp.sum_squares(errors) / 40), rows)
    program.solve(solver=cp.CLARABEL)
    problem = objective(whole, fl.Scaled(fl.Box(2)))
    theta, result = Convex().train(problem, np.random.default_rng(0))
    assert result.details["objective of the program"] == pytest.approx(program.value, rel=1e-6)
    assert result.lower_bound == pytest.approx(program.value, rel=1e-6)
    # The program's answer is kept unless the other fit returns far better decisions.
    assert result.returned_loss >= result.objective >= result.lower_bound
    assert result.objective == pytest.approx(problem.value(theta))


def test_everything_unsupported_is_named_with_who_serves_it() -> None:
    problem = Objective(fl.Suboptimality(), fl.Affine(fl.Simplex(3)), Samples.of(samples(0)))
    with pytest.raises(UnsupportedError) as caught:
        Convex(robust=True).train(problem, np.random.default_rng(0))
    text = str(caught.value)
    assert text.startswith("Convex cannot train this: ")
    assert "Affine(primitive=Simplex(p=3)) is not convex in its parameters" in text
    assert "Scaled" in text
    assert "GradientDescent" in text
    assert "robust=True reweighs squared predictability, not Suboptimality()" in text
