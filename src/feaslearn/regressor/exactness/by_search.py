"""Classes that are not convex in their parameters: searches with a lower bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import MissingExtraError
from feaslearn.losses import Objective, Predictability
from feaslearn.regressor.exactness.by_rows import by_bound, no, yes
from feaslearn.regressor.exactness.contradiction import shrink
from feaslearn.regressor.exactness.question import Question
from feaslearn.regressor.exactness.verdict import Verdict
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.trainers import Global, MixedInteger, Trainer
from feaslearn.trainers.automatic import choose_trainer
from feaslearn.trainers.facet_learning.response import contradiction
from feaslearn.trainers.facet_learning.units import Units

Places = NDArray[np.intp]

#: Share of the time that each search for a smaller contradiction may take.
EACH = 0.1
#: A smaller saving is rounding, for decisions and prices of size one.
LEAST_SAVING = 1e-7


def decide_by_search(question: Question) -> Verdict:
    """Look for a pair that contradicts itself, for a region without loss, and for a bound."""
    pair = _pair(question)
    if pair is not None:
        i, j = (question.places[each] for each in pair)
        reason = (
            f"{no(question)}: samples {i} and {j} have the same features, and at the prices of "
            f"sample {i} the decision of sample {j} is cheaper"
        )
        return question.answer(False, reason, contradiction=pair, irreducible=True)
    objective = Objective(Predictability(), question.hypothesis, [question.rows])
    model = question.fitted(_limited(choose_trainer("auto", objective), question.left))
    if question.errors(model).max() <= question.tolerance:
        return question.answer(True, yes(question), model=model)
    # The rest of the time is for finding a few samples that contradict each other.
    prover: Trainer = Global(max_seconds=max(1.0, 0.5 * question.left))
    if isinstance(choose_trainer("auto", objective), MixedInteger):
        prover = MixedInteger()
    elif prover.mismatches(objective):
        return by_bound(question, model)
    else:
        proved = _proved(question, prover, model)
        if isinstance(proved, str):
            answer = by_bound(question, model)
            return replace(answer, reason=f"{answer.reason}: {proved}")
        model = proved
        if question.errors(model).max() <= question.tolerance:
            return question.answer(True, yes(question), model=model)
    answer = by_bound(question, model)
    if answer.consistent is not False:
        return answer
    if isinstance(prover, Global):
        within = f"with entries of A and b within the radius {prover.radius:g} of trainers.Global"
        answer = replace(answer, reason=f"{answer.reason}, {within}")
    return _smaller(question, prover, answer)


def _proved(question: Question, prover: Trainer, model: RegionRegressor) -> RegionRegressor | str:
    """Return the better of two models with the bound of the prover, or why there is none."""
    try:
        proved = question.fitted(prover)
    except MissingExtraError as error:
        return str(error)
    bound = proved.result_.lower_bound
    if model.result_.objective < proved.result_.objective:
        model.result_ = replace(model.result_, lower_bound=bound)
        return model
    return proved


def _smaller(question: Question, prover: Trainer, answer: Verdict) -> Verdict:
    """Look for a few samples for which the bound is above zero already."""
    n = question.rows.decisions.shape[1]
    limit = n * (question.tolerance * question.unit) ** 2

    def contradict(some: Places) -> bool:
        left = question.left
        bound = question.fitted(_limited(prover, EACH * left), some).result_.lower_bound
        return bound is not None and bound > limit

    rows, done = shrink(np.arange(len(question.places)), contradict, question.until)
    few = tuple(int(question.places[i]) for i in rows)
    return replace(answer, contradiction=few, irreducible=done)


def _limited(trainer: Trainer, seconds: float) -> Trainer:
    """Return the trainer with no more time than this, where it knows a limit."""
    parameters = trainer.get_params(deep=False)
    if "max_seconds" in parameters:
        return type(trainer)(**{**parameters, "max_seconds": max(1.0, seconds)})
    return trainer


def _pair(question: Question) -> tuple[int, int] | None:
    """Return two complete samples of the same features of which one shows the other too dear."""
    rows = question.rows
    complete = np.flatnonzero(~np.isnan(rows.decisions).any(axis=1))
    if len(complete) < 2:
        return None
    units = Units.of(rows)
    # What errors within the tolerance can make of a saving, at prices of length one.
    error = question.tolerance * question.unit / float(units.scale.min())
    saving = max(LEAST_SAVING, 2.0 * np.sqrt(rows.decisions.shape[1]) * error)
    pair = contradiction(units.apply(rows), saving)
    return None if pair is None else (int(complete[pair[0]]), int(complete[pair[1]]))
