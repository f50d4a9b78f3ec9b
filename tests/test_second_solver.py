"""Where a solver fails another one answers, and that is said."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import SolverError
from feaslearn.formulations import program
from feaslearn.hypotheses import small_programs
from feaslearn.hypotheses.small_programs import Limits, solve_programs
from feaslearn.kernels.small_lp import INFEASIBLE, OPTIMAL, UNSOLVED
from feaslearn.sets import conic_solver
from feaslearn.trainers.mixed_integer.linear_model import LinearModel


def test_a_training_program_is_solved_by_another_solver(monkeypatch: Any) -> None:
    attempt = program._attempt

    def fails(problem: Any, solver: str, options: Any, accepted: Any) -> str:
        return "no" if solver == "CLARABEL" else attempt(problem, solver, options, accepted)

    monkeypatch.setattr(program, "_attempt", fails)
    data = fl.datasets.make_l1_ball(12, n=2, noise=0.1, random_state=0)
    model = fl.RegionRegressor(
        fl.Scaled(fl.Box(2)), cost=data.cost, loss="suboptimality", random_state=0
    ).fit(data.signals, data.decisions)
    (told,) = [text for text in model.result_.warnings if "was solved by" in text]
    assert told == "the Minkowski program was solved by HIGHS, after CLARABEL: no"


def test_a_conic_program_is_solved_by_highs(monkeypatch: Any, caplog: Any) -> None:
    stalled = SimpleNamespace(
        status="InsufficientProgress", obj_val=0.0, obj_val_dual=1.0, r_prim=1.0, r_dual=1.0
    )
    form = fl.Polytope([[1.0, 0], [0, 1], [-1, -1]], [0.0, 0, -2]).conic_form()
    right = conic_solver.minimize_linear(form, np.array([-3.0, 1.0]))
    monkeypatch.setattr(conic_solver, "_clarabel", lambda *_: stalled)
    with caplog.at_level(logging.WARNING, "feaslearn"):
        found = conic_solver.minimize_linear(form, np.array([-3.0, 1.0]))
    np.testing.assert_allclose(found.point, right.point, atol=1e-9)
    np.testing.assert_allclose(found.dual, right.dual, atol=1e-9)
    assert "solved by HiGHS" in caplog.text
    with pytest.raises(SolverError, match="InsufficientProgress"):
        conic_solver.minimize_linear(fl.L2Ball(2).conic_form(), np.array([-3.0, 1.0]))


@pytest.mark.parametrize("status", [UNSOLVED, OPTIMAL])
def test_small_programs_without_a_proof_go_to_highs(monkeypatch: Any, status: int) -> None:
    solve_rows = small_programs.solve_rows

    def fails(*arguments: Any) -> None:
        solve_rows(*arguments)
        arguments[-2][0] = UNSOLVED

    limits = Limits(np.array([[1.0], [9.0]]), np.zeros((2, 2)), np.ones((2, 2)))
    program = (np.ones((1, 2)), limits, np.array([[1.0, 2], [1, 2]]), np.zeros(1))
    if status == UNSOLVED:
        monkeypatch.setattr(small_programs, "solve_rows", fails)
    found = solve_programs(*program)
    assert found.status.tolist() == [OPTIMAL, INFEASIBLE]
    np.testing.assert_allclose(found.decisions[0], [1.0, 0.0])


def test_a_wrong_answer_to_a_training_program_is_not_believed(monkeypatch: Any) -> None:
    model = LinearModel()
    (x,) = model.columns(1, lower=0.0, upper=3.0, integer=True)
    model.row([(x, 2.0)], lower=3.0)
    model.costs[int(x)] = 1.0
    right = model.solve({}, np.inf, 0.0)
    assert right.values.tolist() == [2.0]
    asked = []

    def lies(*_: Any, presolve: bool) -> Any:
        asked.append(presolve)
        return right._replace(values=np.array([1.5])) if presolve else right

    monkeypatch.setattr(model, "_attempt", lies)
    assert model.solve({}, np.inf, 0.0) is right
    assert asked == [True, False]
    monkeypatch.setattr(model, "_attempt", lambda *_, presolve: right._replace(values=[1.0]))
    with pytest.raises(SolverError, match="a row is broken"):
        model.solve({}, np.inf, 0.0)
