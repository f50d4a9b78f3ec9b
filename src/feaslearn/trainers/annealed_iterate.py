"""Where a walk of annealing stands."""

from __future__ import annotations

from dataclasses import dataclass, replace

from feaslearn.results import Status
from feaslearn.trainers.annealed_objective import AnnealedObjective
from feaslearn.trainers.walk import Iterate


@dataclass
class AnnealedIterate(Iterate):
    """An iterate of annealing: with its smooth objective, and how many temperatures it saw."""

    problem: AnnealedObjective | None = None
    stage: int = 0

    def measured(self, temperature: float, finished: Status | None) -> AnnealedIterate:
        """Return the iterate with its training loss, the ridge, and what the history keeps."""
        problem, theta = self.problem, self.theta
        if problem is None:
            raise AssertionError("an iterate without a smooth objective")
        bare = finished is not None and problem.explained(theta)
        return replace(
            self,
            training_loss=problem.objective.value(theta),
            penalty=0.0 if bare else problem.penalty(theta),
            record={"annealed_loss": self.value, "temperature": temperature},
            finished=finished,
            exact=bare,
        )
