"""The description of a fitted model: the whole map from signals to regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, EmptySetError
from feaslearn.export.description import Description
from feaslearn.export.hypothesis_rows import describe_within
from feaslearn.export.known_rows import KnownRows
from feaslearn.export.naming import distinct_names
from feaslearn.hypotheses.constrained import constrained
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
        The last coefficients, as a function of the features.
    known : KnownRows, default=None
        The coefficients between: right-hand sides of what is known.
    """

    model: LearnedRegion
    description: Description
    scales: Callable[[Array], Array]
    known: KnownRows | None = None

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
        phi = columns = self.model.features_.transform(signals)
        regions, right_sides = self.model.hypothesis_, np.zeros(0)
        if self.known is not None and self.model.known_ is not None:
            limits = self.model.known_.at(signals)
            right_sides = self.known.coefficients(limits)
            columns = np.hstack([phi, limits.columns()])
            regions = constrained(regions, limits.shape)
        nothing = np.zeros((1, self.description.n))
        if regions.solve(self.model.theta_, columns, nothing).empty[0]:
            raise EmptySetError(
                "no decision satisfies all learned and known rows at this signal; "
                "model.region(signal) relaxes them as little as possible: export that"
            )
        return np.concatenate([phi[0], right_sides, self.scales(phi[0])])


def describe_model(model: LearnedRegion) -> ModelDescription:
    """Return the rows of a fitted model."""
    check_fitted(model)
    names, known = decision_names(model), None
    if model.known_ is not None:
        known = KnownRows.of(model.known_, names, model.features_.n_signals)
    features = distinct_names(model.features_.names)
    parts = describe_within(model.hypothesis_, model.theta_, names, features, known)
    return ModelDescription(model, *parts, known)
