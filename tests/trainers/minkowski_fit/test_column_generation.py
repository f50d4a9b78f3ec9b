"""Terms that are found: against the list of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.losses import Objective
from feaslearn.runs import Clock, OutOfTime, Run
from feaslearn.trainers import Convex
from feaslearn.trainers.minkowski_fit.column_generation import best_segment, best_simplex


def samples(seed: int, n: int = 4, noise: float = 0.3, n_rows: int = 60) -> Block:
    random = np.random.default_rng(seed)
    costs = random.normal(size=(n_rows, n))
    truth = fl.Minkowski.simplices(n, [2, 3], scale="constant", offset=False)
    alpha = np.where(random.uniform(size=len(truth.terms)) < 0.3, 1.0, 0.0)
    features = np.column_stack([np.ones(n_rows), random.uniform(size=n_rows)])
    decisions = truth.predict(alpha, features, costs) + noise * random.normal(size=(n_rows, n))
    return Block(features, costs, decisions, np.full(n_rows, 1 / n_rows))


def train(whole: Block, model: fl.Minkowski, **parameters: object) -> object:
    objective = Objective(fl.Predictability(), model, Samples.of(whole, 25))
    return Convex(**parameters).train(objective, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("scale", "offset", "seed"),
    [("constant", True, 0), ("constant", True, 1), ("box", True, 0), ("constant", False, 0)],
)
def test_growing_ends_at_the_optimum_over_all_simplices(
    scale: str, offset: bool, seed: int
) -> None:
    whole = samples(seed)
    grown = train(
        whole,
        fl.GrownMinkowski(scale=scale, max_terms=30, offset=offset),
        ridge=0.0,
        sparsity=0.0,
    )
    every = fl.Minkowski.simplices(4, [2, 3, 4], scale=scale, offset=offset)
    listed = train(whole, every, ridge=0.0, sparsity=0.0)
    assert grown.result.objective == pytest.approx(listed.result.objective, rel=1e-5)
    assert grown.result.status == "optimal"
    assert grown.result.details["proved over the whole family"] == 1.0
    assert grown.result.lower_bound == pytest.approx(listed.result.objective, rel=1e-5)


def test_many_decisions_are_searched_without_a_certificate() -> None:
    random = np.random.default_rng(0)
    costs = random.normal(size=(60, 14))
    features, weights = np.ones((60, 1)), np.full(60, 1 / 60)
    truth = fl.Minkowski([fl.Term(fl.Simplex(3), [1, 5, 9])], scale="constant", offset=False)
    whole = Block(features, costs, truth.predict(np.array([2.0]), features, costs), weights)
    theta, result, _ = train(whole, fl.GrownMinkowski(max_terms=3))
    assert result.objective < 1e-10
    assert result.status == "converged"
    assert result.lower_bound is None
    assert "no certificate" in result.warnings[-1]
    shapes = fl.GrownMinkowski(max_terms=3).layout(14, 1).unpack(theta)["shapes"]
    assert np.flatnonzero(shapes[0]).tolist() == [1, 5, 9]


def test_segments_are_found() -> None:
    random = np.random.default_rng(1)
    costs = random.normal(size=(80, 3))
    features, weights = np.ones((80, 1)), np.full(80, 1 / 80)
    G = [[1.0, -1.0, 0.0], [0.5, 0.5, 2.0]]
    truth = fl.Minkowski.segments(G, scale="constant", offset=False)
    decisions = truth.predict(np.array([2.0, 1.0]), features, costs)
    whole = Block(features, costs, decisions, weights)
    theta, result, _ = train(whole, fl.GrownMinkowski("segments", max_terms=12))
    policy = train(whole, fl.Minkowski([])).result.objective
    assert result.objective < 0.02 * policy
    assert result.lower_bound is None
    model = fl.GrownMinkowski("segments", max_terms=12)
    image = model.image(theta, np.ones(1), 3)
    assert image.minimize([1.0, 0.0, 0.0])[0] < image.minimize([-1.0, 0.0, 0.0])[0]
    assert np.linalg.norm(best_segment(np.ones((1, 80, 3)), costs, Run()).shape) == pytest.approx(
        1.0
    )


def test_max_terms_is_kept_and_said() -> None:
    theta, result, _ = train(samples(0), fl.GrownMinkowski(max_terms=1))
    model = fl.GrownMinkowski(max_terms=1)
    assert model.layout(4, 2).unpack(theta)["shapes"].any(axis=1).sum() == 1
    assert "no certificate" in result.warnings[-1]


def test_wrong_options_and_losses_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        fl.GrownMinkowski("balls", max_terms=0, scale="affine").check(3)
    for part in ("family='balls'", "max_terms", "scale='affine'"):
        assert part in str(caught.value)
    objective = Objective(fl.Suboptimality(), fl.GrownMinkowski(), Samples.of(samples(0)))
    with pytest.raises(UnsupportedError, match="squared predictability"):
        Convex().train(objective, np.random.default_rng(0))


@pytest.mark.parametrize("n", [3, 14])
@pytest.mark.parametrize("search", [best_simplex, best_segment])
def test_without_time_no_term_is_searched(search: Any, n: int) -> None:
    rng = np.random.default_rng(0)
    errors, costs = rng.normal(size=(2, 50, n)), rng.uniform(size=(50, n))
    with pytest.raises(OutOfTime):
        search(errors, costs, Run(Clock(0.0)))
