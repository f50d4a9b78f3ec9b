"""Regions of worlds that are known are found again, exactly where the rows determine them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.metrics import pooled_r2
from feaslearn.trainers.facets import Task, learn_facets
from feaslearn.trainers.facets.hyperplanes import Metric, identified
from feaslearn.trainers.facets.rows import standard_rows
from registry import Array, fit_rows, known_limits
from trainers.facets.worlds import World, learn, make_world

CASE39 = Path(__file__).parents[3] / "benchmarks" / "data" / "case39_api.csv"


def modulo(rows: FacetRows, a: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return a facet without its part along the equalities, of length one in the decisions."""
    if len(rows.E):
        part = np.linalg.lstsq(rows.E.T, a, rcond=None)[0]
        a, f = a - part @ rows.E, f - part @ rows.e
    return np.append(a, f) / np.linalg.norm(a)


@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_determined_facets_are_true(seed: int, balance: bool) -> None:
    world = make_world(seed, balance=balance)
    found = learn(world)
    assert found.rows.largest_violation(world.features, world.decisions).max() < 1e-9
    assert found.unexplained.mean() < 0.05
    predicted = found.rows.solve(world.features, world.costs).decisions
    assert pooled_r2(world.decisions, predicted) > 0.99
    true = [modulo(world.region, a, f) for a, f in zip(world.region.a, world.region.f, strict=True)]
    sure = [j for j, kind in enumerate(found.kind) if kind == "determined"]
    for j in sure:
        one = modulo(found.rows, found.rows.a[j], found.rows.f[j])
        assert min(np.abs(one - each).max() for each in true) < 1e-6
    # Rows enough for all parameters, and three more that confirm them.
    need = world.decisions.shape[1] - len(world.region.E) + world.features.shape[1] + 2
    heavy = [
        t
        for t, on in zip(true, world.on().T, strict=True)
        if on.sum() >= need and np.linalg.matrix_rank(_z(world, on), tol=1e-8) == need - 3
    ]
    assert len(sure) >= len(heavy)


def _z(world: World, on: np.ndarray) -> np.ndarray:
    """Return rows modulo the equalities: their rank says what they determine."""
    table = np.hstack([world.decisions[on], world.features[on]])
    if len(world.region.E):
        table = table[:, 1:]
    return table


@pytest.mark.parametrize(("case", "variant"), [("case5_pjm", "sad"), ("case14_ieee", "sad")])
def test_grids_that_break_careless_bounds(case: str, variant: str) -> None:
    make = partial(fl.datasets.make_dcopf, zones=8, quadratic="linearize", load_range=(0.6, 1.0))
    with pytest.warns(fl.exceptions.FeaslearnWarning):
        data = make(f"pglib_opf_{case}", 600, variant=variant, random_state=5)
    columns = [j for j in range(data.signals.shape[1]) if j not in data.cost]
    phi = np.column_stack([np.ones(600), data.signals[:, columns]])
    world = World(None, phi, data.cost_matrix, data.decisions)  # type: ignore[arg-type]
    found = learn(World(None, *(part[:300] for part in world[1:])))  # type: ignore[arg-type]
    predicted = found.rows.solve(phi[300:], data.cost_matrix[300:]).decisions
    assert pooled_r2(data.decisions[300:], predicted) > 0.995


def test_a_limit_that_nearly_always_binds_is_no_equality() -> None:
    world = make_world(1, m=0, rows=400)
    n = world.decisions.shape[1]
    a, f = np.ones((1, n - 1)), np.array([[1.0, 0.4, 0.3]])
    region = world.region._replace(a=np.hstack([a, np.zeros((1, 1))]), f=f)
    costs = world.costs.copy()
    costs[:392, : n - 1] -= 20.0  # all but eight rows push against the limit
    found = region.solve(world.features, costs)
    tight = World(region, world.features, costs, found.decisions)
    assert 0.95 < tight.on().mean() < 1.0
    assert len(learn(tight).rows.E) == 1


def test_the_equality_of_rounded_exact_and_noisy_rows() -> None:
    """A combination with a tenth of the spread left is no equality."""
    world = make_world(2)
    phi, x = np.round(100.0 * world.features, 2), np.round(100.0 * world.decisions, 2)
    phi[:, 0] = 1.0
    rows, _ = standard_rows(phi, world.costs, x)
    assert len(rows.E) == 1
    assert (rows.x_error > 0.0).all()
    exact, _ = standard_rows(world.features, world.costs, world.decisions)
    assert len(exact.E) == 1
    assert not exact.x_error.any()
    x = world.decisions.copy()
    x[:, 0] += 0.1 * x.std() * np.random.default_rng(0).normal(size=len(x))
    assert len(standard_rows(world.features, world.costs, x)[0].E) == 0


def test_a_row_alone_confirms_nothing() -> None:
    random = np.random.default_rng(0)
    metric = Metric(1e-12 * np.eye(4), 1.0)
    plane = np.hstack([random.normal(size=(6, 2)), np.zeros((6, 2))])
    keep, rank = metric.confirmed(np.vstack([plane, [0.0, 0.0, 1.0, 0.0]]), 1e-6)
    assert keep.tolist() == [True] * 6 + [False]
    assert rank == 2
    assert metric.null(plane).shape == (4, 2)
    # Two rounded rows that confirm nothing but each other leave no rank, not one less than none.
    keep, rank = Metric(1e-4 * np.eye(2), 2.0).confirmed(np.array([[1.0, 0.0], [1.0, 0.0]]), 0.6)
    assert not keep.any()
    assert rank == 0


def polygon(sides: int, angles: np.ndarray) -> World:
    """Rows of a regular polygon that does not depend on signals, at costs of given directions."""
    corners = 2.0 * np.pi * np.arange(sides) / sides
    points = np.column_stack([np.cos(corners), np.sin(corners)])
    costs = np.column_stack([np.cos(angles), np.sin(angles)])
    decisions = points[(costs @ points.T).argmin(axis=1)]
    return World(None, np.ones((len(angles), 1)), costs, decisions)  # type: ignore[arg-type]


def is_identified(world: World) -> np.ndarray:
    found = learn(world)
    return identified(found.rows, world.features, world.costs, world.decisions)


def test_a_chord_before_a_corner_that_no_cost_visited_is_not_identified() -> None:
    random = np.random.default_rng(0)
    assert is_identified(polygon(7, random.uniform(0.0, 2.0 * np.pi, 600))).sum() >= 5
    # Costs that would visit every second corner of an octagon are left out.
    angles = random.uniform(0.0, 2.0 * np.pi, 1200)
    visited = np.round((angles - np.pi) / (np.pi / 4.0)) % 2 == 0
    chords = is_identified(polygon(8, angles[visited]))
    assert len(chords) > 0
    assert not chords.any()


@pytest.mark.parametrize(("more", "sure"), [(1, False), (2, False), (3, True)])
def test_three_rows_beyond_their_rank_determine_a_facet(more: int, sure: bool) -> None:
    world = make_world(3, m=1, rows=600)
    on = np.flatnonzero(world.on()[:, 0])
    parameters = world.decisions.shape[1] - 1 + world.features.shape[1]
    kept = np.sort(np.r_[np.flatnonzero(~world.on()[:, 0]), on[: parameters - 1 + more]])
    few = World(world.region, *(part[kept] for part in world[1:]))
    found = learn(few)
    true = modulo(world.region, world.region.a[0], world.region.f[0])
    same = [
        np.abs(modulo(found.rows, a, f) - true).max() < 1e-6
        for a, f, kind in zip(found.rows.a, found.rows.f, found.kind, strict=True)
        if kind == "determined"
    ]
    assert any(same) == sure
    assert sure or not identified(found.rows, few.features, few.costs, few.decisions).any()


def test_a_redundant_limit_is_no_facet() -> None:
    """A limit that no row touches, and one that follows from others, are not learned."""
    world = make_world(0, m=2)
    region = world.region
    far = region.adding(region.a[0], region.f[0] + [1.0, 0.0, 0.0])
    both = far.adding(region.a.sum(axis=0), region.f.sum(axis=0))
    found = both.solve(world.features, world.costs)
    assert len(learn(World(both, world.features, world.costs, found.decisions)).kind) == 2


def test_a_rare_regime_is_signal() -> None:
    """One row beyond all others moves the bound; no bound is trimmed."""
    world = make_world(1, m=0, balance=False)
    x = world.decisions.copy()
    x[7, 0] = 3.0
    found = learn(World(world.region, world.features, world.costs, x))
    assert found.rows.upper[0, 0] >= 3.0
    assert found.rows.largest_violation(world.features, x).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_choose_between_columns_that_act_alike(seed: int) -> None:
    """Twins with nearly equal costs: coefficients that differ by rounding would order them."""
    world = make_world(seed, rows=600)
    twins = [0, 1, 2, 3, 1, 2]
    E, e, lower, upper, a, f = world.region
    region = FacetRows(E[:, twins], 1.5 * e, lower[twins], upper[twins], a[:, twins], f)
    costs = world.costs[:, twins]
    costs[:, 4:] += 1e-4 * np.random.default_rng(seed).normal(size=(len(costs), 2))
    found = region.solve(world.features, costs)
    there = found.status == 0
    features, costs, x = world.features[there], costs[there], 100.0 * found.decisions[there]
    features = np.column_stack([features[:, 0], np.round(100.0 * features[:, 1:], 2)])
    train, test = slice(0, 300), slice(300, None)
    parts = features[train], costs[train], np.round(x[train], 2)
    learned = learn_facets(Task(*parts, np.random.default_rng(0)))
    assert learned.data == "rounded"
    assert not learned.unexplained.any()
    predicted = learned.rows.solve(features[test], costs[test]).decisions
    assert pooled_r2(x[test], predicted) > 0.9999


def test_rounded_rows_do_not_show_a_bound_twice() -> None:
    """A log of 39 buses in three decimals once had facets that repeat bounds, x6 <= 9 of them."""
    table = np.genfromtxt(CASE39, delimiter=",", skip_header=1)[:150].round(3)
    facets = fit_rows(table[:, :18], table[:, 18:28], fl.Facets()).facets_
    assert not [facet.text for facet in facets if re.fullmatch(r"x\d+ [<>]= [\d.]+", facet.text)]


# Degenerate rows: feasible at every training signal, and no worse than a box.


def with_facets(world: World, a: Array, f: Array) -> World:
    """Return the world with these facets beside its own."""
    region = world.region.adding(a, f)
    found = region.solve(world.features, world.costs)
    return World(region, world.features, world.costs, found.decisions)


def parallel() -> World:
    world = make_world(0, m=2)
    a, f, one = world.region.a, world.region.f, np.eye(1, 3)
    return with_facets(
        world, np.vstack([a, 2.0 * a, -a]), np.vstack([f + one, 2.0 * f, 3 * one - f])
    )


def repeated() -> World:
    world = make_world(1)
    return World(world.region, *(np.repeat(part, 3, axis=0) for part in world[1:]))


def tied() -> World:
    """Half of the rows have equal costs, so that all of a face is optimal."""
    world = make_world(2)
    costs = world.costs.copy()
    costs[::2] = 1.0
    costs[1::4] = np.round(costs[1::4])
    found = world.region.solve(world.features, costs)
    return World(world.region, world.features, costs, found.decisions)


def with_constants() -> World:
    world = make_world(3)
    N = len(world.features)
    features = np.column_stack([world.features, np.full(N, 5.0), world.features[:, 1]])
    still = np.full((N, 2), [0.0, 7.0])
    costs = np.hstack([world.costs, np.random.default_rng(0).normal(size=(N, 2))])
    return World(None, features, costs, np.hstack([world.decisions, still]))  # type: ignore[arg-type]


def box(n: int, rows: int, k: int = 2, costs: float = 1.0) -> World:
    """A box whose upper ends move with the signals."""
    random = np.random.default_rng(n)
    features = np.column_stack([np.ones(rows), random.uniform(size=(rows, k - 1))])
    c = costs * random.normal(size=(rows, n))
    upper = 1.0 + features[:, 1:].sum(axis=1, keepdims=True) * np.ones(n)
    return World(None, features, c, np.where(c < 0.0, upper, 0.0))  # type: ignore[arg-type]


def few(rows: int, n: int, k: int) -> World:
    world = make_world(4, n=n, k=k, rows=rows, balance=k < 6)
    assert len(world.features) < max(n, k)
    return world


WORLDS: dict[str, Callable[[], World]] = {
    "redundant and parallel facets": parallel,
    "rows three times": repeated,
    "ties": tied,
    "columns that never move": with_constants,
    "one decision": lambda: box(1, 60),
    "two decisions": lambda: box(2, 60),
    "no price": lambda: box(3, 40, costs=0.0),
    "one row": lambda: box(2, 1),
    "two rows": lambda: box(3, 2),
    "more decisions than rows": lambda: few(10, 16, 3),
    "fewer rows than features": lambda: few(7, 4, 12),
}


@pytest.mark.parametrize("name", WORLDS)
def test_degenerate_rows(name: str) -> None:
    world = WORLDS[name]()
    found, plain = learn(world, exact=True), learn(world, exact=True, max_facets=0)
    size = max(1.0, float(np.abs(world.decisions).max()))
    assert found.rows.largest_violation(world.features, world.decisions).max() < 1e-6 * size
    error = []
    for learned in (found, plain):
        solved = learned.rows.solve(world.features, world.costs)
        assert (solved.status == 0).all()
        error.append(((solved.decisions - world.decisions) ** 2).sum())
    assert error[0] <= error[1] + 1e-9
    assert len(found.unexplained) == len(world.features)


# Known bounds in the place of those that were not seen.


def plant_and_store(noise: float = 0.0) -> World:
    """A plant whose capacity is a signal, and a store that was never seen to take anything in."""
    random = np.random.default_rng(0)
    features = np.column_stack(
        [np.ones(200), random.uniform(1.2, 1.8, 200), random.uniform(0.8, 1.1, 200)]
    )
    costs = random.uniform([1.0, 1.5], [2.0, 2.5], (200, 2))
    sides = np.eye(1, 3) * [[0.0], [-0.5]], np.eye(1, 3) * [[2.0], [2.0]]
    region = FacetRows(np.ones((1, 2)), np.eye(1, 3, 1), *sides, np.eye(1, 2), np.eye(1, 3, 2))
    decisions = region.solve(features, costs).decisions
    decisions += noise * decisions.std(axis=0) * random.normal(size=decisions.shape)
    return World(region, features, costs, decisions)


@pytest.mark.parametrize(("noise", "near"), [(0.0, 1e-6), (0.05, 0.05)])
def test_a_known_bound_replaces_one_that_was_not_seen(noise: float, near: float) -> None:
    world = plant_and_store(noise)
    known = fl.Known(bounds=([None, -0.5], None))
    model = fit_rows(world.signals, world.decisions, fl.Facets(), known=known)
    low = world.features[:20] - [0.0, 1.0, 0.0]
    costs = np.tile([1.0, 2.0], (20, 1))
    true = world.region.solve(low, costs).decisions
    assert true.min() < 0.0
    predicted = model.predict(np.hstack([costs, low[:, 1:]]))
    np.testing.assert_allclose(predicted, true, atol=near)


def test_a_known_bound_that_moves_replaces_one_that_was_not_seen() -> None:
    world = plant_and_store()
    moving = np.column_stack([np.full(200, -np.inf), -world.features[:, 2]])
    known = known_limits(200, 2, lower=moving)
    lower = learn(world, known=known).rows.lower
    assert (world.features @ lower[1] <= moving[:, 1]).all()


def test_a_known_bound_moves_no_column_that_prices_would_have_moved() -> None:
    """A cheap plant that never ran cannot run, whatever its capacity is said to be."""
    world = make_world(0, m=0)
    N = len(world.features)
    costs = np.column_stack([world.costs, np.full(N, -5.0)])
    off = World(None, world.features, costs, np.column_stack([world.decisions, np.zeros(N)]))  # type: ignore[arg-type]
    known = known_limits(N, 5, lower=0.0, upper=2.0)
    solved = learn(off, known=known).rows.solve(off.features, off.costs, known)
    np.testing.assert_allclose(solved.decisions, off.decisions, atol=1e-6)


# What "identified" asks for.


def test_rows_short_of_a_rank_identify_no_facet() -> None:
    """The true facet is not identified by rows on it of too small a rank, or of no more than it."""
    world = make_world(3, m=1, rows=600)
    on = world.on()[:, 0]
    assert identified(world.region, *world[1:]).all()
    parameters = world.decisions.shape[1] - 1 + world.features.shape[1]
    places = np.flatnonzero(on)
    for some in (places[: parameters + 1], _flat(world, places)):
        kept = np.sort(np.r_[np.flatnonzero(~on), some])
        part = [table[kept] for table in world[1:]]
        assert not identified(world.region, *part).any()


def _flat(world: World, places: Array) -> Array:
    """Return rows with one of the decisions at a bound: they leave the facet a rank short."""
    at = world.decisions[places] < 1e-9
    return places[at[:, at.sum(axis=0).argmax()]]


@pytest.mark.parametrize(("count", "sure"), [(4, False), (5, True)])
def test_three_rows_beyond_their_rank_identify_a_facet(count: int, sure: bool) -> None:
    """A side of a triangle, with costs on both sides of its normal."""
    tilt = 0.02 * (-1.0) ** np.arange(count)
    costs = np.vstack([-np.column_stack([1.0 + tilt, 1.0 - tilt]), np.ones((6, 2))])
    side = np.column_stack([tilt > 0.0, tilt < 0.0]).astype(float)
    decisions = np.vstack([side, np.zeros((6, 2))])
    ends = np.zeros((2, 1)), np.ones((2, 1))
    region = FacetRows(np.zeros((0, 2)), np.zeros((0, 1)), *ends, np.ones((1, 2)), np.ones((1, 1)))
    found = identified(region, np.ones((len(costs), 1)), costs, decisions)
    assert found.tolist() == [sure]


# Sides that were not seen.


def test_the_row_that_reached_farthest_does_not_close_a_side() -> None:
    """Of 20 rows, the one on a side may have several duals: which one must not decide."""
    data = fl.datasets.make_power5(20, noise=0.0, random_state=0)
    new = fl.datasets.make_power5(200, noise=0.0, random_state=100)
    signals, random = np.asarray(data.signals), np.random.default_rng(0)
    found = []
    for _ in range(6):
        model = fit_rows(signals, data.decisions, fl.Facets(), cost=data.cost)
        found.append(model.predict(new.signals))
        signals = np.asarray(data.signals) * (1.0 + 1e-14 * random.normal(size=signals.shape))
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], atol=1e-6)


@pytest.mark.parametrize("often", [1, 5])
def test_a_side_ends_where_the_others_were_seen_to_end(often: int) -> None:
    """A plant of six hours fills the cheapest; what was left for the last hour is no capacity."""
    random = np.random.default_rng(0)
    prices = random.uniform(size=(400, 6))
    prices[:, 5] += 0.3
    rank = prices.argsort(axis=1).argsort(axis=1)
    schedules = np.clip(3.4 - rank, 0.0, 1.0)
    train = np.append(np.flatnonzero(rank[:, 5] > 3)[:40], np.flatnonzero(rank[:, 5] == 3)[:often])
    model = fit_rows(prices[train], schedules[train], fl.Facets())
    assert "x5 <= 1 (upper not seen)" in str(model.facets_)
    np.testing.assert_allclose(model.predict(prices), schedules, atol=1e-6)


def test_a_side_short_of_the_others_stays_where_rows_need_it() -> None:
    random = np.random.default_rng(0)
    prices, left = random.uniform(size=(60, 4)), np.full(60, 2.0)
    schedules, rows = np.zeros((60, 4)), np.arange(60)
    for j in prices.argsort(axis=1).T:
        schedules[rows, j] = np.minimum(left, np.where(j == 3, 0.7, 1.0))
        left -= schedules[rows, j]
    model = fit_rows(prices, schedules, fl.Facets())
    assert "0 <= x3 <= 0.7\n" in str(model.facets_) + "\n"
    np.testing.assert_allclose(model.predict(prices), schedules, atol=1e-6)
