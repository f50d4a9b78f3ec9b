"""Predictions for rows that a model was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import shards
from feaslearn.losses import Objective

Array = NDArray[np.float64]


def out_of_fold(
    objective: Objective, fold: NDArray[np.intp], fit: Callable[[Objective], Array]
) -> Array:
    """Return decisions (N, n), those of each fold by parameters fitted to all others.

    Parameters
    ----------
    objective : Objective
        Hypothesis and samples.
    fold : ndarray of shape (N,)
        The fold of each sample, from zero on.
    fit : callable
        Returns the parameters for an objective.

    Returns
    -------
    ndarray of shape (N, n)
        Decisions.
    """
    whole = objective.whole()
    guesses = np.empty(whole.decisions.shape)
    for left_out in range(int(fold.max()) + 1):
        outside = fold == left_out
        inner = replace(objective, shards=list(shards(whole.rows(~outside))))
        inner = inner.within(f"fold {left_out}")
        outer = whole.rows(outside)
        guesses[outside] = objective.hypothesis.predict(fit(inner), outer.features, outer.costs)
    return guesses
