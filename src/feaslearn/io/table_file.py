"""Tables in files: CSV with what is always installed, Parquet with pyarrow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from feaslearn.atomic import read_bytes, write_bytes
from feaslearn.exceptions import DataError
from feaslearn.io.csv_file import csv_text, read_csv
from feaslearn.io.parquet_file import MAGIC, parquet_bytes, read_parquet
from feaslearn.io.table import Table

#: Larger tables are refused unless the caller says otherwise.
MAX_BYTES = 2**30
#: How names of files that can be written end.
SUFFIXES = (".csv", ".parquet")


def read_table(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Read a CSV or Parquet file; which it is, its first bytes say.

    Parameters
    ----------
    path : path-like
        The file.
    encoding : str, default="utf-8"
        How the letters of a CSV file are written.
    delimiter : str, default=None
        What stands between the cells of a CSV file; None looks.
    max_bytes : int, default=1073741824
        Larger files are refused.

    Returns
    -------
    Table
        The columns.

    Examples
    --------
    >>> from feaslearn.io import read_table
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("demand,power")
    >>> read_table(path)
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.DataError: ...a.csv: there is a header and no row below it
    """
    contents = read_bytes(path, max_bytes)
    source = os.fspath(path)
    if contents.startswith(MAGIC):
        return read_parquet(contents, source, max_bytes)
    if PurePath(source).suffix.lower() == ".parquet":
        raise DataError(f"{source}: not a Parquet file, or a damaged one")
    return read_csv(contents, source, encoding=encoding, delimiter=delimiter)


def write_table(
    path: str | os.PathLike[str], names: Sequence[str], columns: Sequence[Sequence[Any]]
) -> None:
    """Write a table as CSV or Parquet, which the name of the file says, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; its name ends in ``.csv`` or ``.parquet``.
    names : sequence of str
        Heads of the columns.
    columns : sequence of sequences
        Their values.
    """
    check_suffix(path)
    if PurePath(path).suffix.lower() == ".parquet":
        write_bytes(path, parquet_bytes(names, columns))
    else:
        write_bytes(path, csv_text(names, zip(*columns, strict=True)).encode("utf-8"))


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a table that says neither CSV nor Parquet."""
    if PurePath(path).suffix.lower() not in SUFFIXES:
        raise DataError(f"{os.fspath(path)}: tables are written to {' and '.join(SUFFIXES)} files")
