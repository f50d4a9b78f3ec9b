"""What every trainer reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, SolverError
from feaslearn.trainers import Annealing
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.ties import tied_share

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


@pytest.mark.parametrize(
    "hypothesis", [fl.Affine(fl.Simplex(3)), fl.Affine(fl.Box(2)), fl.Minkowski.box(2)], ids=repr
)
def test_a_value_counts_rows_by_their_weights(hypothesis: Any) -> None:
    """It agrees with rows that are written as often as their weight says, in blocks of any size."""
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(6), random.normal(size=6)])
    costs, decisions = random.normal(size=(2, 6, 2))
    times = np.array([1, 4, 2, 1, 3, 1])
    weighted = Block(features, costs, decisions, times / times.sum())
    again = [np.repeat(part, times, axis=0) for part in (features, costs, decisions)]
    written = Block(*again, np.full(times.sum(), 1.0 / times.sum()))
    theta = random.normal(size=hypothesis.layout(2, 2).size)
    expected = Objective(hypothesis, Samples.of(written, 4)).value(theta)
    for size in (2, 4, 100):
        found = Objective(hypothesis, Samples.of(weighted, size), n_jobs=2).value(theta)
        assert found == pytest.approx(expected, rel=1e-12)


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
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=Annealing(max_iter=1)
    )
    with pytest.raises(SolverError, match="the first is number 1 of"):
        model.fit(data.signals, data.decisions)
