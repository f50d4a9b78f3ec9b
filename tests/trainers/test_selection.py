"""The hypothesis that is selected, the trainer of a hypothesis, and what every trainer reports."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, SolverError
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers import Annealing, Convex, FacetLearning, selection
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.selection import Race, choose_trainer, linear_policy, select
from feaslearn.trainers.ties import tied_share
from registry import fit_rows, fit_to

POLICY, BALL = linear_policy(), fl.Affine(fl.L2Ball(2))


def objective(data: fl.Decisions) -> Objective:
    whole = Block(
        np.ones((len(data), 1)),
        np.array(data.cost_matrix),
        np.array(data.decisions),
        np.full(len(data), 1 / len(data)),
    )
    return Objective(POLICY, Samples.of(whole, 20))


def chosen(data: fl.Decisions, trainer: object = "auto") -> str:
    return repr(select(objective(data), np.random.default_rng(0), trainer).hypothesis)


def box_data() -> fl.Decisions:
    costs = np.random.default_rng(0).normal(size=(50, 2))
    return fl.Decisions.from_arrays(costs, 2.0 - 3.0 * np.sign(costs), [0, 1])


def policy_data() -> fl.Decisions:
    random = np.random.default_rng(0)
    return fl.Decisions.from_arrays(
        random.normal(size=(50, 2)), random.normal(size=(50, 2)), [0, 1]
    )


def disc_data(count: int = 60) -> fl.Decisions:
    costs = np.random.default_rng(0).normal(size=(count, 2))
    axes = np.array([[2.0, 0.0], [1.0, 1.0]])
    turned = costs @ axes
    points = -turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return fl.Decisions.from_arrays(costs, points @ axes.T, [0, 1])


DATA: dict[str, Any] = {
    "power5": lambda seed: fl.datasets.make_power5(80, random_state=seed),
    "noisy power5": lambda seed: fl.datasets.make_power5(40, 0.1, random_state=seed),
    "plant": lambda seed: fl.datasets.make_flexible_plant(60, random_state=seed, hours=6),
    "ball": lambda seed: fl.datasets.make_l1_ball(60, n=3, noise=0.05, random_state=seed),
}


@cache
def selected(name: str) -> fl.RegionRegressor:
    """Return a model whose hypothesis was selected; tests share it."""
    return fit_to(DATA[name](0))


def race(members: list[Any], errors: list[Any]) -> Race:
    """Return candidates that have made given errors."""
    found = Race(objective(box_data()), np.random.default_rng(0), "auto", members)
    for each, value in zip(found.alive, errors, strict=True):
        each.errors[:] = value
    return found


def test_the_class_that_predicts_best_is_selected() -> None:
    assert chosen(fl.datasets.make_switch(50, random_state=0)) == "Facets()"
    assert chosen(box_data()) == "Facets()"
    assert chosen(policy_data()[:40]) == repr(POLICY)
    assert chosen(disc_data()) == repr(BALL)


FACETS, SUM = fl.Facets(), fl.Minkowski("auto", scale="affine")
#: Noise of mean zero, in its standard errors.
NOISE = np.random.default_rng(1).normal(size=50)
NOISE -= NOISE.mean()
NOISE *= 50 / np.linalg.norm(NOISE)


@pytest.mark.parametrize(
    ("members", "errors", "explained", "expected"),
    [
        # Within the margin the first is selected, and beyond it the best.
        ([FACETS, SUM, POLICY], [1.009, 1.0, 2.0], False, FACETS),
        ([FACETS, SUM, POLICY], [1.02, 1.0, 2.0], False, SUM),
        # Within a standard error the first is selected.
        ([FACETS, SUM, POLICY], [1.9 + NOISE, 1.0, 2.0], False, FACETS),
        ([FACETS, SUM, POLICY], [2.1 + NOISE, 1.0, 2.0], False, SUM),
        # What explains all rows must lose by two standard errors.
        ([FACETS, SUM, POLICY], [2.9 + NOISE, 1.0, 2.0], True, FACETS),
        ([FACETS, SUM, POLICY], [3.1 + NOISE, 1.0, 2.0], True, SUM),
        # The policy is selected only where no region is better: within the margin, but clearly so.
        ([FACETS, POLICY], [1.0, 1.005 + NOISE], False, POLICY),
        ([FACETS, POLICY], [1.0, 1.05 + NOISE], False, FACETS),
        ([FACETS, POLICY], [1.0, 1.005 + 1e-3 * NOISE], False, FACETS),
    ],
)
def test_a_race_is_won(
    members: list[Any], errors: list[Any], explained: bool, expected: Any
) -> None:
    found = race(members, errors)
    found.explained = explained
    assert repr(found._chosen().hypothesis) == repr(expected)


def test_rows_that_are_explained_exactly_leave_no_policy() -> None:
    found = race([FACETS, POLICY], [1.0, 0.5])
    found.explained = True
    found._drop()
    assert [repr(each.hypothesis) for each in found.alive] == ["Facets()"]


def test_all_candidates_share_the_folds_and_a_seed_gives_the_same_selection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    once, data = selected("noisy power5"), DATA["noisy power5"](0)
    assert {"held-out R² of Facets()", f"held-out R² of {POLICY!r}"} <= once.result_.details.keys()
    rows: dict[str, list[bytes]] = {}
    train = selection.train_once

    def seen(trainer: Any, part: Objective, *arguments: Any, **options: Any) -> Any:
        if part.n_samples < len(data):
            rows.setdefault(repr(part.hypothesis), []).append(part.load().decisions.tobytes())
        return train(trainer, part, *arguments, **options)

    monkeypatch.setattr(selection, "train_once", seen)
    model = fit_to(data)
    np.testing.assert_array_equal(model.theta_, once.theta_)
    assert len(rows) >= 3
    longest = max(rows.values(), key=len)
    assert len(set(longest)) == len(longest) > 1
    for each in rows.values():
        assert each == longest[: len(each)]


def test_facets_that_are_selected_are_those_of_a_fit_of_facets() -> None:
    chosen, data = selected("power5"), DATA["power5"](0)
    assert isinstance(chosen.hypothesis_, fl.Facets)
    alone = fit_to(data, fl.Facets())
    np.testing.assert_array_equal(chosen.theta_, alone.theta_)


def test_decisions_that_do_not_minimise_the_cost_are_warned_of() -> None:
    random = np.random.default_rng(0)
    signals = random.uniform(size=(200, 4))
    decisions = np.sin(9.0 * signals[:, 2:3]) * np.array([1.0, -1.0])
    model = fit_rows(signals, decisions)
    assert any("a tree ensemble predicts better" in text for text in model.result_.warnings)
    assert model.result_.details["held-out R² of extra trees"] > 0.9
    warned = selected("power5").result_.warnings
    assert not any("predicts better" in text for text in warned)


def test_too_few_samples_leave_the_linear_policy() -> None:
    assert chosen(box_data()[:9]) == repr(POLICY)
    assert chosen(box_data()[:10]) == "Facets()"


def test_the_number_of_folds_follows_the_size() -> None:
    def folds(count: int, n: int = 2, hard: bool = False) -> tuple[int, int]:
        data = fl.datasets.make_l1_ball(count, n=n, low=-1.0, random_state=0)
        held_out = Race(objective(data), np.random.default_rng(0), "auto", [])
        signals = np.random.default_rng(1).normal(size=(count, 1))
        held_out.whole = held_out.whole._replace(features=signals)
        assert held_out.deal(hard)
        return held_out.n_folds, int(held_out.fold.max()) + 1

    assert folds(99) == (10, 10)
    assert folds(99, hard=True) == (2, 5)
    assert folds(100) == (5, 5)
    assert folds(20_000) == (1, 5)
    # Folds of two rows leave more rows than decisions and features.
    assert folds(50, n=45) == (6, 25)


def test_a_given_trainer_limits_the_selection() -> None:
    assert isinstance(fit_to(box_data(), trainer=Convex()).hypothesis_, fl.Minkowski)


@pytest.mark.parametrize("name", DATA)
def test_predictions_keep_what_facets_print(name: str) -> None:
    """Predictions are checked against the rows of the table, with all digits."""
    model, test = selected(name), DATA[name](1)
    assert hasattr(model, "facets_") == isinstance(model.hypothesis_, fl.Facets)
    if not hasattr(model, "facets_"):
        return
    features = model.features_.transform(test.signals)
    n, k = test.decisions.shape[1], features.shape[1]
    empty = model.hypothesis_.solve(model.theta_, features, np.array(test.cost_matrix)).empty
    decisions, features = model.predict(test.signals)[~empty], features[~empty]
    size = float(np.abs(decisions).max())
    for facet in model.facets_:
        assert (decisions @ facet.normal - features @ facet.limit).max() <= 1e-7 * size
    rows = model.hypothesis_.rows(model.theta_, n, k)
    assert (features @ rows.lower.T - decisions).max() <= 1e-7 * size
    assert (decisions - features @ rows.upper.T).max() <= 1e-7 * size
    balance = decisions @ rows.E.T - features @ rows.e.T
    assert np.abs(balance).max(initial=0.0) <= 1e-7 * size


def test_trainers_by_hypothesis() -> None:
    data = box_data()
    for hypothesis, expected in (
        (fl.Affine(fl.Simplex(1)), Convex),
        (fl.Affine(fl.Simplex(2)), Annealing),
        (fl.Minkowski.box(2), Convex),
        (fl.Facets(), FacetLearning),
    ):
        problem = Objective(hypothesis, objective(data).samples)
        assert isinstance(choose_trainer("auto", problem), expected)
    mine = Annealing(max_iter=3)
    assert choose_trainer(mine, problem) is mine


# What every trainer reports, refuses, and leaves as it was.

COSTS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


def small_objective(hypothesis: object = None) -> Objective:
    decisions = np.array([[1.0, 0.5], [0.0, 1.0], [0.5, 0.5], [np.nan, 1.0]])
    whole = Block(np.ones((4, 1)), COSTS, decisions, np.array([0.1, 0.2, 0.3, 0.4]))
    hypothesis = hypothesis or fl.Affine(fl.Simplex(2))
    return Objective(hypothesis, Samples.of(whole, 3))


def test_ties_are_counted_by_weight() -> None:
    assert tied_share(small_objective(), np.eye(2).ravel()) == pytest.approx(0.7)


def test_columns_that_coincide_do_not_tie() -> None:
    assert tied_share(small_objective(), np.full(4, 0.5)) == 0.0
    point = small_objective(hypothesis=fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"))
    assert tied_share(point, np.array([0.0, 0.3, 0.4])) == 0.0
    assert tied_share(point, np.array([1e-30, 0.0, 0.0])) == pytest.approx(0.7)


def test_the_loss_takes_the_first_of_tied_minimisers() -> None:
    # Misses by row: (0, -0.5), none, (0.5, -0.5), (unobserved, -1).
    found = small_objective().value(np.eye(2).ravel())
    assert found == pytest.approx(0.1 * 0.25 + 0.3 * 0.5 + 0.4)


CASES = {
    "convex": (fl.Minkowski.hypersimplices(2), Convex()),
    "penalised": (fl.Minkowski.hypersimplices(2), Convex(ridge=0.1, sparsity=0.01)),
    "robust": (fl.Minkowski.hypersimplices(2), Convex(robust=True)),
    "scaled": (fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), Convex()),
    "facets": (fl.Facets(max_facets=2), FacetLearning()),
    "annealing": (fl.Affine(fl.Simplex(2)), Annealing(n_starts=1)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_result_says_everything_and_nothing_that_is_not_so(name: str) -> None:
    hypothesis, trainer = CASES[name]
    data, before = fl.datasets.make_switch(40, noise=0.1, random_state=0), repr(trainer)
    model, again = (fit_to(data, hypothesis, trainer=trainer) for _ in range(2))
    np.testing.assert_array_equal(again.theta_, model.theta_)
    assert repr(trainer) == before
    result = model.result_
    losses = ((model.predict(data.signals) - data.decisions) ** 2).sum(axis=1)
    assert result.objective == pytest.approx(losses.mean(), abs=1e-9)
    assert result.objective <= data.decisions.var(axis=0).sum()
    assert result.status in get_args(Status)
    assert result.lower_bound is None or result.lower_bound <= result.objective + 1e-9
    assert result.ties_met is not None
    assert result.ties_met >= result.tied_share * len(data) - 1e-9
    if result.is_global:
        assert result.lower_bound is not None
        penalised = "with" in result.optimum
        assert penalised or result.gap <= 1e-4 * result.objective + 1e-9
    held = result.details.get("ridge", 0.0) > 0.0
    assert ("ridge" in result.optimum) == (held and result.is_global)
    assert held or name != "penalised"
    for label in ("status", "optimum", "lower bound", "ties met", "predictions that tie"):
        assert label in str(result)


#: Numbers next to what is allowed.
WRONG = {
    fl.trainers.Annealing: {
        "ridge": -1.0,
        "ridge_floor": 2.0,
        "warmest": 0.0,
        "n_starts": 0,
        "tol": -1.0,
        "max_iter": -1,
    },
    fl.trainers.Convex: {"ridge": -1.0, "sparsity": "much", "n_folds": 1},
    fl.trainers.FacetLearning: {"noise": -1.0},
}


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_all_wrong_parameters_are_named_together(kind: type[fl.trainers.Trainer]) -> None:
    with pytest.raises(DataError) as caught:
        kind(**WRONG[kind]).train(small_objective(), np.random.default_rng(0))
    for name, value in WRONG[kind].items():
        assert f"{name}={value!r}" in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, -1e200])
def test_parameters_that_diverged_are_refused(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Annealing.search

    def diverging(self: Annealing, *arguments: Any) -> Any:
        trained = search(self, *arguments)
        trained.theta[1] = value
        return trained

    monkeypatch.setattr(Annealing, "search", diverging)
    data = fl.datasets.make_switch(10, random_state=0)
    with pytest.raises(SolverError, match="the first is number 1 of"):
        fit_to(data, fl.Affine(fl.Simplex(2)), trainer=Annealing(max_iter=1))


# What a result says of its optimum.


def result(**changes: object) -> TrainingResult:
    parts = {
        "status": "converged",
        "trainer": "Mine(a=1)",
        "objective": 0.25,
        "n_iter": 12,
        "seconds": 1.23456,
        **changes,
    }
    return TrainingResult(**parts)


def test_gap_is_the_distance_to_the_bound() -> None:
    assert result().gap is None
    assert result(lower_bound=0.2).gap == pytest.approx(0.05)
    assert result(lower_bound=0.25).gap == 0.0


def test_what_kind_of_optimum_it_is_follows_from_the_status_and_the_penalties() -> None:
    assert result(status="optimal").optimum == "global"
    assert result(status="optimal").is_global
    held = result(status="optimal", details={"ridge": 0.1, "sparsity": 0.0, "terms": 3.0})
    assert held.optimum == "global, of the loss with ridge"
    assert result().optimum.startswith("local")
    assert not result().is_global
    assert result(status="time limit").optimum.startswith("none")
    assert result(status="time limit", lower_bound=0.1).optimum.startswith("not proved")
