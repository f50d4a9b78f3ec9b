"""When a Minkowski sum is fitted by its program, and what is done where there is no time for it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime
from feaslearn.trainers.minkowski_fit.by_program import PART, fit_by_program, too_large
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Strengths
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.time_to_measure import measurable, with_time_to_measure

#: An optimum with ties whose returned decisions lose this many times what they lose when each tied
#: sample counts with its first minimiser is not kept.
VACUOUS = 2.0


class Programmed(NamedTuple):
    """A fit, the samples it is to be measured on, what is to be said, and whether it is vacuous."""

    fitted: Fitted
    some: Objective
    warnings: list[str]
    vacuous: bool = False


def with_ties(fit: MinkowskiFit, objective: Objective, fitted: Fitted, robust: bool) -> Programmed:
    """Let tied samples take any of their minimisers, where a program can do that.

    ``fitted`` is the fit in which each takes its minimiser of lowest index.
    """
    tied = fit.n_tied
    some, warnings = measurable(objective, fitted.theta)
    if robust or too_large(fit.samples.hypothesis, objective, tied):
        why = "which robust fits cannot use" if robust else "too many for a program"
        warnings.append(
            f"{tied} samples tie and have many minimisers, {why}: each counts with its "
            "minimiser of lowest index, and the optimum is not proved"
        )
        return Programmed(fitted._replace(bound=None), some, warnings)
    exact = _by_program(fit, objective, some, fitted.strengths, tied, fitted)
    # A region in which everything ties explains any decision and predicts none.
    losses = [returned_loss(some, each.theta) for each in (exact, fitted)]
    vacuous = not losses[0] <= VACUOUS * losses[1]
    if vacuous:
        warnings.append(
            "the optimum of the loss ties nearly everywhere, which explains any "
            "decision and predicts none: the best for first minimisers was kept"
        )
    kept = fitted if vacuous else exact
    kept = kept._replace(bound=exact.bound, details=kept.details | exact.details)
    return Programmed(kept, some, warnings, vacuous)


def by_other_loss(fit: MinkowskiFit, objective: Objective, strengths: Strengths) -> Programmed:
    """Fit by a loss that is no matter of moments."""
    first = fit.solve(0.0, 0.0)
    some, warnings = measurable(objective, first.theta)
    fitted = _by_program(fit, objective, some, strengths, 0, first)
    return Programmed(fitted, some, warnings)


def _by_program(
    fit: MinkowskiFit,
    objective: Objective,
    some: Objective,
    strengths: Strengths,
    tied: int,
    first: Fitted,
) -> Fitted:
    """Return the optimum of the program, or the first fit if there is no time for it."""
    limited = replace(objective, run=with_time_to_measure(some, first.theta).run)
    try:
        return fit_by_program(fit, limited, strengths, tied)
    except OutOfTime:
        return first._replace(bound=None, details=first.details | {PART: 0.0})
    except KeyboardInterrupt:
        objective.run.clock.interrupt()
        return first._replace(bound=None)
