"""How good a model is on samples that are not trained on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.metrics.measure import true_losses
from feaslearn.trainers.returned_decisions import returned_loss

Array = NDArray[np.float64]


def validation_losses(objective: Objective, theta: Array) -> dict[str, float]:
    """Return the mean losses on the validation samples, by name; nothing without samples.

    Predictability, suboptimality and the distance of the returned decisions, in the norm of the
    training loss, and the two true losses where the true problem is known.
    """
    validation = objective.validation
    if validation is None:
        return {}
    loss = objective.loss
    distance = Predictability(loss.norm, loss.squared)  # type: ignore[arg-type]
    excess = Suboptimality(
        loss.norm,  # type: ignore[arg-type]
        loss.squared,
        getattr(loss, "normalize_cost", True),
    )
    rows = validation.rows
    watched = replace(objective, shards=[rows], validation=None)
    found = {
        "validation_returned_loss": returned_loss(watched, theta),
        "validation_predictability": replace(watched, loss=distance).value(theta),
        "validation_suboptimality": replace(watched, loss=excess).value(theta),
    }
    predicted = objective.hypothesis.predict(theta, rows.features, rows.costs)
    true = true_losses(validation.data, predicted, distance, excess, validation.sign)
    names = ("validation_true_predictability", "validation_true_suboptimality")
    return found | {
        name: mean.mean for name, mean in zip(names, true, strict=True) if mean is not None
    }
