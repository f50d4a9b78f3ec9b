"""Columns and tables as pictures are given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import find_columns

Array = NDArray[np.float64]


def find(wanted: Sequence[int | str] | None, names: Sequence[str], what: str) -> tuple[int, ...]:
    """Return the positions of columns that are named or numbered, each once; None means all."""
    if wanted is None:
        return tuple(range(len(names)))
    problems = Problems()
    items = [wanted] if isinstance(wanted, str | int) else list(wanted)
    found = find_columns(items, names, len(names), what, "in the model", problems)
    if not items:
        problems.add(f"{what}: no column is listed; list at least one")
    problems.raise_if_any(DataError, "plot")
    return tuple(dict.fromkeys(found))


def rows_of_decisions(values: Any, n: int) -> Array:
    """Return decisions as rows of n numbers; None is no row."""
    if values is None:
        return np.zeros((0, n))
    problems = Problems()
    rows = as_matrix(values, name="y", problems=problems, allow_nan=True, allow_1d=n == 1)
    if rows is not None and rows.shape[1] != n:
        problems.add(f"y has {rows.shape[1]} columns for {n} decisions")
    problems.raise_if_any(DataError, "plot")
    if rows is None:
        raise AssertionError("no decisions although no problem was found")
    return rows
