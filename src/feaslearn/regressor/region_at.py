"""The learned region at one signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError
from feaslearn.region import Region
from feaslearn.regressor.outputs import warn_of_empty_regions
from feaslearn.regressor.reader import Reader, check_signals, one_row

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

Array = NDArray[np.float64]

#: Features that an account names.
NAMED = 6


def region_at(model: RegionRegressor, reader: Reader, signal: ArrayLike) -> Region:
    """Return the region of a fitted model at a signal, or a frame of one row."""
    signals = check_signals(model, one_row(signal))
    if len(signals) != 1:
        raise DataError(f"region: {len(signals)} signals were given; give one")
    phi = model.features_.transform(signals)[0]
    hypothesis, theta = model.hypothesis_, model.theta_
    nothing = np.zeros((1, reader.n_decisions))
    warn_of_empty_regions(hypothesis.solve(theta, phi[None], nothing).empty)
    image = hypothesis.image(theta, phi, reader.n_decisions)
    region = Region(image, reader.outputs.names)
    where = _where(model.features_.names, phi)
    said = (text + where for text in hypothesis.account(theta, phi, region.names))
    return Region(image, region.names, tuple(said))


def _where(names: Sequence[str], phi: Array) -> str:
    """Say at which features: " when demand is 6.1"."""
    known = [f"{name} is {value:.4g}" for name, value in zip(names[1:], phi[1:], strict=True)]
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f" when {', '.join(known[:NAMED])}{more}" if known else ""
