"""What is said of parameters once they are found."""

from __future__ import annotations

from feaslearn.arrays import Array
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.trainers.trainer import Trained, Trainer


def measured(trainer: Trainer, objective: Objective, theta: Array, status: Status) -> Trained:
    """Return parameters with what can be said of any: their losses, and how the run ended."""
    seconds = objective.run.clock.seconds
    return Trained(theta, trainer.result_of(objective, theta, status, n_iter=1, seconds=seconds))
