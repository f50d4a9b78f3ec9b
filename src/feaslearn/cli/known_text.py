"""Known bounds and balances as texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.cli.columns import FitColumns
from feaslearn.costs import AffineCost
from feaslearn.exceptions import DataError, Problems
from feaslearn.known import Known
from feaslearn.messages import find_columns


def parse_known(
    lower: Sequence[str], upper: Sequence[str], balance: Sequence[str], columns: FitColumns
) -> Known | None:
    """Return what is known: bounds by numbers and columns, and what decisions sum up to.

    Parameters
    ----------
    lower, upper : sequence of str
        One number for all decisions, or for each a number, a column of the signals or ``none``.
    balance : sequence of str
        Columns of the signals and numbers whose sum is that of the decisions.
    columns : FitColumns
        The columns of the fit.

    Returns
    -------
    Known or None
        None where nothing is given.
    """
    if not lower and not upper and not balance:
        return None
    return Known(
        bounds=(_side(lower), _side(upper)) if lower or upper else None,
        balance=_total(balance, columns) if balance else None,
    )


def _side(items: Sequence[str]) -> float | list[object] | None:
    """Return one number, or a list of numbers, columns and None."""
    read = [None if item.lower() == "none" else _number(item) for item in items]
    if len(read) == 1 and isinstance(read[0], float):
        return read[0]
    return list(read) if read else None


def _number(item: str) -> float | str:
    try:
        return float(item)
    except ValueError:
        return item


def _total(items: Sequence[str], columns: FitColumns) -> tuple[np.ndarray, AffineCost]:
    """Return the row of ones and the sum of columns and numbers."""
    names = columns.signals.columns
    read = [_number(item) for item in items]
    wanted = [item for item in read if isinstance(item, str)]
    problems = Problems()
    found = find_columns(wanted, names, len(names), "--balance", "among the signals", problems)
    problems.raise_if_any(DataError, "fit")
    slopes = np.zeros((1, len(names)))
    slopes[0, list(found)] = 1.0
    constant = sum(item for item in read if isinstance(item, float))
    return np.ones(columns.decisions.shape[1]), AffineCost([float(constant)], slopes)
