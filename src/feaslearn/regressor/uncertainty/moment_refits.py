"""Refits of a convex class through its moments: all that changes are the weights."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, shards
from feaslearn.hypotheses import GrownMinkowski, Minkowski
from feaslearn.losses import Loss, Predictability
from feaslearn.regressor.checks import FitData
from feaslearn.trainers import Convex
from feaslearn.trainers.convex import as_minkowski
from feaslearn.trainers.minkowski_fit import MinkowskiFit, Strengths

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

Array = NDArray[np.float64]


class MomentRefits:
    """Fits a Minkowski sum with unique minimisers to rows with other weights.

    Parameters
    ----------
    model : RegionRegressor
        The fitted model.
    hypothesis : Minkowski
        Its class.
    rows : Shard
        The samples, with the costs to minimise.
    """

    def __init__(self, model: RegionRegressor, hypothesis: Minkowski, rows: Shard) -> None:
        self._model, self._hypothesis, self._rows = model, hypothesis, rows
        details = model.result_.details
        self._strengths = Strengths(details.get("ridge", 0.0), details.get("sparsity", 0.0))

    def fitted(self, drawn: NDArray[np.intp]) -> RegionRegressor:
        """Return the model of rows that were drawn so many times."""
        chosen = drawn > 0
        some = Shard(*(table[chosen] for table in self._rows))
        weights = some.weights * drawn[chosen]
        some = some._replace(weights=weights / weights.sum())
        fit = MinkowskiFit(self._hypothesis, list(shards(some)), 1, np.random.default_rng(0))
        answer = fit.problem.solve(fit.moments.reduced(), self._strengths)
        model = copy(self._model)
        model.theta_ = fit.samples.theta(answer.a, answer.b)
        loss = max(0.0, fit.moments.value(answer.a, answer.b))
        model.result_ = replace(self._model.result_, objective=loss, returned_loss=loss)
        return model


def moment_refits(model: RegionRegressor, data: FitData) -> MomentRefits | None:
    """Return the short way to refits, or None where there is only the long one.

    It is there for squared predictability, with minimisers that are unique on all rows and
    features that are not learned.
    """
    hypothesis = as_minkowski(model.hypothesis_, data.rows.n_decisions)
    trainer = model.trainer
    plain = trainer == "auto" or (isinstance(trainer, Convex) and not trainer.robust)
    if (
        hypothesis is None
        or isinstance(hypothesis, GrownMinkowski)
        or not plain
        or not _is_squared(data.loss)
        or model.known is not None
        or data.features.transformer is not None
        or data.cost is None
    ):
        return None
    samples = data.minimized(model.sense == "max")
    if MinkowskiFit(hypothesis, samples, 1, np.random.default_rng(0)).n_tied:
        return None
    return MomentRefits(model, hypothesis, samples.whole())


def _is_squared(loss: Loss) -> bool:
    return isinstance(loss, Predictability) and loss.norm == "l2" and loss.squared
