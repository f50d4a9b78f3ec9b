"""The trainer that "auto" stands for, with limits."""

from __future__ import annotations

import numpy as np

from feaslearn.losses import Objective
from feaslearn.trainers.running import Given
from feaslearn.trainers.trainer import Trained, Trainer


class Auto(Trainer):
    """The first trainer that serves the hypothesis, as ``trainer="auto"``, with limits.

    With ``hypothesis=None`` or an open size, the limits hold for that choice and the training
    together. A choice that comes to the deadline returns the best model that it tried.

    Parameters
    ----------
    max_seconds : float, default=None
        Limit on the wall time of the whole fit.
    checkpoint : path-like, default=None
        File that keeps finished folds, members and starts: a fit that was killed resumes from
        them, and ends with the same parameters, bit for bit on one machine, as if it had never
        stopped. The piece that was interrupted is begun again. The file is written after each
        piece and removed at the end of a completed fit; one that is ended by a time limit, a
        callback or Ctrl-C leaves it, and ``max_seconds`` counts anew. The file of other data, or
        of another hypothesis, loss, trainer or ``random_state``, is refused.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Scaled(fl.Simplex(2)), cost=data.cost, trainer=fl.trainers.Auto(max_seconds=60.0))
    >>> model.fit(data.signals, data.decisions).result_.status
    'optimal'
    """

    uses_known = True

    def __init__(self, max_seconds: float | None = None, checkpoint: Given = None) -> None:
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what no trainer serves."""
        return self._chosen(objective).mismatches(objective.learned())

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Let the chosen trainer train."""
        return self._chosen(objective).train(objective, random)

    @staticmethod
    def _chosen(objective: Objective) -> Trainer:
        from feaslearn.trainers.automatic import choose_trainer

        return choose_trainer("auto", objective)
