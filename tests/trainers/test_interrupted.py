"""Ctrl-C: every trainer returns the best it has, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.network.flow import FlowSearch
from feaslearn.solvers.mip import MixedIntegerProgram
from feaslearn.trainers import convex, gradient_descent, known_refit, selection
from feaslearn.trainers.global_search import BilinearProgram
from feaslearn.trainers.minkowski_fit import programs
from feaslearn.trainers.minkowski_fit.penalized import Penalized
from feaslearn.trainers.mixed_integer.listed_search import BranchAndBound

SWITCH = fl.datasets.make_switch(40, noise=0.1, random_state=0)
BALL = fl.datasets.make_l1_ball(30, n=2, noise=0.1, random_state=0)


def pressed(after: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function during whose next call but so many Ctrl-C is pressed."""
    calls = 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return called


def fitted(data: Any, hypothesis: Any, trainer: Any = "auto", **options: Any) -> Any:
    model = fl.RegionRegressor(
        hypothesis, cost=data.cost, trainer=trainer, random_state=0, **options
    )
    model.fit(data.signals, data.decisions)
    assert np.isfinite(model.predict(data.signals)).all()
    return model


def test_members_trained_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    hypothesis = fl.Blend([fl.Affine(fl.Simplex(1)), fl.Scaled(fl.Simplex(2))])
    monkeypatch.setattr(convex.Convex, "search", pressed(1, convex.Convex.search))
    cut = fitted(SWITCH, hypothesis, fl.trainers.Blending(n_folds=0))
    assert cut.result_.status == "interrupted"
    assert cut.parameters_["weights"].tolist() == [1.0, 0.0]


def test_the_best_hypothesis_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "train_once", pressed(3, selection.train_once))
    cut = fitted(SWITCH, None)
    assert cut.result_.status == "interrupted"
    assert any("selection of a hypothesis" in text for text in cut.result_.warnings)


def test_nothing_to_return_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "train_once", pressed(0, selection.train_once))
    with pytest.raises(KeyboardInterrupt):
        fitted(SWITCH, None)


def test_strengths_chosen_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Penalized, "choose", pressed(0, Penalized.choose))
    cut = fitted(BALL, fl.Minkowski("auto"))
    assert cut.result_.status == "interrupted"


def test_a_program_that_was_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "fit_by_program", pressed(0, programs.fit_by_program))
    cut = fitted(SWITCH, fl.Scaled(fl.Simplex(2)), loss="suboptimality")
    assert cut.result_.status == "interrupted"


def test_known_constraints_that_were_not_refitted_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_refit, "quasi_newton", pressed(0, known_refit.quasi_newton))
    known = fl.Known(bounds=(0.0, 0.9), contradictions="keep")
    cut = fitted(BALL, fl.Scaled(fl.Simplex(2)), known=known)
    assert cut.result_.status == "interrupted"


def test_the_best_map_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = MixedIntegerProgram.solve

    def ended(*arguments: Any, **options: Any) -> Any:
        return solve(*arguments, **options)._replace(outcome="interrupted")

    monkeypatch.setattr(MixedIntegerProgram, "solve", ended)
    cut = fitted(BALL, fl.Ternary(fl.Box(2)), fl.trainers.MixedInteger(None, n_starts=0))
    assert cut.result_.status == "interrupted"


def test_the_best_node_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BranchAndBound, "_solve", pressed(1, BranchAndBound._solve))
    trainer = fl.trainers.MixedInteger(None, tol=1e-9, n_starts=1)
    cut = fitted(SWITCH, fl.Affine(fl.Simplex(2, binary=True)), trainer)
    assert cut.result_.status == "interrupted"


@pytest.mark.parametrize(
    ("owner", "name"), [(BilinearProgram, "solve"), (gradient_descent, "nearest_in_class")]
)
def test_the_best_map_of_a_global_search(
    owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(owner, name, pressed(0, getattr(owner, name)))
    cut = fitted(SWITCH, fl.Affine(fl.Simplex(2)), fl.trainers.Global(max_seconds=30.0, n_starts=1))
    assert cut.result_.status == "interrupted"


def test_the_best_network_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = FlowSearch._solve

    def ended(self: FlowSearch, *arguments: Any) -> Any:
        return solve(self, *arguments)._replace(outcome="interrupted")

    monkeypatch.setattr(FlowSearch, "_solve", ended)
    data = fl.datasets.make_power5(20, noise=0.3, random_state=0)
    plants = {"generator_capacity": 3.5, "line_capacity": 3.5}
    learner = fl.NetworkLearner(
        5, [1, 3, 5], **plants, cost=[0, 1, 2], demand=range(3, 8), solver="milp", max_seconds=60.0
    )
    learner.fit(data.signals, data.decisions)
    assert learner.result_.status == "interrupted"
    assert np.isfinite(learner.predict(data.signals)).all()
