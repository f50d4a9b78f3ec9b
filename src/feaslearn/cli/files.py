"""Files of a command: data in memory or in chunks, and outputs that replace no input."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from feaslearn.cli.console import Console
from feaslearn.data.parquet import ParquetSource
from feaslearn.exceptions import DataError, FileError
from feaslearn.io.tables import Table

#: The name that stands for standard output.
PRINTED = Path("-")


class DataFiles(NamedTuple):
    """Columns of the files that were read; in chunks they have names and no rows."""

    table: Table
    read: tuple[Path, ...]
    in_chunks: tuple[Path, ...] = ()


def open_files(paths: Sequence[Path], chunks: bool | None, console: Console) -> DataFiles:
    """Read files, or only the names of Parquet files in chunks; None if they are large."""
    parquet = all(path.suffix.lower() == ".parquet" or path.is_dir() for path in paths)
    if not parquet and (chunks or len(paths) > 1):
        raise DataError("several files, and files that are read in chunks, must be Parquet files")
    if parquet and (chunks is not False or len(paths) > 1 or paths[0].is_dir()):
        source = ParquetSource(paths)
        files = tuple(map(Path, source.files))
        size = 8.0 * (source.n_rows or 0) * len(source.labels)
        large = size > console.max_bytes
        if chunks or (chunks is None and large):
            nothing = pd.DataFrame(np.zeros((0, len(source.labels))), columns=list(source.labels))
            table = Table(source.name, nothing, lambda i: f"row {i + 1}")
            return DataFiles(table, files, tuple(paths))
        if len(files) > 1:
            return DataFiles(_joined([console.table(file) for file in files], source), files)
        paths = files
    return DataFiles(console.table(paths[0]), (paths[0],))


def _joined(tables: Sequence[Table], source: ParquetSource) -> Table:
    """Put tables with the same columns one below the other."""
    frames = [table.data[list(source.labels)] for table in tables]
    # A column of numbers in one file and of strings in another is one of strings.
    texts = [name for name in source.labels if any(frame[name].dtype == object for frame in frames)]
    joined = pd.concat([frame.astype(dict.fromkeys(texts, object)) for frame in frames])
    for name in texts:
        joined[name] = joined[name].map(str)
    starts = np.cumsum([0, *(len(table) for table in tables)])

    def place(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{tables[number].source}, {tables[number].place(row - int(starts[number]))}"

    return Table(source.name, joined.reset_index(drop=True), place)


def file_or_print(output: Path | None, *inputs: Path | None) -> Path | None:
    """Return the file to write, checked as by `check_output`; None where it is to be printed."""
    if output is None or output == PRINTED:
        return None
    check_output(output, *inputs)
    return output


def check_output(output: Path | None, *inputs: Path | None) -> None:
    """Refuse, before any work, an output that would replace one of the inputs."""
    if output is None:
        return
    if output == PRINTED:
        raise FileError("--output: this command writes a file and prints none; give its name")
    for each in inputs:
        if each is not None and is_one_file(output, each):
            raise FileError(
                f"--output: {output} is a file that this command reads; give another name"
            )


def is_one_file(first: Path, second: Path) -> bool:
    """Say whether two names are those of one file, which need not be there."""
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    with suppress(OSError):
        return first.samefile(second)
    return False
