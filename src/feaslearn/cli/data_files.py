"""The files that a command reads: in memory, or in chunks where they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from feaslearn.data.parquet import ParquetSource
from feaslearn.exceptions import DataError
from feaslearn.io.table import Table
from feaslearn.io.table_file import read_table
from feaslearn.runs.memory import available_bytes

#: A fit in memory takes about so many times the memory of its data.
TIMES_THE_DATA = 4.0


class DataFiles(NamedTuple):
    """Columns of some files, and the files themselves where they are to be read in chunks.

    In chunks, the columns of the table have names and no rows; ``read`` lists every file.
    """

    table: Table
    read: tuple[Path, ...]
    in_chunks: tuple[Path, ...] = ()


def open_files(
    paths: Sequence[Path],
    chunks: bool | None,
    *,
    encoding: str,
    delimiter: str | None,
    max_bytes: int,
) -> DataFiles:
    """Read files into memory, or only look at Parquet files that would not fit.

    Parameters
    ----------
    paths : sequence of Path
        One file, or several Parquet files with the same columns.
    chunks : bool or None
        Whether to read in chunks; None does so where the data do not fit.
    encoding, delimiter : str
        How a CSV file is written.
    max_bytes : int
        Numbers of more bytes are not read into memory.

    Returns
    -------
    DataFiles
        The columns.
    """
    parquet = all(path.suffix.lower() == ".parquet" or path.is_dir() for path in paths)
    if not parquet and (chunks or len(paths) > 1):
        raise DataError("several files, and files that are read in chunks, must be Parquet files")
    if parquet and (chunks or len(paths) > 1 or paths[0].is_dir() or chunks is None):
        source = ParquetSource(paths)
        files = tuple(map(Path, source.files))
        size = 8.0 * (source.n_rows or 0) * len(source.labels)
        large = size > max_bytes or TIMES_THE_DATA * size > available_bytes()
        if chunks or (chunks is None and large):
            nothing = [np.zeros(0) for _ in source.labels]
            table = Table(source.name, source.labels, nothing, lambda i: f"row {i + 1}")
            return DataFiles(table, files, tuple(paths))
        if len(source.files) > 1:
            tables = [read_table(file, max_bytes=max_bytes) for file in source.files]
            return DataFiles(_joined(tables, source), files)
        paths = files
    table = read_table(paths[0], encoding=encoding, delimiter=delimiter, max_bytes=max_bytes)
    return DataFiles(table, (paths[0],))


def _joined(tables: Sequence[Table], source: ParquetSource) -> Table:
    """Put tables with the same columns one below the other."""
    columns = []
    for label in source.labels:
        parts = [table.columns[table.names.index(label)] for table in tables]
        if not all(isinstance(part, np.ndarray) for part in parts):
            parts = [np.array([str(cell) for cell in part]) for part in parts]
        columns.append(np.concatenate(parts))
    starts = np.cumsum([0, *(len(table) for table in tables)])

    def place(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{tables[number].source}, {tables[number].place(row - int(starts[number]))}"

    return Table(source.name, source.labels, _as_listed(columns), place)


def _as_listed(columns: Sequence[np.ndarray]) -> list[list[str] | np.ndarray]:
    return [column.tolist() if column.dtype.kind == "U" else column for column in columns]
