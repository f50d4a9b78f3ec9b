"""Signals and decisions that are in memory or look like it: arrays, frames, memory maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.matrix import column_names, nested_columns
from feaslearn.data.sources.table_source import Block, TableSource, Task, cut
from feaslearn.exceptions import DataError


class ArraySource(TableSource):
    """A pair (X, y): nothing is copied, numbers of single precision stay so.

    Parameters
    ----------
    X, y : array-like or frame
        Signals (N, K) and decisions (N, n) or (N,).
    place : str
        What messages call the pair.
    first : int
        The number of the first row in the whole source.
    """

    def __init__(self, X: Any, y: Any, place: str = "the arrays", first: int = 0) -> None:
        self._place, self._first = place, first
        signals, decisions = columns_of(X, place), columns_of(y, place)
        if len(signals[0]) != len(decisions[0]):
            raise DataError(
                f"Chunks: {place} have {len(signals[0])} rows of signals and {len(decisions[0])} "
                "of decisions; give one row of each for every sample"
            )
        self._columns = [*signals, *decisions]
        self.labels = pair_labels(X, y, len(signals), len(decisions))
        self.named = column_names(X) is not None
        self.n_signals, self.n_rows = len(signals), len(signals[0])

    def block(self, columns: Sequence[int]) -> Block:
        """Return all rows of some columns."""
        return Block([self._columns[j] for j in columns], self._first, self._place, 0)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each block."""
        for block in cut(self.block(columns), rows):
            yield partial(_only, block)


def pair_labels(X: Any, y: Any, n_signals: int, n_decisions: int) -> tuple[str, ...]:
    """Return the names of signals and decisions: those of the frames, or s0, s1, ..., x0, ..."""
    signals = column_names(X) or tuple(f"s{j}" for j in range(n_signals))
    return signals + (column_names(y) or tuple(f"x{j}" for j in range(n_decisions)))


def columns_of(table: Any, place: str) -> list[NDArray[Any]]:
    """Return the columns of an array or frame; of an array, as views."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        labels = list(table.columns)
        if not labels:
            raise DataError(f"Chunks: {place} hold a frame without columns")
        refuse_structures(table, place)
        # By their places, where the package can: two columns may have the same name.
        placed = hasattr(table, "iloc")
        columns = (table.iloc[:, j] if placed else table[name] for j, name in enumerate(labels))
        return [np.asarray(column.to_numpy()) for column in columns]
    try:
        array = np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table)
    except ValueError as error:
        raise DataError(f"Chunks: {place} hold rows that are not of the same length") from error
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise DataError(
            f"Chunks: {place} hold an array of shape {array.shape}; rows are samples, columns are "
            "signals or decisions, and there is at least one of each"
        )
    return [array] if array.ndim == 1 else list(array.T)


def refuse_structures(frame: Any, place: str) -> None:
    """Refuse columns whose rows hold several values each."""
    for name in nested_columns(frame):
        raise DataError(f"{place}: column {name!r} holds several values in a row")


def _only(block: Block) -> tuple[Block]:
    return (block,)
