"""What generators cost, as far as that is linear."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.datasets._arguments import FloatArray
from feaslearn.exceptions import DataError
from feaslearn.messages import list_first

PIECEWISE, POLYNOMIAL = 1, 2
MOST = 10**6
FIRST = 4
"""The column of ``mpc.gencost`` where the numbers of a cost begin."""


class GeneratorCosts(NamedTuple):
    """``cost(p) = constant + slope p``, in money for an hour, power in MW.

    Parameters
    ----------
    constant, slope : ndarray of shape (G,)
        Both numbers of each generator. Where the true cost is no line, the line that touches it
        in the middle of the generator's range (for pieces: that joins the ends).
    curved : ndarray of bool, shape (G,)
        Whether the true cost is no line.
    """

    constant: FloatArray
    slope: FloatArray
    curved: NDArray[np.bool_]


def read_costs(gencost: FloatArray, lower: FloatArray, upper: FloatArray) -> GeneratorCosts:
    """Read the costs of generators from the rows of ``mpc.gencost``.

    Parameters
    ----------
    gencost : ndarray of shape (G, columns)
        One row for each generator; what follows the numbers of a row does not count.
    lower, upper : ndarray of shape (G,)
        The limits of each generator.

    Returns
    -------
    GeneratorCosts
        The lines.

    Raises
    ------
    DataError
        If a cost overflows.
    """
    constant, slope = np.zeros(len(gencost)), np.zeros(len(gencost))
    curved = np.zeros(len(gencost), dtype=bool)
    middles = 0.5 * (lower + upper)
    with np.errstate(over="ignore", invalid="ignore"):
        for i, row in enumerate(gencost):
            count = int(row[3])
            if row[0] == PIECEWISE:
                points = row[FIRST : FIRST + 2 * count].reshape(count, 2)
                slopes = np.diff(points[:, 1]) / np.diff(points[:, 0])
                slope[i] = (points[-1, 1] - points[0, 1]) / (points[-1, 0] - points[0, 0])
                constant[i] = points[0, 1] - slope[i] * points[0, 0]
                curved[i] = not np.allclose(slopes, slope[i])
                continue
            # The highest power comes first, in the file and in numpy.poly1d.
            cost = np.poly1d(row[FIRST : FIRST + count])
            curved[i] = cost.order > 1
            at = float(middles[i]) if curved[i] else 0.0
            slope[i] = cost.deriv()(at)
            constant[i] = cost(at) - slope[i] * at
    wrong = np.flatnonzero(~np.isfinite(constant + slope))
    if len(wrong):
        places = [f"row {i + 1}" for i in wrong[:5]]
        raise DataError(
            f"gencost: numbers too large to count with in {list_first(places, len(wrong))}"
        )
    return GeneratorCosts(constant, slope, curved)


def describe_wrong_costs(gencost: FloatArray) -> list[str]:
    """Say which rows of ``mpc.gencost`` cannot be read.

    Parameters
    ----------
    gencost : ndarray of shape (G, columns)
        One row for each generator.

    Returns
    -------
    list of str
        One text for each of them.
    """
    wrong = []
    for i, row in enumerate(gencost):
        # A number far beyond the columns is none that can be counted with.
        if row[0] not in (PIECEWISE, POLYNOMIAL) or not 1 <= row[3] <= MOST:
            wrong.append(f"row {i + 1}: model {row[0]:g} with {row[3]:g} numbers")
            continue
        width = int(row[3]) * (2 if row[0] == PIECEWISE else 1)
        numbers = row[FIRST : FIRST + width]
        if len(numbers) < width or not np.isfinite(numbers).all():
            wrong.append(f"row {i + 1}: {width} numbers are announced, fewer are there")
        elif row[0] == PIECEWISE and (row[3] < 2 or (np.diff(numbers[::2]) <= 0).any()):
            wrong.append(f"row {i + 1}: the points of a cost in pieces do not increase")
    return wrong
