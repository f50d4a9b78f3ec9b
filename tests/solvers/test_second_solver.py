"""Where a solver fails another one answers, and that is said."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.results import remarks_heard
from feaslearn.solvers import conic, highs
from feaslearn.solvers.highs import CheckedProgram, Optimum


def test_a_conic_program_is_solved_without_presolve(monkeypatch: Any, caplog: Any) -> None:
    stalled = SimpleNamespace(
        status="InsufficientProgress", obj_val=0.0, obj_val_dual=1.0, r_prim=1.0, r_dual=1.0
    )
    form = fl.Polytope([[1.0, 0], [0, 1], [-1, -1]], [0.0, 0, -2]).conic_form()
    right = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    monkeypatch.setattr(conic, "interior_point", lambda *_: stalled)
    with caplog.at_level(logging.WARNING, "feaslearn"):
        found = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    np.testing.assert_allclose(found.point, right.point, atol=1e-9)
    np.testing.assert_allclose(found.dual, right.dual, atol=1e-9)
    assert "solved by HiGHS" in caplog.text
    with pytest.raises(SolverError, match="InsufficientProgress"):
        conic.minimize_linear(fl.L2Ball(2).conic_form(), np.array([-3.0, 1.0]))


#: Of the two cheapest of three plants, one makes at most 2 and all of them 3.
DISPATCH = CheckedProgram(
    np.array([1.0, 2.0, 9.0]),
    np.zeros(3),
    np.array([np.inf, 2.0, 2.0]),
    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    np.array([2.0, 3.0]),
    np.ones((1, 3)),
    np.array([3.0]),
)
RIGHT = Optimum(np.array([2.0, 1.0, 0.0]), 4.0, np.array([-1.0, 0.0, 2.0]))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (RIGHT._replace(point=np.array([3.0, 0.0, 0.0])), "rows violated by 1.0e+00"),
        (RIGHT._replace(point=np.array([4.0, 1.0, -2.0])), "rows violated by 2.0e+00"),
        (RIGHT._replace(point=np.array([1.0, 2.0, 0.0])), "a gap of 1.0e+00"),
        (RIGHT._replace(duals=np.array([1.0, 0.0, 2.0])), "duals that prove nothing"),
        (RIGHT._replace(point=np.full(3, np.nan)), "numbers that are not finite"),
        (RIGHT._replace(duals=np.array([np.inf, 0.0, 2.0])), "numbers that are not finite"),
        ("numerical trouble", "numerical trouble"),
    ],
)
def test_an_optimum_without_a_proof_is_asked_for_again(
    monkeypatch: Any, wrong: Optimum | str, why: str
) -> None:
    with remarks_heard() as said:
        found = DISPATCH.solve("dispatch")
    assert said == []
    np.testing.assert_allclose(found.point, RIGHT.point, atol=1e-9)
    assert not DISPATCH.flaw(RIGHT)
    answer = ("Optimal", wrong) if isinstance(wrong, Optimum) else (wrong, None)
    attempt = CheckedProgram._attempt
    second_right = lambda self, how: attempt(self, how) if how is highs.WARM else answer  # noqa: E731
    monkeypatch.setattr(CheckedProgram, "_attempt", second_right)
    with remarks_heard() as said:
        again = DISPATCH.solve("dispatch")
    assert said == [f"the dispatch program was solved without presolve, after {why}"]
    np.testing.assert_allclose(again.point, RIGHT.point, atol=1e-9)
    np.testing.assert_allclose(again.duals, RIGHT.duals, atol=1e-9)
    assert again.value == pytest.approx(4.0)
    monkeypatch.setattr(CheckedProgram, "_attempt", lambda *_: answer)
    with pytest.raises(
        SolverError, match=f"{why}; then, without presolve, {why}".replace("+", ".")
    ):
        DISPATCH.solve("dispatch")


def test_two_solvers_say_that_there_is_no_optimum() -> None:
    told = r"dispatch program was not solved \(Infeasible; then, without presolve, Infeasible\)"
    with pytest.raises(InfeasibleProblemError, match=told):
        DISPATCH._replace(e=np.array([9.0])).solve("dispatch")
    with pytest.raises(UnboundedProblemError, match="dispatch"):
        DISPATCH._replace(cost=-DISPATCH.cost, A=None, b=None, E=None, e=None).solve("dispatch")
