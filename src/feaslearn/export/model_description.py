"""The description of a fitted model: the whole map from signals to regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, EmptySetError
from feaslearn.export.description import Description
from feaslearn.export.hypothesis_rows import describe
from feaslearn.export.naming import distinct_names
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.regressor.reader import check_fitted, check_signals, decision_names, one_row

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelDescription:
    """The rows of a fitted model, and what their coefficients are at a signal.

    Parameters
    ----------
    model : LearnedRegion
        The fitted model.
    description : Description
        Its rows.
    scales : callable
        The coefficients after the features, as a function of these.
    """

    model: LearnedRegion
    description: Description
    scales: Callable[[Array], Array]

    def coefficients(self, signal: ArrayLike) -> Array:
        """Return the coefficients at a signal, or a frame of one row.

        Raises
        ------
        EmptySetError
            Where the rows of the model leave no point.
        """
        signals = check_signals(self.model, one_row(signal))
        if len(signals) != 1:
            raise DataError(f"{len(signals)} signals were given; give one")
        phi = self.model.features_.transform(signals)[0]
        nothing = np.zeros((1, self.description.n))
        if self.model.hypothesis_.solve(self.model.theta_, phi[None], nothing).empty[0]:
            raise EmptySetError(
                "the region is empty at this signal, which is unlike those of the fit; "
                "model.region(signal) relaxes it as little as possible: export that"
            )
        return np.concatenate([phi, self.scales(phi)])


def describe_model(model: LearnedRegion) -> ModelDescription:
    """Return the rows of a fitted model."""
    check_fitted(model)
    features = distinct_names(model.features_.names)
    parts = describe(model.hypothesis_, model.theta_, decision_names(model), features)
    return ModelDescription(model, *parts)
