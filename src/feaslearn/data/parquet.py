"""Parquet files and datasets of pyarrow, read piece by piece; what every source of rows answers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import (
    DataError,
    FeaslearnError,
    FileError,
    MemoryLimitError,
    MissingExtraError,
)
from feaslearn.messages import list_first

#: Bytes that are read from a file at a time.
BUFFER = 2**20


# What every source of rows answers.


class TableSource(ABC):
    """Columns with names, whose rows can be gone through again and again."""

    #: Names of all columns.
    labels: tuple[str, ...]
    #: How many of them, from the first on, are signals, where the source says so itself.
    n_signals: int | None = None
    #: Whether the names of the signals are those of the user.
    named: bool = True
    #: Number of all rows, where it is known without reading.
    n_rows: int | None = None

    def check(self, columns: Sequence[int], memory: float) -> None:
        """Refuse columns that could not be read within so many bytes; here nothing is known."""
        del columns, memory

    @abstractmethod
    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield the tasks of one pass over some columns, in pieces of at most ``rows`` rows."""


class ParquetSource(TableSource):
    """Files with the same columns, one after the other."""

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        pq = parquet()
        self.files = [file for path in paths for file in _found(os.fspath(path))]
        self._metadata: list[Any] = []
        for file in self.files:
            with reading(file, "not a Parquet file that can be read"):
                self._metadata.append(pq.read_metadata(file))
                labels = tuple(self._metadata[-1].schema.to_arrow_schema().names)
            self._check_labels(file, labels)
        self.n_rows = sum(metadata.num_rows for metadata in self._metadata)
        if not self.n_rows:
            raise DataError(f"Chunks: there are no rows in {list_first(self.files[:3], 0)}")

    @property
    def name(self) -> str:
        """What messages call all of them."""
        more = len(self.files) - 1
        return self.files[0] + (f" and {more} more" if more else "")

    def _check_labels(self, file: str, labels: tuple[str, ...]) -> None:
        """Refuse repeated columns, and files without those of the first, whose order counts."""
        if file == self.files[0]:
            self.labels = labels
        twice = [label for label, times in Counter(labels).items() if times > 1]
        if twice:
            raise DataError(f"{file}: there is more than one column {twice[0]!r}; rename them")
        missing = [label for label in self.labels if label not in labels]
        if missing:
            raise DataError(
                f"{file}: has no column {list_first(list(map(repr, missing[:5])), len(missing))}, "
                f"unlike {self.files[0]}"
            )

    def check(self, columns: Sequence[int], memory: float) -> None:
        """Refuse columns that are not numbers, and row groups that do not fit into memory."""
        names = [self.labels[j] for j in columns]
        for file, metadata in zip(self.files, self._metadata, strict=True):
            _check_types(file, metadata.schema.to_arrow_schema(), names)
            _check_row_groups(file, metadata, names, memory)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each row group."""
        names, first = [self.labels[j] for j in columns], 0
        for file, metadata in zip(self.files, self._metadata, strict=True):
            row = 0
            for group in range(metadata.num_row_groups):
                batches = partial(_row_group, file, group, names, rows)
                yield partial(_pieces, batches, f"{file}, row group {group}", file, first, row)
                count = metadata.row_group(group).num_rows
                first, row = first + count, row + count


def _row_group(file: str, group: int, names: list[str], rows: int) -> Iterator[Any]:
    """Yield the batches of a row group."""
    with parquet().ParquetFile(file, buffer_size=BUFFER, pre_buffer=False) as opened:
        yield from opened.iter_batches(rows, [group], names, use_threads=False)


def _pieces(
    batches: Callable[[], Iterable[Any]], read: str, place: str, first: int, row: int = 0
) -> Iterator[Piece]:
    """Yield batches of pyarrow as pieces; an error names what is ``read``."""
    with reading(read):
        for batch in batches():
            if batch.num_rows:
                yield Piece([_array(column) for column in batch.columns], first, place, row)
            first, row = first + batch.num_rows, row + batch.num_rows


def _array(column: Any) -> np.ndarray[Any, Any]:
    """Return a column as an array, without a copy where there is nothing to convert."""
    kind = str(column.type)
    if kind.startswith("decimal") or kind == "bool":
        column = column.cast("float64")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _check_types(file: str, schema: Any, names: Sequence[str]) -> None:
    """Refuse columns whose values have no fixed size: a few bytes can stand for very many."""
    import pyarrow.types as types

    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        fixed = types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
        if field.name in names and not fixed:
            raise DataError(f"{file}: column {field.name!r} holds {field.type}, not numbers")


def _check_row_groups(file: str, metadata: Any, names: Sequence[str], memory: float) -> None:
    """Refuse row groups whose columns are larger than the memory, once decompressed."""
    schema = metadata.schema
    wanted = [j for j in range(metadata.num_columns) if schema.column(j).path in names]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        needed = sum(group.column(j).total_uncompressed_size for j in wanted)
        if needed > memory:
            raise MemoryLimitError(
                f"{file}, row group {number}: its {group.num_rows} rows of {len(wanted)} columns "
                f"take {_readable(needed)}, more than memory= allows ({_readable(memory)}); raise "
                "it, or write the file with smaller row groups (row_group_size= of pyarrow and "
                "polars)"
            )


@contextmanager
def reading(place: str, otherwise: str = "cannot be read") -> Iterator[None]:
    """Make errors of pyarrow and of the system ours."""
    import pyarrow as pa

    try:
        yield
    except FeaslearnError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{place}: {otherwise}: {error}") from error


def parquet() -> Any:
    """Return the part of pyarrow that reads Parquet files."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    return pq


def _found(path: str) -> list[str]:
    """Return the files that a path stands for, in the order of their names."""
    try:
        files = _matching(Path(path))
    except (OSError, ValueError) as error:  # no rights, or an invalid pattern
        raise FileError(f"Chunks: {path!r} cannot be looked up: {error}") from error
    if not files and Path(path).is_dir():
        raise FileError(f"Chunks: there is no Parquet file in the directory {path!r}")
    if not files:
        raise FileError(f"Chunks: there is no file {path!r}, nor one that matches")
    return files


def _matching(path: Path) -> list[str]:
    if path.is_dir():
        return sorted(str(file) for file in path.rglob("*.parquet"))
    if path.exists():
        return [str(path)]
    root = Path(path.anchor)
    pattern = str(path.relative_to(root))
    return sorted(str(file) for file in root.glob(pattern)) if pattern != "." else []


class Piece(NamedTuple):
    """Some rows of some columns; ``first`` counts rows of the source, ``row`` of the place."""

    columns: Sequence[NDArray[Any]]
    first: int
    place: str
    row: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def rows(self, start: int, stop: int) -> Piece:
        """Return some of the rows."""
        columns = [column[start:stop] for column in self.columns]
        return Piece(columns, self.first + start, self.place, self.row + start)


#: Reads pieces; one thread runs it from its beginning to its end.
Task: TypeAlias = Callable[[], Iterable[Piece]]


def cut(piece: Piece, rows: int) -> Iterator[Piece]:
    """Yield a piece in pieces of at most ``rows`` rows."""
    for start in range(0, piece.n_rows, rows):
        yield piece.rows(start, start + rows)


def _readable(size: float) -> str:
    """Return a size in words."""
    for unit, bytes_ in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}" if size < 1e15 else f"{size / bytes_:.0f} {unit}"
    return f"{size / 1e3:.0f} kB"
