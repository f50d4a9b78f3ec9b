"""What a fitted model says at one signal: its region and what is minimised there."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import FeaslearnWarning
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import Reader, check_signals, one_row

Array = NDArray[np.float64]


class AtSignal(NamedTuple):
    """A region, what is minimised in it, and whether it had to be relaxed to have a point.

    ``cost`` is None where the model knows none at this signal.
    """

    region: Region
    cost: Array | None
    relaxed: bool


def at_signal(model: RegionRegressor, signal: Any, costs: ArrayLike | None = None) -> AtSignal:
    """Return the region of a model at a signal, and the cost; maximised ones with a minus."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", FeaslearnWarning)
        # Rows of numbers have been put in the order of the names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        region = model.region(signal)
        signals = check_signals(model, one_row(signal))
    # All that a region warns of is that no decision satisfies everything.
    relaxed = any(issubclass(warning.category, FeaslearnWarning) for warning in said)
    reader: Reader = vars(model)["_reader"]
    cost = None
    if costs is not None or model.cost_ is not None:
        row = None if costs is None else np.atleast_2d(np.asarray(costs, dtype=float))
        cost = reader.prices(signals, model.cost_, row)[0]
    return AtSignal(region, cost, relaxed)
