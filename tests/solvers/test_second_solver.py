"""Where a solver fails another one answers, and that is said."""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import InfeasibleProblemError, SolverError, UnboundedProblemError
from feaslearn.formulations import program
from feaslearn.results import remarks_heard
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.intersection import intersect
from feaslearn.solvers import conic, highs, small_lp
from feaslearn.solvers.highs import CheckedProgram, Optimum
from feaslearn.solvers.mip import MixedIntegerProgram
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL, UNSOLVED


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


def test_a_conic_program_is_solved_without_presolve(monkeypatch: Any, caplog: Any) -> None:
    stalled = SimpleNamespace(
        status="InsufficientProgress", obj_val=0.0, obj_val_dual=1.0, r_prim=1.0, r_dual=1.0
    )
    form = fl.Polytope([[1.0, 0], [0, 1], [-1, -1]], [0.0, 0, -2]).conic_form()
    right = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    monkeypatch.setattr(conic, "_clarabel", lambda *_: stalled)
    with caplog.at_level(logging.WARNING, "feaslearn"):
        found = conic.minimize_linear(form, np.array([-3.0, 1.0]))
    np.testing.assert_allclose(found.point, right.point, atol=1e-9)
    np.testing.assert_allclose(found.dual, right.dual, atol=1e-9)
    assert "solved by HiGHS" in caplog.text
    with pytest.raises(SolverError, match="InsufficientProgress"):
        conic.minimize_linear(fl.L2Ball(2).conic_form(), np.array([-3.0, 1.0]))


@pytest.mark.parametrize("status", [UNSOLVED, OPTIMAL])
def test_small_programs_without_a_proof_go_to_highs(monkeypatch: Any, status: int) -> None:
    solve_rows = small_lp.solve_rows

    def fails(*arguments: Any) -> None:
        solve_rows(*arguments)
        arguments[-2][0] = UNSOLVED

    limits = Limits(np.array([[1.0], [9.0]]), np.zeros((2, 2)), np.ones((2, 2)))
    program = (np.ones((1, 2)), limits, np.array([[1.0, 2], [1, 2]]), np.zeros(1))
    if status == UNSOLVED:
        monkeypatch.setattr(small_lp, "solve_rows", fails)
    found = solve_programs(*program)
    assert found.status.tolist() == [OPTIMAL, INFEASIBLE]
    np.testing.assert_allclose(found.decisions[0], [1.0, 0.0])


def test_a_wrong_answer_to_a_training_program_is_not_believed(monkeypatch: Any) -> None:
    model = MixedIntegerProgram("training")
    (x,) = model.columns(1, lower=0.0, upper=3.0, cost=1.0, integer=True)
    model.row([(x, 2.0)], lower=3.0)
    right = model.solve()
    assert right.values.tolist() == [2.0]
    asked = []

    def lies(*_: Any, presolve: bool) -> Any:
        asked.append(presolve)
        return right._replace(values=np.array([1.5])) if presolve else right

    monkeypatch.setattr(model, "_attempt", lies)
    assert model.solve() is right
    assert asked == [True, False]
    monkeypatch.setattr(model, "_attempt", lambda *_, presolve: right._replace(values=np.ones(1)))
    with pytest.raises(SolverError, match="a row is violated"):
        model.solve()


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
        (RIGHT._replace(point=np.array([2.0, 0.5, 0.0])), "rows violated by 5.0e-01"),
        (RIGHT._replace(point=np.array([4.0, 1.0, -2.0])), "rows violated by 2.0e+00"),
        (RIGHT._replace(point=np.array([1.0, 2.0, 0.0])), "a gap of 1.0e+00"),
        (RIGHT._replace(duals=np.zeros(3)), "a gap of 4.0e+00"),
        (RIGHT._replace(duals=np.array([1.0, 0.0, 2.0])), "duals that prove nothing"),
        (RIGHT._replace(duals=np.array([0.0, 0.0, 2.0])), "duals that prove nothing"),
        (RIGHT._replace(point=np.full(3, np.nan)), "numbers that are not finite"),
        (RIGHT._replace(point=np.array([2.0, np.nan, 0.0])), "numbers that are not finite"),
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
    monkeypatch.setattr(highs, "_presolved", lambda *_: wrong)
    with remarks_heard() as said:
        again = DISPATCH.solve("dispatch")
    assert said == [f"the dispatch program was solved without presolve, after {why}"]
    np.testing.assert_allclose(again.point, RIGHT.point, atol=1e-9)
    np.testing.assert_allclose(again.duals, RIGHT.duals, atol=1e-9)
    assert again.value == pytest.approx(4.0)
    monkeypatch.setattr(highs, "_without_presolve", lambda *_: wrong)
    with pytest.raises(
        SolverError, match=f"{why}; then, without presolve, {why}".replace("+", ".")
    ):
        DISPATCH.solve("dispatch")


def test_what_the_second_solver_says_is_told(monkeypatch: Any) -> None:
    def lost(*_: Any) -> None:
        raise SolverError("lost its way")

    monkeypatch.setattr(highs, "_presolved", lambda *_: "no idea")
    monkeypatch.setattr(highs.WarmProgram, "attempt", lost)
    with pytest.raises(SolverError, match=r"no idea; then, without presolve, lost its way"):
        DISPATCH.solve("dispatch")


def test_two_solvers_say_that_there_is_no_optimum() -> None:
    told = r"dispatch program was not solved \(Infeasible; then, without presolve, Infeasible\)"
    with pytest.raises(InfeasibleProblemError, match=told):
        DISPATCH._replace(e=np.array([9.0])).solve("dispatch")
    with pytest.raises(UnboundedProblemError, match="dispatch"):
        DISPATCH._replace(cost=-DISPATCH.cost, A=None, b=None, E=None, e=None).solve("dispatch")


def test_programs_around_a_fit_are_checked(monkeypatch: Any) -> None:
    """Bounds, facets, consistency and known rows are the same where the first solver lies."""
    data = fl.datasets.make_power5(30, noise=0.0, random_state=0)
    image = fl.sets.AffineImage(fl.Box(2), np.eye(2), np.zeros(2))
    rows = HalfSpaces(np.array([[1.0, 1.0]]), np.array([1.0]), np.zeros((0, 2)), np.zeros(0))

    def answers() -> list[Any]:
        hypothesis = fl.Facets(max_facets=1, bounds="affine")
        trainer = fl.trainers.FacetLearning(max_seconds=60.0)
        model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=0)
        model.fit(data.signals, data.decisions)
        few = data[:10]
        return [
            model.predict(data.signals),
            model.result_.warnings,
            # Rows at an affine bound are on it within the digits of the solver.
            re.sub(r" \([a-z ]+ not seen\)", "", str(model.facets_)),
            *(fl.consistency(few, each).reason for each in (fl.Facets(), fl.Minkowski.pairs(3))),
            intersect(image, rows).minimize([-1.0, -2.0]),
        ]

    right = answers()
    by_scipy = highs._presolved

    def lies(*program: Any) -> Any:
        found = by_scipy(*program)
        return found._replace(point=found.point + 1.0) if isinstance(found, Optimum) else found

    monkeypatch.setattr(highs, "_presolved", lies)
    again = answers()
    np.testing.assert_allclose(again[0], right[0], atol=1e-6)
    np.testing.assert_allclose(again[-1], right[-1], atol=1e-9)
    assert any("the bounds program was solved without presolve" in told for told in again[1])
    assert again[2:-1] == right[2:-1]
