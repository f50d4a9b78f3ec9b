"""What every trainer reports, refuses, and leaves as it was."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, SolverError
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers import Annealing, Convex, FacetLearning
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.ties import tied_share
from registry import fit_to

COSTS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


def objective(hypothesis: object = None) -> Objective:
    decisions = np.array([[1.0, 0.5], [0.0, 1.0], [0.5, 0.5], [np.nan, 1.0]])
    whole = Block(np.ones((4, 1)), COSTS, decisions, np.array([0.1, 0.2, 0.3, 0.4]))
    hypothesis = hypothesis or fl.Affine(fl.Simplex(2))
    return Objective(hypothesis, Samples.of(whole, 3))


def test_ties_are_counted_by_weight() -> None:
    assert tied_share(objective(), np.eye(2).ravel()) == pytest.approx(0.7)


def test_columns_that_coincide_do_not_tie() -> None:
    assert tied_share(objective(), np.full(4, 0.5)) == 0.0
    point = objective(hypothesis=fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"))
    assert tied_share(point, np.array([0.0, 0.3, 0.4])) == 0.0
    assert tied_share(point, np.array([1e-30, 0.0, 0.0])) == pytest.approx(0.7)


def test_the_loss_takes_the_first_of_tied_minimisers() -> None:
    # Misses by row: (0, -0.5), none, (0.5, -0.5), (unobserved, -1).
    found = objective().value(np.eye(2).ravel())
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
        kind(**WRONG[kind]).train(objective(), np.random.default_rng(0))
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
