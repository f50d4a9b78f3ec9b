"""Classes whose decisions are linear in their parameters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from feaslearn.data import Samples
from feaslearn.exceptions import SolverError
from feaslearn.hypotheses import Minkowski, Term
from feaslearn.inference.contradictions import Examined, examine
from feaslearn.inference.linear_system import LinearSystem
from feaslearn.inference.verdict import Question, Verdict, listed
from feaslearn.losses import Objective, Predictability
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.sets import Simplex
from feaslearn.trainers import Convex
from feaslearn.trainers.returned_decisions import returned_loss

#: Decisions up to which all simplices of a family are listed.
LISTED_DECISIONS = 8


def decide_by_rows(question: Question, linear: Minkowski) -> Verdict:
    """Answer by least squares where that is exact, and by linear programs."""
    model = _least_squares(question)
    if model is not None and question.errors(model).max() <= question.tolerance:
        return question.answer(True, yes(question), model=model)
    terms = _listed(linear, question)
    if terms is None:
        return by_bound(question, model)
    system = LinearSystem(terms, question.rows, question.unit, question.tolerance)
    examined = examine(system, question.until)
    if not examined.exactly:
        return question.answer(
            False,
            f"{no(question)}; {blame(question, examined)}",
            model=model,
            contradiction=examined.core,
            irreducible=True,
            suspects=examined.blamed,
            alone=examined.alone,
        )
    if system.left_out.any() or linear.as_grown() is not None or model is None:
        return by_bound(question, model)
    theta = system.theta(examined.optimum)
    return question.answer(True, yes(question), model=_with(model, theta, question))


def _least_squares(question: Question) -> RegionRegressor | None:
    """Return the region of least squares; None where the moments are too close to singular."""
    try:
        return question.fitted(Convex(ridge=0.0, sparsity=0.0))
    except SolverError:
        return None


def _listed(linear: Minkowski, question: Question) -> Minkowski | None:
    """Return a sum of listed terms that contains every region of the class, if there is one."""
    grown = linear.as_grown()
    if grown is None:
        return linear
    n = question.rows.decisions.shape[1]
    if grown.family != "simplices" or n > LISTED_DECISIONS:
        return None
    sets = (chosen for size in range(2, n + 1) for chosen in combinations(range(n), size))
    return grown.listed([Term(Simplex(len(chosen)), list(chosen)) for chosen in sets])


def _with(model: RegionRegressor, theta: np.ndarray, question: Question) -> RegionRegressor:
    """Return the model with parameters that keep every error within the tolerance."""
    model.theta_ = theta
    objective = Objective(Predictability(), model.hypothesis_, Samples.of(question.rows))
    model.result_ = replace(
        model.result_,
        objective=objective.value(theta),
        returned_loss=returned_loss(objective, theta),
        status="converged",
        warnings=[*model.result_.warnings, "the parameters keep the largest error small"],
    )
    return model


def by_bound(question: Question, model: RegionRegressor | None) -> Verdict:
    """Answer by a lower bound of the loss alone.

    Decisions within the tolerance have squared errors of at most n times its square.
    """
    bound = None if model is None else model.result_.lower_bound
    n = question.rows.decisions.shape[1]
    if bound is not None and bound > n * (question.tolerance * question.unit) ** 2:
        reason = f"{no(question)}: its least loss is at least {bound:.4g}"
        return question.answer(False, reason, model=model)
    reason = (
        "the best region that was found does not explain them, and that none does is not proved"
    )
    return question.answer(None, reason, model=model)


def yes(question: Question) -> str:
    """Say that there is a region."""
    return f"one region of {question.hypothesis!r} explains all {len(question.places)} samples"


def no(question: Question) -> str:
    """Say that there is none."""
    return f"no region of {question.hypothesis!r} explains all {len(question.places)} samples"


def blame(question: Question, examined: Examined) -> str:
    """Say which samples contradict each other, and without which the others do not."""
    core = tuple(int(question.places[i]) for i in examined.core)
    blamed = tuple(int(question.places[i]) for i in examined.blamed)
    if not blamed:
        return f"{len(core)} samples already contradict each other, and no few others are to blame"
    which = f"sample{'s' * (len(blamed) > 1)} {listed(blamed)}"
    if len(blamed) > 1 and examined.alone:
        return f"without any one of {which}, one region explains all others"
    return f"without {which}, one region explains all others"
