"""Regions of worlds that are known are found again, up to what noise leaves of them."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from common.logs import Log, draw
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.metrics import pooled_r2
from feaslearn.trainers.facets import Learned, Task
from feaslearn.trainers.facets.exceptional import exceptional_rows
from feaslearn.trainers.facets.noise import Noise, hidden_equalities, noise_profiles
from feaslearn.trainers.facets.noisy import learn_noisy
from feaslearn.trainers.facets.polish import Vertices, dual_rows, least_norm, newton, steps
from feaslearn.trainers.facets.rows import column_steps, standard_rows
from registry import fit_to, known_limits
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


# Logs as meters write them: noise that grows with the value, rounding, rows of other rules.


def fitted(log: Log) -> fl.RegionRegressor:
    return fit_to(log, fl.Facets())


def r2(log: Log) -> float:
    decisions = fitted(log).predict(log.test_signals)
    total = ((log.test_decisions - log.test_decisions.mean(axis=0)) ** 2).sum()
    return float(1.0 - ((log.test_decisions - decisions) ** 2).sum() / total)


def columns(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Return features and costs."""
    n = len(log.cost)
    features = np.hstack([np.ones((len(log.signals), 1)), log.signals[:, n:]])
    return features, log.signals[:, :n]


@pytest.mark.parametrize("level", [0.01, 0.02])
def test_noise_in_proportion_to_the_value(level: float) -> None:
    assert r2(draw("network", "value", level, 3)) > 0.98


def test_values_shared_at_zero_prove_nothing() -> None:
    """Only noise that grows with the value leaves zeros."""
    log = draw("network", "value", 0.02, 3)
    rows, units = standard_rows(*columns(log), log.decisions)
    assert rows.shares_zero
    assert not rows.exact
    (profile,) = noise_profiles(rows)
    values = log.decisions[:, units.moving] / rows.scale
    assert np.corrcoef(profile.ravel(), values.ravel())[0, 1] > 1.0 - 1e-6
    exact = draw("network", "exact", 0.0, 3)
    assert standard_rows(*columns(exact), exact.decisions)[0].exact


def test_the_error_of_a_slack() -> None:
    random = np.random.default_rng(0)
    sigma, a, f = random.uniform(0.1, 1.0, (4, 3)), random.normal(size=3), random.normal(size=2)
    root = random.normal(size=(2, 2))
    noise = Noise(sigma, root @ root.T, told=True)
    x = sigma * random.normal(size=(200_000, 4, 3))
    F = random.normal(size=(200_000, 1, 2)) @ root.T
    seen = (F @ f - x @ a).std(axis=0)
    np.testing.assert_allclose(noise.of_slack(a, f), seen, rtol=0.02)


def test_steps_of_a_table_and_of_columns() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(0.0, 10.0, (300, 3))
    np.testing.assert_allclose(column_steps(np.round(x, 1)), 0.1)
    steps_ = np.array([0.07, 0.3, 0.011])
    np.testing.assert_allclose(column_steps(np.round(x / steps_) * steps_), steps_, rtol=1e-6)
    assert not column_steps(x).any()
    one_column = np.column_stack([np.round(x[:, 0] / 0.07) * 0.07, x[:, 1:]])
    assert not column_steps(one_column).any()


@pytest.mark.parametrize("name", ["5_pjm typ", "14_ieee sad", "network"])
@pytest.mark.parametrize("step", [0.001, 0.01])
def test_coarse_rounding(name: str, step: float) -> None:
    assert r2(draw(name, "round", step, 3)) > 0.99


# Rows that break a balance.


@pytest.mark.parametrize("how", ["shed", "stuck"])
@pytest.mark.parametrize("name", ["5_pjm typ", "39_epri api", "network", "power5"])
def test_rows_that_break_the_balance_are_named(name: str, how: str) -> None:
    log = draw(name, how, 0.02, 2)
    model = fitted(log)
    assert set(model.result_.exceptional) == set(np.flatnonzero(log.odd).tolist())
    warning = next(text for text in model.result_.warnings if "exceptional" in text)
    assert f"add up in {int((~log.odd).sum())} of {len(log.odd)} rows" in warning
    assert r2(log) > r2(draw(name, "exact", 0.0, 2)) - 0.002


def test_a_limit_that_nearly_always_binds_has_no_exceptions() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(size=(400, 3))
    spare = random.uniform(size=400) * (random.uniform(size=400) < 0.03)
    x[:, 2] = 3.0 - x[:, 0] - x[:, 1] - spare  # a capacity of three; prices are profits
    features, prices = np.ones((400, 1)), -random.uniform(0.5, 1.5, (400, 3))
    assert not exceptional_rows(features, prices, x).any()
    # The same rows with costs: a demand of three that some rows did not serve.
    odd = exceptional_rows(features, -prices, x)
    np.testing.assert_array_equal(odd, spare > 0.0)


def test_more_than_a_few_rows_are_no_exceptions() -> None:
    log = draw("power5", "shed", 0.2, 3)
    features, costs = columns(log)
    odd = exceptional_rows(features, costs, log.decisions)
    assert not odd.any()


# Steps that keep explained decisions optimal.


def polygon(seed: int) -> tuple[FacetRows, np.ndarray, np.ndarray]:
    """Return a polygon with moving sides, features and costs."""
    random = np.random.default_rng(seed)
    F = np.column_stack([np.ones(60), random.uniform(size=60)])
    c = random.normal(size=(60, 2))
    a, f = np.array([[0.8, 0.6], [-0.6, 0.8]]), np.array([[0.9, 0.4], [0.7, 0.1]])
    side = np.array([[1.0, 0.0], [1.0, 0.0]])
    rows = FacetRows(np.zeros((0, 2)), np.zeros((0, 2)), -side, side, a, f)
    return rows, F, c / np.linalg.norm(c, axis=1, keepdims=True)


def stepped(rows: FacetRows, step: np.ndarray) -> FacetRows:
    """Return the polygon with other coefficients of its sides, and other bounds."""
    sides, ends = step[:8].reshape(2, 4), step[8:].reshape(2, 2, 1) * [1.0, 0.0]
    a, f = rows.a + sides[:, :2], rows.f + sides[:, 2:]
    parts = map(np.ascontiguousarray, (rows.lower + ends[0], rows.upper + ends[1], a, f))
    return FacetRows(rows.E, rows.e, *parts)


def vertices(rows: FacetRows, y: np.ndarray, prices: np.ndarray) -> Vertices:
    at = y < -1.0 + 1e-9, y > 1.0 - 1e-9
    return Vertices(rows.a, 0, prices > 1e-9, *at, *at)


@pytest.mark.parametrize("seed", range(3))
def test_the_newton_step_is_that_of_finite_differences(seed: int) -> None:
    rows, F, c = polygon(seed)
    found = rows.solve(F, c)
    random = np.random.default_rng(100 + seed)
    miss, w = random.normal(size=found.decisions.shape), random.uniform(0.5, 2.0, (60, 2))
    points = vertices(rows, found.decisions, found.prices)
    step = newton(points, np.hstack([-found.decisions, F]), miss, w, np.full(12, 1e-3))
    J = np.zeros((60, 2, 12))
    size = 1e-6
    for k in range(12):
        ends = [stepped(rows, sign * size * np.eye(12)[k]).solve(F, c) for sign in (1.0, -1.0)]
        J[:, :, k] = (ends[0].decisions - ends[1].decisions) / (2.0 * size)
    H = np.einsum("ijk,ij,ijl->kl", J, w, J) + 1e-3 * np.eye(12)
    np.testing.assert_allclose(step.H, H, atol=1e-4)
    np.testing.assert_allclose(step.g, np.einsum("ijk,ij,ij->k", J, w, miss), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_that_keeps_dual_rows_keeps_active_limits(seed: int) -> None:
    rows, F, c = polygon(seed)
    found = rows.solve(F, c)
    points = vertices(rows, found.decisions, found.prices)
    kept = dual_rows(points, np.arange(60), c, np.eye(2), 4)
    assert kept[1].min() > -1e-9
    miss = 3.0 * np.random.default_rng(seed).normal(size=(60, 2))
    z = np.hstack([-found.decisions, F])
    step = newton(points, z, miss, np.ones((60, 2)), np.full(12, 1e-3))
    free, careful, *_ = steps(step, kept, (kept[0][:0], kept[1][:0]))
    least = [float((kept[1] + kept[0] @ each[:8]).min()) for each in (free, careful)]
    assert least[0] < -1e-6  # the free step makes some decision suboptimal to first order
    assert least[1] > -1e-6


def test_least_norm_against_its_conditions() -> None:
    random = np.random.default_rng(0)
    G, h = random.normal(size=(30, 6)), random.normal(size=30) - 0.5
    found = least_norm(G, h, np.zeros(30, bool))
    assert found is not None
    assert (G @ found >= h - 1e-7).all()
    held = np.abs(G @ found - h) < 1e-6
    duals = np.linalg.lstsq(G[held].T, found, rcond=None)[0]
    np.testing.assert_allclose(G[held].T @ duals, found, atol=1e-6)
    assert (duals > -1e-6).all()
    contradictory = np.vstack([np.eye(2), -np.eye(2)])
    assert least_norm(contradictory, np.ones(4), np.zeros(4, bool)) is None
    assert least_norm(contradictory, np.ones(4), np.ones(4, bool)) is not None
