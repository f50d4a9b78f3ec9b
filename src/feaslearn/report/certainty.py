"""How sure the fit is: the one place where the report asks the model for doubts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.report.comparison import Comparison
from feaslearn.report.samples import Samples
from feaslearn.report.words import facet_table
from feaslearn.results import TrainingResult

#: Held-out losses above so many training losses are a sign of too much freedom.
OVERFIT = 3.0
#: Unless held-out rows are predicted as well as this (R²) all the same.
GOOD = 0.95
#: Ties in a larger share of the rows than this are worth a warning.
OFTEN = 0.2

#: Details of a result that are penalties.
PENALTIES = ("ridge", "sparsity")
STATUS = {
    "optimal": "No region of this class fits the training rows better; that was proved.",
    "converged": "Training reached an optimum among nearby regions; a better one elsewhere is "
    "possible.",
    "stalled": "Training ended where no step helped any more; a better region is possible.",
    "iteration limit": "Training ended at its limit of iterations; more may improve the region.",
    "time limit": "Training ended at its time limit; more time may improve the region.",
    "stopped by callback": "Training was stopped by the user's own rule.",
    "interrupted": "Training was interrupted; this is the best region so far.",
}


class Doubt(NamedTuple):
    """One statement about how sure the fit is, and whether it should worry a reader."""

    text: str
    worrying: bool = False


def _status(result: TrainingResult) -> str:
    """Say how training ended; a proof is one for the loss with its penalties."""
    held = [name for name in PENALTIES if result.details.get(name, 0.0) > 0.0]
    if result.status == "optimal" and held:
        return f"No region of this class is better by the loss with {' and '.join(held)}: a proof."
    return STATUS[result.status]


def doubts(samples: Samples, comparison: Comparison) -> list[Doubt]:
    """Say how far the learned region can be trusted.

    Parameters
    ----------
    samples : Samples
        The model and its rows.
    comparison : Comparison
        The model on rows that it has not seen.

    Returns
    -------
    list of Doubt
        Statements.
    """
    result = samples.model.result_
    said = [Doubt(_status(result), result.status not in ("optimal", "converged"))]
    if result.gap is not None:
        said.append(
            Doubt(
                f"The training loss is {result.objective:.4g}; none below {result.lower_bound:.4g} "
                f"is possible with this class (gap {max(result.gap, 0.0):.3g})."
            )
        )
    fair = comparison.fair
    if fair is not None:
        train = result.returned_loss
        text = (
            f"On rows that were held out the mean squared distance is {fair.loss.mean:.4g}, on the "
            f"training rows {train:.4g}."
        )
        over = fair.loss.mean > OVERFIT * train and fair.r2 < GOOD
        said.append(Doubt(text + (" The fit leans on its own rows." if over else ""), over))
    if samples.reader.priced:
        share = float(np.mean(samples.tied))
        text = "In every row one decision is the cheapest."
        if share > 0.0:
            text = (
                f"In {100 * share:.1f} % of the rows several decisions are cheapest, so the "
                "returned one is a matter of choice."
            )
        said.append(Doubt(text, share > OFTEN))
    table = facet_table(samples)
    if table is not None and len(table):
        sure = sum(facet.identified for facet in table)
        said.append(
            Doubt(
                f"{sure} of {len(table)} learned limits are determined by the samples in which "
                "they bind; the others could be moved without changing the fit.",
                sure < len(table),
            )
        )
    said += [Doubt(text, True) for text in result.warnings]
    return said
