"""Where searches begin."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Objective
from feaslearn.trainers.standardize import least_squares
from feaslearn.trainers.starts import DataStart, KMeansStart, LinearStart, RandomStart, Start


def objective(hypothesis: object, unit: float = 1.0) -> Objective:
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(30), random.normal(size=(30, 2))])
    decisions = unit * random.normal(size=(30, 3))
    block = Block(features, random.normal(size=(30, 3)), decisions, np.full(30, 1 / 30))
    return Objective(fl.Predictability(), hypothesis, Samples.of(block))


HYPOTHESES = [
    fl.Affine(fl.Simplex(4)),
    fl.Affine(fl.Hypersimplex(4, 2)),
    fl.Affine(fl.Box(2, 1.0, 3.0)),
    fl.Affine(fl.L2Ball(2)),
    fl.Scaled(fl.Simplex(3)),
    fl.Scaled(fl.Box(3, 0.0, 2.0)),
]
EACH = pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=repr)


@EACH
def test_the_centre_is_the_policy(hypothesis: object) -> None:
    problem = objective(hypothesis)
    (block,) = problem.samples
    policy = block.features @ least_squares(block.features, block.decisions, block.weights)
    for seed in range(4):
        theta = LinearStart().parameters(problem, np.random.default_rng(seed), 1)
        for phi, expected in zip(block.features[:5], policy[:5], strict=True):
            image = hypothesis.image(theta, phi, 3)
            np.testing.assert_allclose(image.center(), expected, atol=1e-9)


STARTS = [LinearStart(), RandomStart(), DataStart(), KMeansStart()]
EACH_START = pytest.mark.parametrize("start", STARTS, ids=repr)


@EACH_START
def test_a_seed_says_where_a_search_begins(start: Start) -> None:
    problem = objective(fl.Affine(fl.Simplex(4)))
    one, same, other = (
        start.parameters(problem, np.random.default_rng(seed), 1) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_groups_of_decisions_are_found() -> None:
    random = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    decisions = centers[np.arange(60) % 3] + 0.01 * random.normal(size=(60, 2))
    block = Block(np.ones((60, 1)), random.normal(size=(60, 2)), decisions, np.full(60, 1 / 60))
    problem = Objective(fl.Predictability(), fl.Affine(fl.Simplex(3)), Samples.of(block))
    found = [
        KMeansStart(noise=0.0).parameters(problem, np.random.default_rng(seed), seed)
        for seed in range(8)
    ]
    apart = [
        np.linalg.norm(centers[:, :, None] - theta.reshape(1, 2, 3), axis=1).min(axis=1).max()
        for theta in found
    ]
    assert min(apart) < 0.02


@EACH_START
def test_unobserved_decisions_do_not_matter(start: Start) -> None:
    problem = objective(fl.Affine(fl.L1Ball(3)))
    (block,) = problem.samples
    block.decisions[::3, 1] = np.nan
    assert np.isfinite(start.parameters(problem, np.random.default_rng(0), 0)).all()


def test_a_start_that_was_given_survives_standardised_features() -> None:
    from feaslearn.trainers.standardize import Standardization

    for hypothesis in HYPOTHESES:
        problem = objective(hypothesis)
        problem.samples.head().features[:, 1] = 3.0 + 5.0 * problem.samples.head().features[:, 1]
        scaled = Standardization.of(problem)
        theta = LinearStart().parameters(problem, np.random.default_rng(0), 1)
        there = scaled.convert(problem, theta)
        np.testing.assert_allclose(scaled.revert(problem, there), theta, atol=1e-9)
        assert scaled.apply(problem).value(there) == pytest.approx(problem.value(theta))
