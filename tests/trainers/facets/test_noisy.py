"""Regions of worlds that are known are found again, up to what noise leaves of them."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.metrics import pooled_r2
from feaslearn.trainers.facets import Learned, Task
from feaslearn.trainers.facets.noise import hidden_equalities
from feaslearn.trainers.facets.noisy import learn_noisy
from feaslearn.trainers.facets.rows import standard_rows
from registry import known_limits
from trainers.facets.worlds import World, make_world


def noisy(world: World, sigma: float, seed: int = 0) -> World:
    """Return a world with noise of this share of the deviation of each column."""
    random = np.random.default_rng(1000 + seed)
    error = random.normal(size=world.decisions.shape) * world.decisions.std(axis=0)
    return world._replace(decisions=world.decisions + sigma * error)


def learn(world: World, **options) -> Learned:
    parts = (world.features, world.costs, world.decisions)
    return learn_noisy(Task(*parts, np.random.default_rng(0), **options))


def noise_level(features: np.ndarray, decisions: np.ndarray) -> tuple[float, int]:
    """Return the noise in standard deviations, and how many equalities it hides."""
    rows, _ = standard_rows(features, np.zeros_like(decisions), decisions)
    sigma, E, _ = hidden_equalities(rows, np.ones(len(decisions)), rows.E, np.ones_like(rows.x))
    return sigma, len(E)


def score(found: Learned, world: World) -> float:
    """Return the R² of the predictions of decisions without noise."""
    solved = found.rows.solve(world.features, world.costs)
    assert (solved.status == 0).all()
    return float(pooled_r2(world.decisions, solved.decisions))


@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("sigma", [0.01, 0.05, 0.2])
def test_a_world_and_the_level_of_its_noise_are_found(sigma: float, balance: bool) -> None:
    reached = []
    for seed in range(2):
        world = make_world(seed, balance=balance, rows=400)
        spoiled = noisy(world, sigma, seed)
        found = learn(spoiled)
        assert set(found.kind) <= {"noisy"}
        reached.append(score(found, world))
        level, hidden = noise_level(spoiled.features, spoiled.decisions)
        assert hidden == balance
        # What is left of a deviation of one that noise has widened.
        assert level == pytest.approx(sigma / np.hypot(1.0, sigma), rel=0.3)
    assert min(reached) > {0.01: 0.99, 0.05: 0.98, 0.2: 0.96}[sigma]


def test_a_limit_that_nearly_always_binds_is_no_equality() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(size=(400, 3))
    x[:, 2] = 1.0 - x[:, 0] - x[:, 1] - random.uniform(size=400) * (random.uniform(size=400) < 0.04)
    x += 0.02 * x.std(axis=0) * random.normal(size=x.shape)
    assert noise_level(np.ones((400, 1)), x)[1] == 0


@pytest.mark.parametrize("seed", range(5))
def test_no_facet_is_invented(seed: int) -> None:
    world = make_world(seed, n=5, m=0, rows=300)
    found = learn(noisy(world, 0.05, seed))
    assert not len(found.kind)
    assert score(found, world) > 0.99
    assert found.unexplained.mean() < 0.02


def test_bounds_do_not_overshoot_to_the_extremes() -> None:
    world = make_world(0, m=0, rows=400)
    rows = noisy(world, 0.1)
    found = learn(rows)
    size = 0.1 * world.decisions.std(axis=0)
    true = world.decisions.min(axis=0), world.decisions.max(axis=0)
    extremes = rows.decisions.min(axis=0), rows.decisions.max(axis=0)
    for side, end, extreme in zip(
        (found.rows.lower, found.rows.upper), true, extremes, strict=True
    ):
        assert (np.abs(side[:, 0] - end) < size).all()
        assert (np.abs(extreme - end) > 2.0 * size).all()
    assert found.seen_lower.all()


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    world = noisy(make_world(1, rows=150), 0.05)
    random = np.random.default_rng(0)
    weights = random.integers(0, 3, len(world.features))
    twice = np.repeat(np.arange(len(weights)), weights)
    more = World(world.region, *(part[twice] for part in world[1:]))
    one, other = learn(world, weights=weights.astype(float)), learn(more)
    assert len(one.kind)
    for part, same in zip(one.rows, other.rows, strict=True):
        np.testing.assert_array_equal(part, same)
    np.testing.assert_array_equal(one.unexplained[twice], other.unexplained)


def test_known_constraints_hold_beside_the_learned_ones() -> None:
    world = make_world(2, rows=300)
    known = known_limits(
        *world.decisions.shape,
        E=np.ones((1, 4)),
        e=world.features @ world.region.e.T,
        lower=0.0,
        upper=world.features @ world.region.upper.T,
        G=-world.region.a[:1],
        g=-world.features @ world.region.f[:1].T,
    )
    found = learn(noisy(world, 0.05), known=known)
    assert not len(found.rows.E)  # the balance is not learned again
    solved = found.rows.solve(world.features, world.costs, known)
    assert (solved.status == 0).all()
    assert known.violation(solved.decisions).max() < 1e-7
    assert pooled_r2(world.decisions, solved.decisions) > 0.98


def test_a_deadline_returns_what_there_is() -> None:
    world = noisy(make_world(0), 0.05)
    random, parts = np.random.default_rng(0), (world.features, world.costs, world.decisions)
    at_once = learn_noisy(Task(*parts, random, lambda: True))
    assert not len(at_once.kind)
    assert (at_once.rows.solve(world.features, world.costs).status == 0).all()
    assert len(learn(world, max_facets=1).kind) <= 1
