"""The trainer of a hypothesis, where none is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feaslearn.exceptions import UnsupportedError
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.trainer import Trained, Trainer


def choose_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself, or for "auto" the first that serves the objective."""
    if isinstance(trainer, Auto):
        trainer = "auto"
    if isinstance(trainer, Trainer):
        return trainer
    if trainer != "auto":
        raise UnsupportedError(
            f"trainer={trainer!r} is not known; use 'auto' or one of feaslearn.trainers"
        )
    served = (Convex(), FacetLearning(), Annealing())
    learned = objective.learned()
    refusals = []
    for each in served:
        mismatches = each.mismatches(learned)
        if not mismatches:
            return each
        refusals.append(f"{type(each).__name__}: {'; '.join(mismatches)}")
    raise UnsupportedError(
        f"no trainer serves {learned.hypothesis!r}\n    " + "\n    ".join(refusals)
    )


@dataclass(eq=False, repr=False)
class Auto(Trainer):
    """The first trainer that serves the hypothesis, as ``trainer="auto"``, with limits.

    With ``hypothesis=None`` or an open size, the limits hold for that selection and the training
    together. A selection that comes to the deadline returns the model that was trained first.

    Parameters
    ----------
    max_seconds : float, default=None
        Limit on the wall time of the whole fit.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(
    ...     fl.Facets(), cost=data.cost, trainer=fl.trainers.Auto(max_seconds=60.0))
    >>> model.fit(data.signals, data.decisions).result_.status
    'converged'
    """

    uses_known = True

    max_seconds: float | None = None

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what no trainer serves."""
        return choose_trainer("auto", objective).mismatches(objective.learned())

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Let the chosen trainer train."""
        return choose_trainer("auto", objective).train(objective, random)
