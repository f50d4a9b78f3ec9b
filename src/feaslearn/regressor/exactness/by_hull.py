"""Regions of half-spaces."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses import Facets, Minkowski
from feaslearn.regressor.exactness.by_rows import blame, no, yes
from feaslearn.regressor.exactness.contradiction import examine, shrink
from feaslearn.regressor.exactness.hull_test import HullTest, common_to_all, mixtures_cheaper
from feaslearn.regressor.exactness.linear_system import LinearSystem
from feaslearn.regressor.exactness.question import Question
from feaslearn.regressor.exactness.verdict import Verdict, listed
from feaslearn.trainers import FacetLearning

Places = NDArray[np.intp]


def decide_by_hull(question: Question, hypothesis: Facets) -> Verdict:
    """Test given bounds, given equalities, and every sample against mixtures of the others."""
    for against in (_against_bounds, _against_balance):
        answer = against(question, hypothesis)
        if answer is not None:
            return answer
    complete = np.flatnonzero(~np.isnan(question.rows.decisions).any(axis=1))
    error = question.tolerance * question.unit
    test = mixtures_cheaper(question.rows, complete, error, question.until)
    if test.dearer:
        return _dearer(question, test, complete, error)
    model = question.fitted(FacetLearning(max_seconds=max(1.0, question.left)))
    if question.errors(model).max() <= question.tolerance:
        return question.answer(True, yes(question), model=model)
    all_tested = test.tested == len(question.places)
    reason = (
        "with enough facets one region does: no mixture of samples is cheaper than a sample. But "
        f"none of at most {hypothesis.max_facets} facets was found"
        if all_tested
        else f"{test.tested} of {len(question.places)} samples were tested: their decisions are "
        "complete, and the time sufficed"
    )
    return question.answer(None, reason, model=model)


def _against_bounds(question: Question, hypothesis: Facets) -> Verdict | None:
    """Name decisions outside bounds that were given."""
    if isinstance(hypothesis.bounds, str):
        return None
    decisions = question.rows.decisions
    lower, upper = hypothesis.given_bounds(decisions.shape[1])
    beyond = np.nan_to_num(np.maximum(lower - decisions, decisions - upper)).max(axis=1)
    outside = np.flatnonzero(beyond > question.tolerance * question.unit)
    if not len(outside):
        return None
    worst = outside[np.argmax(beyond[outside])]
    reason = (
        f"the decisions of {len(outside)} samples lie outside the bounds that were given, by up to "
        f"{beyond[worst]:.4g} at sample {question.places[worst]}"
    )
    return question.answer(
        False, reason, contradiction=[worst], irreducible=True, suspects=outside, alone=False
    )


def _against_balance(question: Question, hypothesis: Facets) -> Verdict | None:
    """Find samples for which equalities that were given are not affine in the features."""
    E = hypothesis.given_balance(question.rows.decisions.shape[1])
    if E is None or not len(E):
        return None
    sums = question.rows.decisions @ E.T
    balance = question.rows._replace(decisions=sums, costs=np.zeros(sums.shape))
    unit = question.unit * float(np.abs(E).sum(axis=1).max())
    examined = examine(
        LinearSystem(Minkowski([]), balance, unit, question.tolerance), question.until
    )
    if examined.exactly:
        return None
    reason = "the balance that was given is no affine function of the features; "
    return question.answer(
        False,
        reason + blame(question, examined),
        contradiction=examined.core,
        irreducible=True,
        suspects=examined.blamed,
        alone=examined.alone,
    )


def _dearer(question: Question, test: HullTest, complete: Places, error: float) -> Verdict:
    """Say which sample is dearer than a mixture of others, and who is to blame if that is one."""
    first = min(test.dearer, key=lambda each: (len(each.mixture), -each.saving))
    core, needed = shrink(
        np.union1d(first.mixture, [first.sample]),
        lambda some: bool(mixtures_cheaper(question.rows, some, error, question.until).dearer),
        question.until,
    )
    mixture = tuple(int(question.places[i]) for i in first.mixture)
    reason = (
        f"{no(question)}, whatever the number of facets: a mixture of samples {listed(mixture)} "
        f"has the features of sample {question.places[first.sample]} and costs "
        f"{first.saving:.4g} less"
    )
    blamed = _to_blame(question, test, complete, error)
    if blamed:
        reason += (
            f"; without {listed(tuple(int(question.places[i]) for i in blamed))} all others agree"
        )
    return question.answer(
        False, reason, contradiction=core, irreducible=needed, suspects=blamed, alone=True
    )


def _to_blame(question: Question, test: HullTest, complete: Places, error: float) -> list[int]:
    """Return the samples that are in every contradiction, each without which there is none."""
    found = []
    for sample in common_to_all(test.dearer):
        if time.monotonic() > question.until:
            return []
        others = complete[complete != sample]
        again = mixtures_cheaper(question.rows, others, error, question.until)
        if not again.dearer and again.tested == len(others):
            found.append(sample)
    return found
