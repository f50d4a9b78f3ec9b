"""Readers of the sources that users pass: datasets, lazy frames, Dask, functions, arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.matrix import column_names, nested_columns
from feaslearn.data.parquet import (
    ParquetSource,
    Piece,
    TableSource,
    Task,
    arrow_column,
    cut,
    reading,
)
from feaslearn.exceptions import DataError, DataTypeError

#: Before this version `collect_batches` was missing, or swallowed errors.
OLDEST = (1, 37)


def open_source(source: Any) -> TableSource:
    """Return the source behind what a user passed."""
    if isinstance(source, str | os.PathLike):
        return ParquetSource([source])
    if (
        isinstance(source, list)
        and source
        and all(isinstance(s, str | os.PathLike) for s in source)
    ):
        return ParquetSource(source)
    if isinstance(source, tuple) and len(source) == 2:
        dask = [_package(part) == "dask" for part in source]
        if any(dask) and not all(dask):
            raise DataTypeError("Chunks: X and y are not both dask arrays; make both the same")
        return DaskArraySource(*source) if all(dask) else ArraySource(*source)
    found = _of_package(source)
    if found is not None:
        return found
    if isinstance(source, Iterator):
        raise DataTypeError(
            f"Chunks: a {type(source).__name__} can be read only once, and a fit goes through the "
            "data several times; give a function that returns a fresh iterator"
        )
    if callable(source):
        return IteratedSource(source)
    raise DataTypeError(
        f"Chunks: cannot read a {type(source).__name__}; pass paths of Parquet files, a pair "
        "(X, y), a pyarrow dataset, a polars LazyFrame, a dask frame, or a function that returns "
        "an iterator of pairs (X, y) or of frames"
    )


def _of_package(source: Any) -> TableSource | None:
    """Return the source behind a dataset, a table or a lazy frame, if it is one."""
    package, kind = _package(source), type(source).__name__
    if package == "pyarrow" and hasattr(source, "get_fragments"):
        return DatasetSource(source)
    if package == "pyarrow" and kind == "Table":
        return DatasetSource(_dataset(source))
    if package == "polars" and kind == "LazyFrame":
        return LazyFrameSource(source)
    if package == "dask" and hasattr(source, "partitions") and hasattr(source, "columns"):
        return DaskFrameSource(source)
    return None


def _package(source: Any) -> str:
    """Return the package that a thing is from; to ask costs no import."""
    return type(source).__module__.partition(".")[0]


def _dataset(table: Any) -> Any:
    import pyarrow.dataset as ds

    return ds.dataset(table)


# Datasets and tables of pyarrow.


class DatasetSource(TableSource):
    """The fragments of a dataset, one after the other."""

    def __init__(self, dataset: Any) -> None:
        with reading("the dataset"):
            self.labels = tuple(dataset.schema.names)
        self._fragments: list[tuple[Any, int, str]] = []
        first = 0
        for number, fragment in enumerate(dataset.get_fragments()):
            place = getattr(fragment, "path", "") or f"fragment {number}"
            self._fragments.append((fragment, first, place))
            with reading(place):
                first += fragment.count_rows()
        self.n_rows = first
        if not first:
            raise DataError("Chunks: the dataset has no rows")

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each fragment."""
        names = [self.labels[j] for j in columns]
        for fragment, first, place in self._fragments:
            yield partial(_pieces, fragment, first, place, names, rows)


def _pieces(fragment: Any, first: int, place: str, names: list[str], rows: int) -> Iterator[Piece]:
    row = 0
    with reading(place):
        for batch in fragment.to_batches(
            columns=names, batch_size=rows, batch_readahead=1, use_threads=False
        ):
            if batch.num_rows:
                arrays = [arrow_column(batch.column(name)) for name in names]
                yield Piece(arrays, first + row, place, row)
            row += batch.num_rows


# Lazy frames of polars.


class LazyFrameSource(TableSource):
    """A query whose result is never in memory as a whole; each pass runs it again."""

    def __init__(self, frame: Any) -> None:
        _refuse_old_polars()
        self._frame = frame
        with _asking():
            self.labels = tuple(frame.collect_schema().names())

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each piece of the result; polars makes them."""
        names = [self.labels[j] for j in columns]
        first = 0
        query = self._frame.select(names)
        with _asking():
            for batch in query.collect_batches(chunk_size=rows, maintain_order=True):
                refuse_structures(batch, "the lazy frame")
                arrays = [batch[name].to_numpy() for name in names]
                piece = Piece(arrays, first, "the lazy frame", first)
                first += batch.height
                if batch.height:
                    yield partial(cut, piece, rows)


def _refuse_old_polars() -> None:
    """Refuse versions that cannot read in pieces, or end without a word where a file is damaged."""
    import polars as pl

    if tuple(int(part) for part in pl.__version__.split(".")[:2]) < OLDEST:
        raise DataError(
            f"Chunks: polars {pl.__version__} does not hand over a lazy frame in pieces, or leaves "
            f"out what it cannot read; install polars {'.'.join(map(str, OLDEST))} or newer, or "
            "write the frame with sink_parquet and pass the file"
        )


@contextmanager
def _asking() -> Iterator[None]:
    """Make errors of polars ours: a file that the query reads may be damaged."""
    import polars as pl

    try:
        yield
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"the lazy frame: cannot be read: {error}") from error


# Dask frames and arrays; dask itself is never imported here.


class DaskFrameSource(TableSource):
    """The partitions of a dask frame, computed one after the other."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.labels = tuple(str(label) for label in frame.columns)

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of the first row of each partition: each must be read."""
        sizes = self._frame.map_partitions(len).compute(scheduler="synchronous")
        return [0, *np.cumsum(np.asarray(sizes)).tolist()]

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each partition."""
        frame = self._frame[[self._frame.columns[j] for j in columns]]
        for i, first in enumerate(self._firsts[:-1]):
            yield partial(_partition, frame.partitions[i], first, i, rows)


class DaskArraySource(TableSource):
    """A pair (X, y) of dask arrays, by their blocks of rows."""

    def __init__(self, X: Any, y: Any) -> None:
        if np.isnan([*X.shape, *y.shape]).any():
            raise DataError(
                "Chunks: the sizes of the dask arrays are not known; call compute_chunk_sizes() on "
                "them"
            )
        if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y):
            raise DataError(
                f"Chunks: dask arrays of shapes {X.shape} and {y.shape}; give one row of signals "
                "and of decisions for every sample"
            )
        self._X = X.rechunk({1: -1})
        self._y = y.rechunk({0: self._X.chunks[0]} | ({1: -1} if y.ndim == 2 else {}))
        n_decisions = y.shape[1] if y.ndim == 2 else 1
        self.labels, self.named = pair_labels(None, None, X.shape[1], n_decisions), False
        self.n_signals, self.n_rows = int(X.shape[1]), int(X.shape[0])

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each block of rows."""
        first = 0
        for i, size in enumerate(self._X.chunks[0]):
            if size:
                pair = (self._X.blocks[i], self._y.blocks[i])
                yield partial(_piece, pair, first, i, tuple(columns), rows)
            first += int(size)


def _partition(partition: Any, first: int, number: int, rows: int) -> Iterator[Piece]:
    frame = partition.compute(scheduler="synchronous")
    if len(frame):
        place = f"partition {number}"
        yield from cut(Piece(columns_of(frame, place), first, place, 0), rows)


def _piece(
    pair: tuple[Any, Any], first: int, number: int, columns: tuple[int, ...], rows: int
) -> Iterator[Piece]:
    place = f"block {number}"
    tables = [each.compute(scheduler="synchronous") for each in pair]
    found = [column for table in tables for column in columns_of(table, place)]
    yield from cut(Piece([found[j] for j in columns], first, place, 0), rows)


# Chunks that a function of the user makes.


class IteratedSource(TableSource):
    """A function that returns an iterator of chunks, called once for every pass."""

    def __init__(self, function: Callable[[], Iterable[Any]]) -> None:
        self._function = function
        items = self._items()
        item = next(items, None)
        if item is None:
            raise DataError("Chunks: the iterator that the function returned is empty")
        if self._items() is items:
            raise DataError(
                "Chunks: the function returned the same iterator twice, which can be read only "
                "once; give a function that returns a fresh iterator"
            )
        if isinstance(item, tuple):
            pair = _pair(item, 0, 0)
            self.labels, self.n_signals, self.named = pair.labels, pair.n_signals, pair.named
        else:
            self.labels = _frame_names(item, 0)

    def _items(self) -> Iterator[Any]:
        made = self._function()
        if not isinstance(made, Iterable):
            raise DataError(
                f"Chunks: the function returned a {type(made).__name__}, not an iterator of pairs "
                "(X, y) or of frames"
            )
        return iter(made)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each item; they are made here, one after the other."""
        first = 0
        for number, item in enumerate(self._items()):
            piece = self._piece(item, number, first, columns)
            first += piece.n_rows
            yield partial(cut, piece, rows)

    def _piece(self, item: Any, number: int, first: int, columns: Sequence[int]) -> Piece:
        if self.n_signals is not None:
            pair = _pair(item, number, first)
            labels, piece = pair.labels, pair.piece
        else:
            labels, place = _frame_names(item, number), f"chunk {number}"
            tables = columns_of(item, place)
            if labels == self.labels:
                return Piece([tables[j] for j in columns], first, place, 0)
        if labels != self.labels:
            raise DataError(
                f"Chunks: chunk {number} has the columns {', '.join(labels)}; the first has "
                f"{', '.join(self.labels)}, in this order"
            )
        return piece(columns)


def _pair(item: Any, number: int, first: int) -> ArraySource:
    if not isinstance(item, tuple) or len(item) != 2:
        raise DataError(
            f"Chunks: chunk {number} is a {type(item).__name__}; the first one was a pair (X, y), "
            "so all must be"
        )
    return ArraySource(*item, place=f"chunk {number}", first=first)


def _frame_names(item: Any, number: int) -> tuple[str, ...]:
    names = column_names(item) if hasattr(item, "columns") else None
    if names is None:
        raise DataError(
            f"Chunks: chunk {number} is a {type(item).__name__}, neither a pair (X, y) nor a frame "
            "with names of columns"
        )
    return names


# Signals and decisions that are in memory or look like it: arrays, frames, memory maps.


class ArraySource(TableSource):
    """A pair (X, y): nothing is copied, numbers of single precision stay so."""

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

    def piece(self, columns: Sequence[int]) -> Piece:
        """Return all rows of some columns."""
        return Piece([self._columns[j] for j in columns], self._first, self._place, 0)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each piece."""
        for piece in cut(self.piece(columns), rows):
            yield partial(_only, piece)


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
        # By position, where the package can: two columns may have the same name.
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


def _only(piece: Piece) -> tuple[Piece]:
    return (piece,)
