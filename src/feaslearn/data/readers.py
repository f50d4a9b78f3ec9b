"""Readers of the sources that users pass: functions, arrays, blocks of Dask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.matrix import column_names, nested_columns
from feaslearn.data.parquet import (
    ParquetSource,
    Piece,
    TableSource,
    Task,
    cut,
)
from feaslearn.exceptions import DataError, DataTypeError


def open_source(source: Any) -> TableSource:
    """Return the source behind what a user passed."""
    paths = source if isinstance(source, list) and source else [source]
    if all(isinstance(path, str | os.PathLike) for path in paths):
        return ParquetSource(paths)
    if isinstance(source, tuple) and len(source) == 2:
        n_rows = len(_Columns.of(source, "the arrays").columns[0])
        return IteratedSource(lambda: [source], "the arrays", n_rows)
    if isinstance(source, Iterator):
        raise DataTypeError(
            f"Chunks: a {type(source).__name__} can be read only once, and a fit goes through the "
            "data several times; give a function that returns a fresh iterator"
        )
    if callable(source):
        return IteratedSource(source)
    raise DataTypeError(
        f"Chunks: cannot read a {type(source).__name__}; pass paths of Parquet files, a pair "
        "(X, y), or a function that returns an iterator of pairs (X, y) or of frames"
    )


# Dask arrays; dask itself is never imported here.


def dask_blocks(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Cut a pair of dask arrays into blocks of rows, those of X."""
    if np.isnan([*X.shape, *y.shape]).any():
        raise DataError(
            "Chunks: the sizes of the dask arrays are not known; call compute_chunk_sizes() on them"
        )
    if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y):
        raise DataError(
            f"Chunks: dask arrays of shapes {X.shape} and {y.shape}; give one row of signals "
            "and of decisions for every sample"
        )
    X = X.rechunk({1: -1})
    y = y.rechunk({0: X.chunks[0]} | ({1: -1} if y.ndim == 2 else {}))
    return [(X.blocks[i], y.blocks[i]) for i, size in enumerate(X.chunks[0]) if size]


# Arrays and frames, in memory or made one after the other.


class IteratedSource(TableSource):
    """A function that returns an iterator of pairs or frames, called once for every pass."""

    def __init__(
        self,
        function: Callable[[], Iterable[Any]],
        place: str = "chunk {}",
        n_rows: int | None = None,
    ) -> None:
        self._function, self._place, self.n_rows = function, place, n_rows
        items = self._items()
        item = next(items, None)
        if item is None:
            raise DataError("Chunks: the source is empty, it has no chunk")
        if self._items() is items:
            raise DataError(
                "Chunks: the function returned the same iterator twice, which can be read only "
                "once; give a function that returns a fresh iterator"
            )
        found = _Columns.of(item, place.format(0))
        self.labels, self.n_signals, self.named = found.labels, found.n_signals, found.named

    def _items(self) -> Iterator[Any]:
        made = self._function()
        if not isinstance(made, Iterable):
            raise DataError(
                f"Chunks: the function returned a {type(made).__name__}, not an iterator of pairs "
                "(X, y) or of frames"
            )
        return iter(made)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each piece of each item; items are made here, one after the other."""
        first = 0
        for number, item in enumerate(self._items()):
            place = self._place.format(number)
            found = _Columns.of(item, place)
            if found.labels != self.labels:
                raise DataError(
                    f"Chunks: {place} has the columns {', '.join(found.labels)}; the first has "
                    f"{', '.join(self.labels)}, in this order"
                )
            whole = Piece([found.columns[j] for j in columns], first, place, 0)
            for piece in cut(whole, rows):
                yield partial(iter, [piece])
            first += whole.n_rows


class _Columns(NamedTuple):
    """The columns of a pair or a frame, as views, with their names."""

    columns: list[NDArray[Any]]
    labels: tuple[str, ...]
    n_signals: int | None = None
    named: bool = True

    @classmethod
    def of(cls, item: Any, place: str) -> _Columns:
        """Take a pair or a frame apart."""
        if not isinstance(item, tuple) or len(item) != 2:
            labels = column_names(item) if hasattr(item, "columns") else None
            if labels is None:
                raise DataError(
                    f"Chunks: {place}: a {type(item).__name__}, neither a pair (X, y) nor a "
                    "frame with names of columns"
                )
            return cls(_columns_of(item, place), labels)
        signals, decisions = (_columns_of(part, place) for part in item)
        if len(signals[0]) != len(decisions[0]):
            raise DataError(
                f"Chunks: {place}: {len(signals[0])} rows of signals and {len(decisions[0])} "
                "of decisions; give one row of each for every sample"
            )
        names = column_names(item[0])
        labels = names or tuple(f"s{j}" for j in range(len(signals)))
        labels += column_names(item[1]) or tuple(f"x{j}" for j in range(len(decisions)))
        return cls([*signals, *decisions], labels, len(signals), names is not None)


def _columns_of(table: Any, place: str) -> list[NDArray[Any]]:
    """Return the columns of an array or frame; of an array, as views."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        labels = list(table.columns)
        if not labels:
            raise DataError(f"Chunks: {place}: a frame without columns")
        refuse_structures(table, place)
        # By position, where the package can: two columns may have the same name.
        placed = hasattr(table, "iloc")
        columns = (table.iloc[:, j] if placed else table[name] for j, name in enumerate(labels))
        return [np.asarray(column.to_numpy()) for column in columns]
    try:
        array = np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table)
    except ValueError as error:
        raise DataError(f"Chunks: {place}: the rows do not all have the same length") from error
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise DataError(
            f"Chunks: {place}: an array of shape {array.shape}; rows are samples, columns are "
            "signals or decisions, and there is at least one of each"
        )
    return [array] if array.ndim == 1 else list(array.T)


def refuse_structures(frame: Any, place: str) -> None:
    """Refuse columns whose rows hold several values each."""
    for name in nested_columns(frame):
        raise DataError(f"{place}: column {name!r} holds several values in a row")
