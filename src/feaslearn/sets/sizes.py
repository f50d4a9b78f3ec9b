"""How large numbers are, which tolerances are relative to, and what is too many or too far."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Vertices that are listed unless a caller asks for more.
MOST_VERTICES = 10_000
#: How far outside a set a point may lie and still count as one of it.
INSIDE = 1e-9
#: A spread of a smaller share of the numbers than this is their rounding.
CONSTANT = 1e-12


def size_of(*values: ArrayLike) -> float:
    """Return the largest absolute value, but at least one."""
    return max(float(np.max(np.abs(each), initial=1.0)) for each in values)


def extent_of(*values: ArrayLike) -> float:
    """Return the largest absolute value, however small; one where all are zero."""
    return float(divisors(max(np.max(np.abs(each), initial=0.0) for each in values)))


def divisors(sizes: ArrayLike) -> Array:
    """Return sizes to divide by: one where there is nothing to divide."""
    numbers = np.asarray(sizes, dtype=float)
    return np.where(numbers == 0.0, 1.0, numbers)


def powers_of_two(sizes: ArrayLike) -> Array:
    """Return the nearest powers of two, units that change no digit; one where there is no size."""
    return np.asarray(np.exp2(np.round(np.log2(divisors(sizes)))))


def spread_or_size(table: ArrayLike, *spreads: float) -> float:
    """Return the first of the spreads of a table that is one, or the size of its numbers."""
    size = float(np.nanmax(np.abs(table)))
    return next((spread for spread in spreads if spread > CONSTANT * size), size or 1.0)
