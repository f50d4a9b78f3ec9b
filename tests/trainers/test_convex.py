"""The convex trainer, against independent solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.trainers import Convex
from feaslearn.trainers.objective import Objective

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
    return Objective(hypothesis, Samples.of(whole, 16))


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
        problem = objective(whole, fl.Minkowski([fl.Term(SETS[name])], scale="constant"))
        theta, result = Convex(ridge=0.0, sparsity=0.0).train(problem, np.random.default_rng(0))
        matrix, right = design(whole, SETS[name])
        lower = np.full(matrix.shape[1], -np.inf)
        lower[0] = 0.0
        expected = lsq_linear(matrix, right, (lower, np.inf), method="bvls", tol=1e-14)
        np.testing.assert_allclose(theta, expected.x, atol=1e-6)
        assert result.objective == pytest.approx(2.0 * expected.cost, rel=1e-7)
        assert (theta[0] == 0.0) == (sign < 0)
        assert result.status == "optimal"
        assert result.gap == 0.0


def test_a_tied_sample_counts_with_the_decision_that_is_returned() -> None:
    random = np.random.default_rng(0)
    costs = np.vstack([random.uniform(size=(20, 2)), np.tile([0.5, 0.5], (6, 1))])
    decisions = np.eye(2)[costs.argmin(axis=1)]
    share = np.linspace(0.7, 1.0, 6)
    decisions[20:] = np.column_stack([share, 1.0 - share])
    whole = Block(np.ones((26, 1)), costs, decisions, np.full(26, 1 / 26))
    problem = objective(whole, fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"))
    theta, result = Convex(ridge=0.0, sparsity=0.0).train(problem, np.random.default_rng(0))
    assert result.objective == pytest.approx(problem.value(theta), rel=1e-9)
    assert 1e-3 < result.objective <= problem.value(np.array([1.0, 0.0, 0.0])) + 1e-12
    assert result.tied_share == pytest.approx(6 / 26)
    assert result.status == "optimal"
    assert "6 samples tie" in result.warnings[0]


def test_what_is_not_convex_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Convex().train(objective(samples(0), fl.Affine(fl.Simplex(3))), np.random.default_rng(0))
    text = str(caught.value)
    assert text.startswith("Convex cannot train this: ")
    assert "Affine(primitive=Simplex(p=3)) is not convex in its parameters" in text
