"""Facets learned from optimal decisions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import feaslearn as fl
from facet_recovery import Instance, learn, learned_rows, random_polytope, recovery
from feaslearn.data import Shard
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.metrics import pooled_r2
from feaslearn.trainers import FacetLearning
from feaslearn.trainers.facet_learning import facet_program
from feaslearn.trainers.facet_learning.facet_learning import find_equalities
from feaslearn.trainers.facet_learning.facet_program import fit_facet
from feaslearn.trainers.facet_learning.facet_search import GrowthOptions
from feaslearn.trainers.facet_learning.growth import loss_of
from feaslearn.trainers.facet_learning.samples import Samples
from feaslearn.trainers.facet_learning.units import Units

Array = NDArray[np.float64]

HALVES = (slice(0, 300), slice(300, 600))


def fit(signals: Array, decisions: Array, costs: Array, **options: object) -> fl.RegionRegressor:
    model = fl.RegionRegressor(
        options.pop("hypothesis", fl.Facets()),
        cost=np.ones(np.shape(costs)[1]),
        features="all",
        trainer=options.pop("trainer", "auto"),
        random_state=options.pop("random_state", 0),
    )
    return model.fit(signals, decisions, costs=costs, **options)  # type: ignore[arg-type]


def test_random_polytopes_are_recovered() -> None:
    counts = np.zeros(3, dtype=int)
    for seed in range(8):
        counts += recovery(random_polytope(seed, 2 + seed % 3, 250, balance=seed % 2 == 1))
    recovered, asked, learned = counts
    assert asked > 20
    assert recovered >= 0.95 * asked
    # Hardly a facet more than there are.
    assert learned <= 1.2 * asked


@pytest.mark.soak
@pytest.mark.parametrize("balance", [True, False])
def test_noisy_polytopes_are_predicted(balance: bool) -> None:
    scores = []
    for seed in range(4):
        case = random_polytope(seed, 2 + seed % 3, 600, balance=balance)
        noise = np.random.default_rng(seed).normal(size=case.decisions.shape)
        noisy = case.decisions + 0.05 * case.decisions.std(axis=0) * noise
        train, test = (Instance(case.rows, *(part[rows] for part in case[1:])) for rows in HALVES)
        model = learn(train, noisy[HALVES[0]])
        predicted = model.predict(test.signals, costs=test.costs)
        scores.append(pooled_r2(test.decisions, predicted))
    assert np.mean(scores) >= 0.95
    assert min(scores) >= 0.9


def test_trained_by_suboptimality() -> None:
    """The other loss chooses: facets that save nothing are not missed, and costs agree."""
    case = random_polytope(4, 3, 300, balance=True)
    model = learn(case, loss="suboptimality")
    assert model.result_.objective < 1e-9
    spent = (case.costs * case.decisions).sum(axis=1)
    reached = (case.costs * model.predict(case.signals, costs=case.costs)).sum(axis=1)
    np.testing.assert_allclose(reached, spent, atol=1e-6)


@pytest.mark.parametrize("by_cost", [False, True])
def test_losses_of_regions(by_cost: bool) -> None:
    """A region that is too large or too small has a loss, in both measures; the true one none."""
    case = random_polytope(2, 3, 200, balance=True)
    whole = Shard(case.features, case.costs, case.decisions, np.full(len(case.costs), 1.0))
    samples = Units.of(whole).apply(whole)
    samples = samples._replace(costs=case.costs, decisions=case.decisions, features=case.features)
    options = GrowthOptions(20, 0.0, 4, 8, by_cost)
    assert loss_of(case.rows, samples, options) < 1e-12
    larger = case.rows._replace(f=case.rows.f + [0.1, 0.0, 0.0][: case.rows.f.shape[1]])
    smaller = case.rows._replace(f=case.rows.f - [0.1, 0.0, 0.0][: case.rows.f.shape[1]])
    assert loss_of(larger, samples, options) > 1e-4
    assert loss_of(smaller, samples, options) > 1e-4
    if by_cost:
        # No point of a smaller region is cheaper: what counts is the broken row.
        broken = smaller.largest_violation(case.features, case.decisions)
        assert broken.max() == pytest.approx(0.1)
        assert loss_of(smaller, samples, options) == pytest.approx((broken**2).mean())


def test_power5() -> None:
    losses = []
    for seed in range(10):
        data = fl.datasets.make_power5(300, random_state=seed)
        train, test = data[:100], data[100:]
        model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.fit(train.signals, train.decisions).predict(test.signals)
        losses.append(((predicted - test.decisions) ** 2).sum(axis=1).mean())
    # The claim is about the mean: single draws of 100 rows reach 0.03.
    assert np.mean(losses) <= 0.02


def samples_with(rank: int, noise: float, seed: int = 0) -> tuple[Samples, Array]:
    """Return samples in which ``rank`` combinations of decisions are affine in the features."""
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(200), random.normal(size=(200, 3))])
    E = np.linalg.qr(random.normal(size=(5, 5)))[0][:rank]
    decisions = random.uniform(-1.0, 1.0, size=(200, 5))
    decisions += (features @ random.normal(size=(4, rank)) - decisions @ E.T) @ E
    decisions += noise * random.normal(size=decisions.shape)
    costs, weights = random.normal(size=(200, 5)), np.full(200, 1 / 200)
    return Samples(features, costs, decisions, weights, np.ones(5)), E


# With noise and nothing but equalities, no direction is small against the others.
@pytest.mark.parametrize(
    ("rank", "noise"), [(0, 0.0), (1, 0.0), (3, 0.0), (5, 0.0), (0, 0.02), (1, 0.02), (3, 0.02)]
)
def test_equalities_are_found(rank: int, noise: float) -> None:
    samples, E = samples_with(rank, noise)
    found = find_equalities(samples)
    assert found.E.shape == (rank, 5)
    # The same space, whatever its basis.
    np.testing.assert_allclose(found.E.T @ found.E, E.T @ E, atol=1e-9 + 10 * noise / 3)
    if rank and noise:
        assert found.noise == pytest.approx(noise, rel=0.3)
    else:
        assert found.noise == 0.0


def test_too_few_rows_have_no_equalities() -> None:
    samples, _ = samples_with(2, 0.0)
    assert len(find_equalities(samples.rows(np.arange(8))).E) == 0


def test_no_facet_where_decisions_ignore_prices() -> None:
    invented = 0
    for seed in range(20):
        random = np.random.default_rng(100 + seed)
        n, n_samples = int(random.integers(2, 6)), int(random.choice([50, 200]))
        signals, costs = random.normal(size=(n_samples, 2)), random.normal(size=(n_samples, n))
        draw = random.normal if seed % 2 else random.random
        model = fit(signals, draw(size=(n_samples, n)), costs)
        invented += len(learned_rows(model).a) > 0
    assert invented <= 1


def test_no_facet_where_no_line_binds() -> None:
    invented = 0
    for seed in range(10):
        noise = 0.05 if seed % 2 else 0.0
        data = fl.datasets.make_power5(150, noise=noise, line_capacity=100.0, random_state=seed)
        model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=seed)
        rows = learned_rows(model.fit(data.signals, data.decisions))
        assert len(rows.E) == 1
        invented += len(rows.a) > 0
    assert invented == 0


def test_duplicated_rows_change_little() -> None:
    case = random_polytope(1, n=3, n_samples=100, balance=True)
    twice = [np.vstack([part, part]) for part in (case.signals, case.decisions, case.costs)]
    model = fit(*twice)
    assert model.result_.objective < 1e-6
    assert not model.result_.warnings


def test_one_decision() -> None:
    random = np.random.default_rng(0)
    signals, costs = random.uniform(-1, 1, size=(80, 1)), random.normal(size=(80, 1))
    decisions = np.where(costs > 0.0, 0.5 * signals - 1.0, 2.0 + signals)
    model = fit(signals, decisions, costs)
    assert learned_rows(model).E.shape == (0, 1)
    np.testing.assert_allclose(model.predict(signals, costs=costs), decisions, atol=1e-6)


def test_equal_costs() -> None:
    """One price for all rows: the region is only seen from one side."""
    random = np.random.default_rng(1)
    signals = random.uniform(-1, 1, size=(100, 1))
    upper = np.minimum(1.0, 0.5 + signals)
    decisions = np.hstack([upper, 0.0 * upper])
    costs = np.tile([-1.0, 1.0], (100, 1))
    model = fit(signals, decisions, costs)
    np.testing.assert_allclose(model.predict(signals, costs=costs), decisions, atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_few_rows(count: int) -> None:
    case = random_polytope(2, n=3, n_samples=count, balance=False)
    model = fit(case.signals, case.decisions, case.costs)
    assert np.isfinite(model.theta_).all()
    assert np.isfinite(model.predict(case.signals, costs=case.costs)).all()


def test_incomplete_rows_are_left_out() -> None:
    case = random_polytope(3, n=3, n_samples=150, balance=True)
    decisions = case.decisions.copy()
    decisions[::10, 1] = np.nan
    complete = ~np.isnan(decisions).any(axis=1)
    model = fit(case.signals, decisions, case.costs)
    other = fit(case.signals[complete], decisions[complete], case.costs[complete])
    np.testing.assert_allclose(
        model.predict(case.signals, costs=case.costs),
        other.predict(case.signals, costs=case.costs),
        atol=1e-6,
    )
    with pytest.raises(DataError, match="complete"):
        fit(case.signals[:3], np.where(np.eye(3) > 0, np.nan, decisions[1:4]), case.costs[:3])


def test_weights_of_zero_are_rows_that_are_not_there() -> None:
    case = random_polytope(4, n=3, n_samples=120, balance=False)
    weights = (np.arange(120) < 90).astype(float)
    wrong = case.decisions + 10.0 * (1.0 - weights)[:, None]
    model = fit(case.signals, wrong, case.costs, sample_weight=weights)
    other = fit(case.signals[:90], case.decisions[:90], case.costs[:90])
    np.testing.assert_allclose(model.theta_, other.theta_, atol=1e-8)


def test_same_seed_same_region() -> None:
    case = random_polytope(5, n=3, n_samples=120, balance=True)
    data = (
        case.signals,
        case.decisions + 0.02 * np.sin(np.arange(360.0)).reshape(120, 3),
        case.costs,
    )
    first, again = fit(*data, random_state=7), fit(*data, random_state=7)
    np.testing.assert_array_equal(first.theta_, again.theta_)


def test_time_limit() -> None:
    case = random_polytope(6, n=4, n_samples=300, balance=False)
    trainer = FacetLearning(n_starts=1000, max_seconds=0.2)
    model = fit(case.signals, case.decisions, case.costs, trainer=trainer)
    assert model.result_.status == "time limit"
    assert model.result_.seconds < 30.0
    assert model.result_.n_iter < 1000


@pytest.mark.parametrize("unit", [1e3, 1e-3])
def test_units_do_not_matter(unit: float) -> None:
    data = fl.datasets.make_power5(150, noise=0.02, line_capacity=2.5, random_state=0)
    demands, costs = data.signals[:, 3:], data.cost_matrix
    for decisions in (data.decisions, data.forward.solve(data.signals, costs)):
        model = fit(demands, decisions, costs)
        other = fit(1e6 * demands, unit * decisions, 10.0 * costs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(
                other.predict(1e6 * demands, costs=10.0 * costs) / unit,
                model.predict(demands, costs=costs),
                atol=1e-6,
            )


def test_bounds_and_equalities_that_are_given() -> None:
    data = fl.datasets.make_power5(100, random_state=1)
    hypothesis = fl.Facets(bounds=(0.0, 3.5), balance=[[2.0, 2.0, 2.0]])
    model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
    rows = learned_rows(model.fit(data.signals, data.decisions))
    np.testing.assert_allclose(np.abs(rows.E), 1 / np.sqrt(3.0), atol=1e-12)
    np.testing.assert_allclose(rows.upper[:, 0], 3.5)
    assert not rows.upper[:, 1:].any()
    assert not rows.lower.any()


@pytest.mark.parametrize("balance", ["auto", [[1.0, 1.0, 0.9]]])
def test_what_is_given_stays_under_noise(balance: object) -> None:
    """The last polish moves what was learned, and nothing else."""
    data = fl.datasets.make_power5(100, noise=0.1, random_state=0)
    lower, upper = np.array([-0.7, -0.6, -0.8]), np.array([3.7, 3.9, 4.3])
    hypothesis = fl.Facets(bounds=(lower, upper), balance=balance)  # type: ignore[arg-type]
    model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
    rows = learned_rows(model.fit(data.signals, data.decisions))
    np.testing.assert_array_equal(rows.lower[:, 0], lower)
    np.testing.assert_array_equal(rows.upper[:, 0], upper)
    if balance != "auto":
        E = np.array(balance)
        np.testing.assert_allclose(np.abs(rows.E), E / np.linalg.norm(E), atol=1e-9)


def test_bounds_that_were_seen_are_exact() -> None:
    data = fl.datasets.make_power5(100, random_state=1)
    rows = learned_rows(
        fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0).fit(
            data.signals, data.decisions
        )
    )
    np.testing.assert_array_equal(rows.lower[:, 0], data.decisions.min(axis=0))
    np.testing.assert_array_equal(rows.upper[:, 0], data.decisions.max(axis=0))


def test_affine_bounds() -> None:
    random = np.random.default_rng(2)
    signals, costs = random.uniform(-1, 1, size=(100, 1)), random.normal(size=(100, 2))
    decisions = np.where(costs < 0.0, 2.0 + signals * [1.0, -0.5], signals * [0.0, 0.25])
    model = fit(signals, decisions, costs, hypothesis=fl.Facets(bounds="affine", max_facets=0))
    rows = learned_rows(model)
    np.testing.assert_allclose(rows.upper, [[2.0, 1.0], [2.0, -0.5]], atol=1e-6)
    np.testing.assert_allclose(rows.lower, [[0.0, 0.0], [0.0, 0.25]], atol=1e-6)


def test_decisions_that_contradict_each_other_are_named() -> None:
    case = random_polytope(7, n=2, n_samples=60, balance=False)
    signals, decisions, costs = case.signals.copy(), case.decisions.copy(), case.costs
    assert not fit(signals, decisions, costs).result_.warnings
    signals[40] = signals[11]
    # The dearest decision instead of the cheapest.
    decisions[40] = case.rows.solve(case.features[[11]], -costs[[40]]).decisions[0]
    (told,) = fit(signals, decisions, costs).result_.warnings
    saved = costs[40] @ (decisions[40] - decisions[11])
    assert told.startswith("rows 40 and 11 have the same features")
    assert f"costs {saved:.4g} less" in told
    hidden = decisions.copy()
    hidden[3, 0] = np.nan
    assert fit(signals, hidden, costs).result_.warnings == [told]


def test_maximising_is_minimising_the_negative() -> None:
    case = random_polytope(8, n=2, n_samples=60, balance=False)
    options = {"cost": np.ones(2), "features": "all", "random_state": 0}
    model = fl.RegionRegressor(fl.Facets(), sense="max", **options)
    model.fit(case.signals, case.decisions, costs=-case.costs)
    np.testing.assert_array_equal(
        model.theta_, fit(case.signals, case.decisions, case.costs).theta_
    )


def test_only_facets_are_served() -> None:
    data = fl.datasets.make_switch(20, random_state=0)
    model = fl.RegionRegressor(fl.Scaled(fl.Box(2)), cost=data.cost, trainer=FacetLearning())
    with pytest.raises(UnsupportedError, match="has no facets; Facets has"):
        model.fit(data.signals, data.decisions)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_starts": 0}, "n_starts=0"),
        ({"n_starts": 1.5}, "n_starts=1.5"),
        ({"held_out": 0.0}, "held_out=0.0"),
        ({"held_out": 1.0}, "held_out=1.0"),
        ({"support": 0}, "support=0"),
        ({"tries": 0}, "tries=0"),
        ({"noise": -1.0}, "noise=-1.0"),
        ({"noise": "some"}, "noise='some'"),
        ({"max_seconds": 0.0}, "max_seconds=0.0"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    data = fl.datasets.make_switch(20, random_state=0)
    trainer = FacetLearning(**parameters)  # type: ignore[arg-type]
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, trainer=trainer)
    with pytest.raises(DataError, match=message):
        model.fit(data.signals, data.decisions)


def test_units_round_trip() -> None:
    random = np.random.default_rng(0)
    case = random_polytope(3, n=3, n_samples=30, balance=True)
    scale = np.array([1e3, 1.0, 1e-3])
    features = case.features * np.array([1.0, *np.full(case.features.shape[1] - 1, 1e6)])
    shard = Shard(features, case.costs / scale, case.decisions * scale, random.random(30) + 0.1)
    units = Units.of(shard)
    samples = units.apply(shard)
    assert samples.weights.sum() == pytest.approx(1.0)
    own = FacetRows(*(random.normal(size=part.shape) for part in case.rows))
    back = units.revert(own)
    x, phi, own_phi = shard.decisions[5], features[5], samples.features[5]
    own_x = samples.decisions[5]
    lengths = np.linalg.norm(own.a / units.scale[units.decisions], axis=1)
    slack, own_slack = back.f @ phi - back.a @ x, own.f @ own_phi - own.a @ own_x
    np.testing.assert_allclose(slack * lengths, own_slack, atol=1e-8)
    above, own_above = x - back.lower @ phi, own_x - own.lower @ own_phi
    own_above = (own_above * units.scale[units.decisions])[np.argsort(units.decisions)]
    np.testing.assert_allclose(above / units.scale, own_above / units.scale, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_a_balance_is_found_under_much_noise(seed: int) -> None:
    """Without the balance, every decision would be at its least."""
    data = fl.datasets.make_power5(300, noise=0.2, random_state=seed)
    truth = fl.datasets.make_power5(300, random_state=seed)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=seed)
    model.fit(data.signals[:100], data.decisions[:100])
    policy = fl.baselines.LinearPolicy().fit(data.signals[:100], data.decisions[:100])
    ours, linear = (
        np.mean((each.predict(data.signals[100:]) - truth.decisions[100:]) ** 2)
        for each in (model, policy)
    )
    assert ours < linear


@pytest.mark.parametrize("share", [0.3, 0.02])
def test_the_facet_of_very_many_rows_is_that_of_the_whole_program(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    x, slack = rng.normal(size=(9_000, 3)), rng.exponential(size=9_000)
    chosen = rng.uniform(size=9_000) < share
    slack[chosen] = 0.1 * rng.normal(size=chosen.sum())  # noise
    points = np.hstack([x, (slack - x @ [1.0, 2.0, -1.0])[:, None]])
    weights = rng.uniform(size=9_000)
    given = points, weights / weights.sum(), np.array([1.0, 1.0, 1.0, 0.0]), chosen, 5.0
    found = fit_facet(*given)
    monkeypatch.setattr(facet_program, "FEW", 10_000)
    expected = fit_facet(*given)
    assert found is not None
    assert expected is not None
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_the_facet_of_many_parameters_that_few_rows_ask_for_is_found(seed: int) -> None:
    # All rows meet at the facet of zeros, where a simplex method may turn for ever.
    rng = np.random.default_rng(seed)
    count, size, few = 3_500, 26, 4
    points = np.hstack([rng.normal(size=(count, size - 1)), np.ones((count, 1))])
    weights, chosen = np.full(count, 1.0 / count), np.arange(count) < few
    cut = np.append(rng.normal(size=size // 2), np.zeros(size - size // 2))
    facet = fit_facet(points, weights, cut, chosen, 5.0)
    assert facet is not None
    mean, upper = points[:few].mean(axis=0), 5.0 / few
    expected = linprog(
        np.append(np.zeros(count), -1.0),
        A_eq=np.column_stack([points.T, cut]),
        b_eq=mean,
        bounds=[(0.0, upper)] * count + [(0.0, 2.0)],
    )
    missed = np.maximum(-points @ facet, 0.0)
    assert cut @ facet == pytest.approx(1.0, abs=1e-9)
    assert mean @ facet + upper * missed.sum() == pytest.approx(-expected.fun, abs=1e-9)
