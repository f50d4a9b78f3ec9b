"""The learned region at one signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError
from feaslearn.hypotheses.constrained import Constrained, constrained, half_spaces_of
from feaslearn.region import Region
from feaslearn.regressor.outputs import warn_of_empty_regions
from feaslearn.regressor.reader import Reader, check_signals, one_row
from feaslearn.sets.affine_image import AffineImage

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
    phi, n, theta = model.features_.transform(signals), reader.n_decisions, model.theta_
    said = model.hypothesis_.account(theta, phi[0], reader.names)
    account = [text + _where(model.features_.names, phi[0]) for text in said]
    if model.known_ is None:
        _, empty = model.hypothesis_.solve(theta, phi, np.zeros((1, n)))
        warn_of_empty_regions(empty)
        image = model.hypothesis_.image(theta, phi[0], n)
        return Region(image, reader.names, account)
    limits = model.known_.at(signals)
    columns = np.hstack([phi, limits.columns()])
    regions = constrained(model.hypothesis_, limits.shape)
    decisions, empty = regions.solve(theta, columns, np.zeros((1, n)))
    warn_of_empty_regions(empty, limits, decisions)
    if empty[0]:
        # The nearest decision is all there is.
        return Region(AffineImage.point(decisions[0]), reader.names, account)
    learned = regions.learned_image if isinstance(regions, Constrained) else regions.image
    image = learned(theta, columns[0], n)
    return Region(image, reader.names, account, known=half_spaces_of(limits))


def _where(names: Sequence[str], phi: Array) -> str:
    """Say at which features: " when demand is 6.1"."""
    known = [f"{name} is {value:.4g}" for name, value in zip(names[1:], phi[1:], strict=True)]
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f" when {', '.join(known[:NAMED])}{more}" if known else ""
