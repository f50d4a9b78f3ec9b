"""What is said of parameters once they are found, and the time to find that out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.trainer import Trained, Trainer

Array = NDArray[np.float64]

#: Passes over all samples that measure a result.
PASSES = 5.0


def measured(trainer: Trainer, objective: Objective, theta: Array, status: Status) -> Trained:
    """Return parameters with what can be said of any: their losses, and how the run ended."""
    seconds = objective.run.clock.seconds
    return Trained(theta, trainer.result_of(objective, theta, status, n_iter=1, seconds=seconds))


def with_time_to_measure(objective: Objective, theta: Array) -> Objective:
    """Return the objective with less time, so that what is found can be measured in the rest.

    Some parameters are predicted with, to see how long a pass over all samples takes.
    """
    clock = objective.run.clock
    if not clock.limited:
        return objective
    before = clock.left
    returned_loss(objective, theta)
    return objective.limited(max(0.0, clock.left - PASSES * (before - clock.left)))
