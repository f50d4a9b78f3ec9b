"""What is said of every result, whichever trainer found it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import SolverError
from feaslearn.losses import Objective, Predictability
from feaslearn.messages import LARGEST, beyond
from feaslearn.results import TrainingResult
from feaslearn.trainers.returned_decisions import ties_met

Array = NDArray[np.float64]

#: Returned decisions that lose this many times the training loss are a matter of ties.
HIDDEN = 1.001


def refuse_divergence(theta: Array) -> None:
    """Refuse parameters with which nothing can be computed."""
    wrong = np.flatnonzero(np.isnan(theta) | beyond(theta))
    if len(wrong):
        raise SolverError(
            f"training ended with parameters that are no numbers or beyond {LARGEST:g}, the first "
            f"is number {wrong[0]} of {len(theta)}: take a smaller step or another start"
        )


def complete(objective: Objective, theta: Array, result: TrainingResult) -> None:
    """Write into a result what is the same for every trainer.

    No loss is below zero, so where none is left the optimum is proved. And what ties hide is said:
    the loss of predictability counts the nearest of several minimisers.
    """
    if result.ties_met is None:
        result.ties_met = ties_met(objective, theta)
    if result.objective == 0.0 and result.status in ("converged", "stalled"):
        result.status, result.lower_bound = "optimal", 0.0
    hidden = (
        isinstance(objective.loss, Predictability)
        and result.tied_share > 0.0
        and result.returned_loss > HIDDEN * result.objective
    )
    if hidden and not any("nearest of the" in text for text in result.warnings):
        result.warnings.append(
            f"minimisers tie in {100 * result.tied_share:.0f} % of the samples: the loss counts "
            f"the nearest of them, but the model returns the first, at {result.returned_loss:.4g}"
        )


def tell_of_empty_regions(objective: Objective, theta: Array, result: TrainingResult) -> None:
    """Warn of training samples at which the region has no decision that is known to be allowed."""
    hypothesis = objective.hypothesis

    def one(shard: Shard) -> tuple[int, int]:
        found = hypothesis.solve(theta, shard.features, shard.costs).empty
        return int(found.sum()), len(found)

    empty, count = objective.total(one)
    if empty:
        result.warnings.append(
            f"the learned region has no decision that satisfies the known constraints at {empty} "
            f"of {count} training samples: the nearest that does counts there"
        )
