"""Training of Minkowski sums: fast path, program and independent solutions agree."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.trainers import Convex, Trained
from feaslearn.trainers.minkowski_fit.block_moments import moments_by_decision
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows, Split, leave_one_out
from feaslearn.trainers.objective import Objective
from registry import SCALED_SETS, fit_rows, fit_to, scaled_least_squares

MODELS = {
    "hypersimplices": fl.Minkowski.hypersimplices(3),
    "index": fl.Minkowski.hypersimplices(3, scale="index", n_knots=3),
    "constant-no-offset": fl.Minkowski.simplices(3, [2, 3], scale="constant", offset=False),
    "segments": fl.Minkowski.segments([[1.0, -1.0, 0.0], [0.5, 0.5, 1.0]]),
    "ball": fl.Minkowski([fl.Term(fl.L2Ball(3)), fl.Term(fl.Box(3), weights=[1.0, 2.0, 0.5])]),
    "scaled-l1": fl.Minkowski([fl.Term(fl.L1Ball(3))], scale="constant"),
    "scaled-l2": fl.Minkowski([fl.Term(fl.L2Ball(3))], scale="constant"),
    "point": fl.Affine(fl.Simplex(1)),
}


def samples(
    seed: int, n_rows: int = 30, ties: bool = False, gaps: bool = False, noise: float = 0.4
) -> Block:
    """Return decisions of a hypersimplex with a moving scale, noisy."""
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n_rows), random.normal(size=(n_rows, 2))])
    costs = random.normal(size=(n_rows, 3))
    if ties:
        costs[::3] = random.integers(0, 2, size=costs[::3].shape)
    scale = np.maximum(1.5 + features[:, 1], 0.0)[:, None]
    decisions = scale * fl.Hypersimplex(3, 2).argmin(costs) + features @ random.normal(size=(3, 3))
    decisions += noise * random.normal(size=decisions.shape)
    if gaps:
        decisions[random.uniform(size=decisions.shape) < 0.2] = np.nan
    weights = random.uniform(0.5, 1.5, size=n_rows)
    return Block(features, costs, decisions, weights / weights.sum())


def problem(whole: Block, model: object) -> Objective:
    return Objective(model, Samples.of(whole, 11))


def train(objective: Objective, **parameters: object) -> Trained:
    return Convex(**parameters).train(objective, np.random.default_rng(0))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("ties", [False, True])
def test_the_optimum_is_the_loss_of_the_returned_decisions(name: str, ties: bool) -> None:
    """Also where minimisers tie: the loss, evaluated row by row, is what the moments say it is."""
    for gaps in (False, True):
        objective = problem(samples(1, n_rows=20, ties=ties, gaps=gaps), MODELS[name])
        theta, result = train(objective, ridge=0.0, sparsity=0.0)
        value = objective.value(theta)
        assert result.objective == pytest.approx(value, rel=1e-6, abs=1e-9)
        assert result.lower_bound == pytest.approx(value, rel=1e-6, abs=1e-7)
        assert result.status == "optimal"
        told = any(f"{result.ties_met} samples tie" in text for text in result.warnings)
        assert told == (result.ties_met > 0)
        if name == "hypersimplices":
            assert told == (result.tied_share > 0.0) == ties
        assert result.details["KKT residual"] <= 1e-9
        random = np.random.default_rng(2)
        for _ in range(5):
            model = objective.hypothesis
            moved = theta + 1e-3 * random.normal(size=theta.shape)
            blocks, kept = (model.layout(3, 3).unpack(each) for each in (moved, theta))
            if "knots" in blocks:
                blocks["knots"][:] = kept["knots"]
            if not isinstance(model, fl.Minkowski):
                assert objective.value(moved) >= value - 1e-12
                continue
            held = model.unclipped_scales(moved, objective.load().features, 3)
            if model.basis(3).nonnegative:
                held = blocks["alpha"]
            assert objective.value(moved) >= value - 1e-9 or held.min(initial=0.0) < 0.0


def test_against_a_program_written_out() -> None:
    """Hypersimplices with affine scales, as plain CVXPY, nothing of the library but argmin."""
    whole = samples(5, n_rows=50, noise=1.5)
    a, b = cp.Variable((2, 3)), cp.Variable((3, 3))
    scales = whole.features @ a.T
    points = [fl.Hypersimplex(3, m).argmin(whole.costs) for m in (1, 2)]
    guess = whole.features @ b
    for t, y in enumerate(points):
        guess = guess + cp.multiply(
            cp.reshape(scales[:, t], (50, 1), order="C") @ np.ones((1, 3)), y
        )
    errors = cp.multiply(np.sqrt(whole.weights)[:, None], whole.decisions - guess)
    program = cp.Problem(cp.Minimize(cp.sum_squares(errors)), [scales >= 0])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    _, result = train(problem(whole, fl.Minkowski.hypersimplices(3)), ridge=0.0, sparsity=0.0)
    assert result.objective == pytest.approx(program.value, rel=1e-6)
    # The rows matter here: without them the optimum is lower.
    free = cp.Problem(cp.Minimize(cp.sum_squares(errors)))
    free.solve(solver=cp.CLARABEL)
    assert free.value < program.value * (1 - 1e-4)


@pytest.mark.parametrize("name", SCALED_SETS)
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["open", "clipped"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_equals_bounded_least_squares(name: str, sign: float, gaps: bool) -> None:
    for seed in range(2):
        whole = samples(seed, gaps=gaps)
        whole = whole._replace(costs=sign * whole.costs)
        model = fl.Minkowski([fl.Term(SCALED_SETS[name])], scale="constant")
        theta, result = train(problem(whole, model), ridge=0.0, sparsity=0.0)
        expected = scaled_least_squares(whole, SCALED_SETS[name])
        np.testing.assert_allclose(theta, expected.x, atol=1e-6)
        assert result.objective == pytest.approx(2.0 * expected.cost, rel=1e-7)
        assert (theta[0] == 0.0) == (sign < 0)
        assert result.status == "optimal"
        assert result.gap == 0.0


def test_what_is_not_convex_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        train(problem(samples(0), fl.Affine(fl.Simplex(3))))
    text = str(caught.value)
    assert text.startswith("Convex cannot train this: ")
    assert "Affine(primitive=Simplex(p=3)) is not convex in its parameters" in text


def test_recovers_the_truth_without_noise() -> None:
    truth = fl.Minkowski([*fl.Minkowski.hypersimplices(3).terms, *fl.Minkowski.box(3).terms])
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(200), random.uniform(size=(200, 2))])
    costs = random.normal(size=(200, 3))
    blocks = {"alpha": random.uniform(size=(5, 3)), "b": random.normal(size=(3, 3))}
    theta = truth.layout(3, 3).pack(blocks)
    decisions = truth.predict(theta, features, costs)
    whole = Block(features, costs, decisions, np.full(200, 1 / 200))
    found, result = train(problem(whole, truth))
    np.testing.assert_allclose(found, theta, atol=1e-6)
    assert result.objective < 1e-15
    assert result.details["ridge"] == 0.0


def test_cross_validation_holds_back_a_dictionary_that_is_too_rich() -> None:
    model = fl.Minkowski.simplices(6, [2, 3, 4])
    random = np.random.default_rng(0)
    costs = random.normal(size=(500, 6))
    truth = 2.0 * fl.Hypersimplex(6, 2).argmin(costs)
    decisions = truth + 0.5 * random.normal(size=truth.shape)
    features, weights = np.ones((500, 1)), np.full(40, 1 / 40)
    whole = Block(features[:40], costs[:40], decisions[:40], weights)
    errors = {}
    for name, strengths in {"chosen": {}, "none": {"ridge": 0.0, "sparsity": 0.0}}.items():
        theta = train(problem(whole, model), **strengths).theta
        guess = model.predict(theta, features[40:], costs[40:])
        errors[name] = float(((guess - truth[40:]) ** 2).sum(axis=1).mean())
    assert errors["chosen"] < 0.9 * errors["none"]


def test_sparsity_leaves_fewer_terms() -> None:
    objective = problem(samples(3, n_rows=100), fl.Minkowski("auto"))
    counts = [
        train(objective, ridge=1e-4, sparsity=s).result.details["terms with a scale"]
        for s in (0.0, 0.03, 10.0)
    ]
    assert counts[0] > counts[1] > counts[2] == 0.0


def test_terms_that_come_twice_or_are_points_are_solved() -> None:
    pair = fl.Term(fl.Simplex(2), [0, 1])
    point = fl.Term(fl.Hypersimplex(3, 3))
    model = fl.Minkowski([pair, fl.Term(fl.Simplex(3)), pair, point])
    objective = problem(samples(0), model)
    theta, result = train(objective, ridge=0.0, sparsity=0.0)
    slim = fl.Minkowski([pair, fl.Term(fl.Simplex(3))])
    expected = train(problem(samples(0), slim), ridge=0.0, sparsity=0.0).result
    assert result.objective == pytest.approx(expected.objective, rel=1e-6)
    alpha = model.layout(3, 3).unpack(theta)["alpha"]
    np.testing.assert_allclose(alpha[0], alpha[2], atol=1e-6)


def test_fewer_samples_than_parameters() -> None:
    whole = samples(0, n_rows=4)
    theta, result = train(problem(whole, fl.Minkowski("auto")))
    assert np.isfinite(theta).all()
    assert "cannot determine them" in result.warnings[-1]
    one = Block(*(array[:1] for array in whole))._replace(weights=np.ones(1))
    theta, result = train(problem(one, fl.Minkowski("auto")))
    assert result.objective < 1e-9


def test_large_data_go_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = problem(samples(0, n_rows=60, gaps=True), fl.Minkowski("auto"))
    theta = train(objective, ridge=1e-3, sparsity=0.0).theta
    monkeypatch.setattr("feaslearn.trainers.minkowski_fit.block_moments.AT_ONCE", 300)
    monkeypatch.setattr("feaslearn.trainers.minkowski_fit.passes.MOST_DRAWN", 3)
    np.testing.assert_allclose(train(objective, ridge=1e-3, sparsity=0.0).theta, theta, atol=1e-9)


def plant(count: int, kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return signals (three costs, two features) and decisions of a sum with scales of a kind."""
    rng = np.random.default_rng(seed)
    costs, features = rng.uniform(0.2, 1.0, (count, 3)), rng.uniform(size=(count, 2))
    total = features @ [1.0, 2.0]
    high = np.maximum(total - np.median(total), 0.0)
    one, two = {
        "constant": (np.full(count, 2.0), np.full(count, 0.5)),
        "affine": (features[:, 0], 2.0 * features[:, 1]),
        "index": (1.0 + 2.0 * high, 3.0 - high),
    }[kind]
    decisions = one[:, None] * fl.Hypersimplex(3, 1).argmin(costs)
    decisions += two[:, None] * fl.Hypersimplex(3, 2).argmin(costs)
    # With these scales decisions add up to the total but for a constant.
    decisions[:, 0] += total if kind == "index" else 0.0
    return np.hstack([costs, features]), decisions


@pytest.mark.parametrize("kind", ["constant", "affine", "index"])
def test_auto_takes_the_scales_that_explain_the_data(kind: str) -> None:
    signals, decisions = plant(160, kind)
    model = fit_rows(signals, decisions, fl.Minkowski("auto"))
    assert model.hypothesis_.scale == kind
    assert fl.Minkowski("auto").get_params()["scale"] == model.hypothesis.scale == "auto"
    new = plant(50, kind, seed=1)
    assert model.score(*new) > 0.99


def days(count: int, wrong: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return prices and schedules of a machine and one that runs in hours 2 to 7; wrong first."""
    rng = np.random.default_rng(0)
    prices = rng.uniform(size=(count, 14))
    schedules = 2.0 * fl.Hypersimplex(14, 5).argmin(prices)
    schedules[:, 2:8] += 3.0 * fl.Hypersimplex(6, 2).argmin(prices[:, 2:8])
    schedules[:wrong] = rng.permutation(schedules[:wrong], axis=1) * np.arange(wrong)[:, None]
    return prices, schedules


def test_auto_finds_windows_of_hours() -> None:
    prices, schedules = days(60)
    model = fit_rows(prices[:20], schedules[:20], fl.Minkowski("auto"))
    assert model.hypothesis_.terms == "windows"
    wanted = repr(fl.Term(fl.Hypersimplex(6, 2), list(range(2, 8))))
    assert wanted in {repr(term) for term in model.hypothesis_.terms_of(14)}
    np.testing.assert_allclose(model.predict(prices[20:]), schedules[20:], atol=0.01)
    assert "samples that count less than half" not in model.result_.details


def test_auto_finds_moving_averages_of_few_hours_and_limits_that_bend_on_both_sides() -> None:
    data = fl.datasets.make_flexible_plant(150, hours=8, random_state=0)
    train, test = data[:100], data[100:]
    pairs = fl.Minkowski("auto", scale="constant")
    scores = [
        fit_to(train, each, trainer=Convex(robust=False)).score(test.signals, test.decisions)
        for each in (fl.Minkowski(pairs.terms_of(8), scale="constant"), pairs)
    ]
    assert scores[1] > scores[0] + 0.2
    # A single decision between a limit that rises with |s| and one that falls with it.
    random = np.random.default_rng(0)
    signals = random.uniform(-1.0, 1.0, size=(200, 2))
    bends = np.abs(signals[:, 1])
    decisions = np.where(signals[:, 0] > 0.0, -bends, 2.0 * bends)[:, None]
    model = fit_rows(signals[:150], decisions[:150], fl.Minkowski("auto"))
    assert model.score(signals[150:], decisions[150:]) > 0.98


def test_anomalous_days_do_not_move_the_fit() -> None:
    prices, schedules = days(80, wrong=3)
    model = fit_rows(prices[:30], schedules[:30], fl.Minkowski("auto"))
    assert model.result_.details["samples that count less than half"] == 3.0
    assert any("count less" in text for text in model.result_.warnings)
    assert model.result_.status == "converged"
    assert model.score(prices[30:], schedules[30:]) > 0.999
    follows = clone(model).set_params(trainer=Convex(robust=False))
    assert follows.fit(prices[:30], schedules[:30]).score(prices[30:], schedules[30:]) < 0.98
    # A dictionary that is named is fitted as it is, by least squares.
    named = clone(model).set_params(hypothesis=fl.Minkowski.hypersimplices(14))
    named.fit(prices[:30], schedules[:30])
    assert "samples that count less than half" not in named.result_.details


# Moments against the design matrix written out.


def random_rows(random: np.random.Generator, same: bool, gaps: bool) -> Rows:
    phi = random.normal(size=(40, 3))
    psi = phi if same else random.uniform(size=(40, 4))
    points = random.normal(size=(40, 5, 2))
    decisions = random.normal(size=(40, 2))
    if gaps:
        decisions[random.uniform(size=decisions.shape) < 0.3] = np.nan
    return Rows(points, psi, phi, decisions, random.uniform(size=40))


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("gaps", [True, False])
def test_moments_decision_by_decision_are_the_moments(same: bool, gaps: bool, offset: bool) -> None:
    rows = random_rows(np.random.default_rng(2), same, gaps)
    rows.points[:, 0, 1], rows.points[:, 1:3, 0], rows.points[:, 4] = 0.0, 0.0, 0.0
    if not offset:
        rows = rows._replace(phi=rows.phi[:, :0])
    split = Split(rows.psi.shape[1], 3, knotted=not same, offset=offset)
    found, expected = moments_by_decision(rows, split), Moments.of(rows, split)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_leaving_one_out_is_a_refit_without_it(gaps: bool) -> None:
    """By leverages, and by the moments of all other samples."""
    random = np.random.default_rng(0)
    rows = random_rows(random, False, gaps)
    split, ridge = Split(4, 3, knotted=True, offset=True), random.uniform(0.0, 0.01, (5, 4))
    exact = rows.predict(random.uniform(1.0, 2.0, (5, 4)), random.normal(size=(3, 2)))
    # Noise is so small that all coefficients are positive: others do not count.
    rows = rows._replace(decisions=exact + 0.01 * rows.decisions)

    def fit(part: Rows) -> tuple[np.ndarray, np.ndarray]:
        reduced = Moments.of(part, split).reduced()
        a = np.linalg.solve(reduced.H + np.diag(ridge.ravel()), reduced.r).reshape(5, 4)
        return a, reduced.best_offset(a)

    a, b = fit(rows)
    assert a.min() > 0.0
    found = leave_one_out(rows, a, b, ridge)
    for i in range(0, 40, 7):
        others = np.arange(40) != i
        without = fit(Rows(*(each[others] for each in rows)))
        alone = Rows(*(each[i : i + 1] for each in rows))
        np.testing.assert_allclose(found[i], alone.errors(*without)[0], atol=1e-9)
    # A sample that alone moves a coefficient says nothing about it.
    lonely = rows._replace(points=rows.points * (np.arange(40) == 3)[:, None, None])
    assert np.isinf(leave_one_out(lonely, a, b, 0.0 * ridge)[3]).all()
