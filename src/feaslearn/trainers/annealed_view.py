"""Annealing in units and an order of columns of the samples' own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels.norms import SQUARED_L2
from feaslearn.losses import Objective
from feaslearn.trainers.annealed_objective import AnnealedObjective
from feaslearn.trainers.canonical_view import CanonicalView
from feaslearn.trainers.refit import polish
from feaslearn.trainers.returned_decisions import returned_loss, tied_share
from feaslearn.trainers.ridge import Ridge
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts.start import linear_policy_of
from feaslearn.trainers.trainer import Trained

Array = NDArray[np.float64]

#: What the history holds in units of the loss.
IN_UNITS = ("objective", "returned_loss", "annealed_loss")


def in_own_units(objective: Objective, search: Callable[[Objective], Trained]) -> Trained:
    """Search in a `CanonicalView` where there is one, and end with the numbers as they came."""
    view = CanonicalView.of(objective)
    if view is None:
        return search(objective)
    trained = search(view.apply(objective))
    result = trained.result
    theta = _finished(objective, view.revert(objective, trained.theta), result.details)
    unit = view.unit ** (2 if objective.loss.norm_code() == SQUARED_L2 else 1)
    for name in IN_UNITS:
        result.history[name] = [unit * value for value in result.history[name]]
    result.objective = objective.value(theta)
    result.returned_loss = returned_loss(objective, theta)
    result.tied_share = tied_share(objective, theta)
    result.lower_bound = 0.0 if result.objective == 0.0 else None
    return Trained(theta, result)


def _finished(objective: Objective, theta: Array, details: dict[str, float]) -> Array:
    """Fit once more to the numbers as they are, which the search saw rounded."""
    standard = Standardization.of(objective)
    into = standard.apply(objective)
    ridge = Ridge(details["ridge"], details["floor of the ridge"])
    problem = AnnealedObjective(into, linear_policy_of(into), ridge)
    if not problem.scale > 0.0:
        return standard.revert(objective, problem.center)
    return standard.revert(objective, polish(problem, standard.convert(objective, theta)))
