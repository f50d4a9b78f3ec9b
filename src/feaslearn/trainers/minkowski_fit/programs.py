"""When a Minkowski sum is fitted by its program, and what is done where there is no time for it."""

from __future__ import annotations

from typing import NamedTuple

from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime
from feaslearn.trainers.minkowski_fit.by_program import fit_by_program, too_large
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Strengths
from feaslearn.trainers.returned_decisions import returned_loss

#: An optimum with ties whose returned decisions lose this many times what they lose when each tied
#: sample counts with its first minimiser is not kept.
VACUOUS = 2.0


class Programmed(NamedTuple):
    """A fit, its warnings, and whether its program is vacuous, or was not solved in time."""

    fitted: Fitted
    warnings: list[str]
    vacuous: bool = False
    late: bool = False


def with_ties(fit: MinkowskiFit, objective: Objective, fitted: Fitted, robust: bool) -> Programmed:
    """Let tied samples take any of their minimisers, where a program can do that.

    ``fitted`` is the fit in which each takes its minimiser of lowest index.
    """
    tied, warnings = fit.n_tied, list[str]()
    if robust or too_large(fit.samples.hypothesis, objective, tied):
        why = "which robust fits cannot use" if robust else "too many for a program"
        warnings.append(
            f"{tied} samples tie and have many minimisers, {why}: each counts with its "
            "minimiser of lowest index, and the optimum is not proved"
        )
        return Programmed(fitted._replace(bound=None), warnings)
    programmed = _by_program(fit, objective, fitted.strengths, tied, fitted)
    if programmed.late:
        return programmed
    exact = programmed.fitted
    # A region in which everything ties explains any decision and predicts none.
    losses = [returned_loss(objective, each.theta) for each in (exact, fitted)]
    vacuous = not losses[0] <= VACUOUS * losses[1]
    if vacuous:
        warnings.append(
            "the optimum of the loss ties nearly everywhere, which explains any "
            "decision and predicts none: the best for first minimisers was kept"
        )
    kept = fitted if vacuous else exact
    kept = kept._replace(bound=exact.bound, details=kept.details | exact.details)
    return Programmed(kept, warnings, vacuous)


def by_other_loss(fit: MinkowskiFit, objective: Objective, strengths: Strengths) -> Programmed:
    """Fit by a loss that is no matter of moments."""
    return _by_program(fit, objective, strengths, 0, fit.solve(0.0, 0.0))


def _by_program(
    fit: MinkowskiFit, objective: Objective, strengths: Strengths, tied: int, first: Fitted
) -> Programmed:
    """Return the optimum of the program, or the first fit if the deadline comes before it."""
    try:
        return Programmed(fit_by_program(fit, objective, strengths, tied), [])
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        objective.run.clock.interrupt()
    late = "the deadline came before the optimum of the program: a least-squares fit was kept"
    return Programmed(first._replace(bound=None), [late], late=True)
