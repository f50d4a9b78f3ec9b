"""Rows of a sparse program, put together from parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.network.integer_program import FloatArray, Rows


class RowBuilder:
    """Collects rows ``lower <= sum of value * variable <= upper``."""

    def __init__(self) -> None:
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._entries: list[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]] = []
        self._count = 0

    def add(
        self, lower: ArrayLike, upper: ArrayLike, count: int, *parts: tuple[ArrayLike, ArrayLike]
    ) -> None:
        """Add ``count`` rows; each part has a variable (or one for each row) and its factor."""
        rows = np.arange(self._count, self._count + count)
        for variables, values in parts:
            spread = np.broadcast_arrays(rows, np.asarray(variables), np.asarray(values, float))
            self._entries.append((spread[0], spread[1].astype(np.int64), spread[2]))
        self._bounds(lower, upper, count)

    def add_sum(
        self, lower: float, upper: float, *parts: tuple[NDArray[np.int64], ArrayLike]
    ) -> None:
        """Add one row; each part has some variables and their factors."""
        for variables, values in parts:
            rows = np.full(len(variables), self._count)
            factors = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(variables),))
            self._entries.append((rows, variables, factors))
        self._bounds(lower, upper, 1)

    def _bounds(self, lower: ArrayLike, upper: ArrayLike, count: int) -> None:
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), (count,)))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), (count,)))
        self._count += count

    def rows(self) -> Rows:
        """Return what was collected."""
        return Rows(
            np.concatenate(self._lower),
            np.concatenate(self._upper),
            np.concatenate([entry[0] for entry in self._entries]),
            np.concatenate([entry[1] for entry in self._entries]),
            np.concatenate([entry[2] for entry in self._entries]),
        )
