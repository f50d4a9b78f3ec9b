"""Tables in files: CSV, and Parquet with pyarrow."""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.atomic import read_bytes, write_bytes
from feaslearn.exceptions import DataError, FeaslearnError, FileError, Problems
from feaslearn.io.table import Table, read_number
from feaslearn.messages import import_extra, list_first
from feaslearn.runs.progress import ProgressBar

#: Larger tables are refused unless the caller says otherwise.
MAX_BYTES = 2**30
#: Suffixes of files that can be written.
SUFFIXES = (".csv", ".parquet")
#: The first bytes of every Parquet file.
MAGIC = b"PAR1"

#: Delimiters, tried on the header line in this order.
DELIMITERS = ",;\t|"


def read_table(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Read a CSV or Parquet file, distinguished by its first bytes."""
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
    """Write a table as CSV or Parquet, by the suffix, atomically."""
    check_suffix(path)
    if PurePath(path).suffix.lower() == ".parquet":
        pa, pq = (import_extra(name, "parquet") for name in ("pyarrow", "pyarrow.parquet"))
        buffer, arrays = io.BytesIO(), [pa.array(column) for column in columns]
        pq.write_table(pa.Table.from_arrays(arrays, names=list(names)), buffer)
        contents = buffer.getvalue()
    else:
        contents = csv_text(names, zip(*columns, strict=True)).encode("utf-8")
    write_bytes(path, contents)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a file name with another suffix."""
    if PurePath(path).suffix.lower() not in SUFFIXES:
        raise DataError(f"{os.fspath(path)}: tables are written to {' and '.join(SUFFIXES)} files")


def read_parquet(contents: bytes, source: str, max_values: int) -> Table:
    """Read a table; missing values become NaN."""
    pa, pq = (import_extra(name, "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        file = pq.ParquetFile(pa.BufferReader(contents))
        _check_footer(source, file, max_values)
        # Strings that are stored once stay so: each row only refers to one.
        texts = [field.name for field in file.schema_arrow if _is_text(pa.types, field.type)]
        file = pq.ParquetFile(pa.BufferReader(contents), read_dictionary=texts)
        # Threads that pyarrow leaves behind have been seen to end a process badly.
        table = file.read(use_threads=False)
        columns = [_column(pa, column) for column in table.columns]
    except FeaslearnError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        # OverflowError: of times that Python has no dates for.
        raise DataError(f"{source}: not a Parquet file that can be read: {error}") from error
    if table.num_rows == 0 or not columns:
        raise DataError(f"{source}: there are no rows or no columns")
    return Table(source, tuple(table.column_names), columns, lambda i: f"row {i + 1}")


def _check_footer(source: str, file: Any, max_values: int) -> None:
    """Refuse what is larger than the limit, and lists, whose rows hold any number of values."""
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    # The largest number of rows that the footer names.
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    values = rows * metadata.num_columns
    if values > max_values:
        raise FileError(f"{source} claims {values} values; the limit is {max_values}")
    for field in file.schema_arrow:
        if field.type.num_fields:
            raise DataError(f"{source}: column {field.name!r} holds {field.type}; leave it out")
    size = sum(group.total_byte_size for group in groups)
    if size > max_values:
        raise FileError(f"{source} is compressed: its {size} bytes exceed the limit, {max_values}")


def _column(pa: Any, column: Any) -> Array | list[str]:
    """Return a column as numbers, or as strings."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        return np.array(numbers, dtype=np.float64)
    texts = []
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            texts += ["" if value is None else str(value) for value in chunk.to_pylist()]
            continue
        known = ["" if value is None else str(value) for value in chunk.dictionary.to_pylist()]
        texts += ["" if at is None else known[at] for at in chunk.indices.to_pylist()]
    return texts


def _is_text(types: Any, kind: Any) -> bool:
    """Whether a column holds strings."""
    return bool(types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind))


def read_csv(
    contents: bytes, source: str, *, encoding: str = "utf-8", delimiter: str | None = None
) -> Table:
    r"""Read a table whose first line holds the names of the columns."""
    text = _decoded(contents, source, encoding)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise DataError(f"{source}: the file is empty")
    if delimiter is None:
        delimiter = next((mark for mark in DELIMITERS if mark in first), ",")
    rows, lines = _csv_rows(text, source, delimiter)
    if not rows:  # empty quotes alone
        raise DataError(f"{source}: the file is empty")
    names = tuple(name.strip() for name in rows[0])
    _check_header(names, source)
    body, lines = rows[1:], lines[1:]
    ragged = [(line, row) for line, row in zip(lines, body, strict=True) if len(row) != len(names)]
    if ragged:
        places = [f"line {line} has {len(row)} cells" for line, row in ragged[:5]]
        raise DataError(
            f"{source}: the header has {len(names)} cells, {list_first(places, len(ragged))}"
        )
    if not body:
        raise DataError(f"{source}: there is a header and no row below it")
    return Table(source, names, list(zip(*body, strict=True)), lambda i: f"line {lines[i]}")


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV; floats round-trip exactly."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue()


def _decoded(contents: bytes, source: str, encoding: str) -> str:
    """Return the contents of a file as a string."""
    try:
        # The name that Python gives it: utf8 and UTF-8 are utf-8.
        kind = codecs.lookup(encoding).name
        # The byte order mark, which spreadsheets write, is not part of the first name.
        text = contents.decode("utf-8-sig" if kind == "utf-8" else kind)
        text.encode("utf-8")
    except LookupError:
        raise DataError(
            f"encoding: {encoding!r} is not a known encoding of text; try utf-8 or latin-1"
        ) from None
    except UnicodeError as error:
        at = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        wide = contents.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        likely = "utf-16" if wide else "latin-1"
        raise DataError(
            f"{source}: not {encoding} text{at}; name its encoding, such as {likely}"
        ) from None
    return text


def _csv_rows(text: str, source: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows that are not blank, with the lines on which they end."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"delimiter: {delimiter!r} is not one character: {error}") from None
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        with ProgressBar(f"reading {source}", text.count("\n")) as bar:
            for count, row in enumerate(reader):
                if count % 10_000 == 0:
                    bar.update(reader.line_num)
                blank = len(row) < 2 and not "".join(row).strip()
                # In a table of one column, an empty quoted cell is a cell.
                if row and not (blank and len(rows[0] if rows else ()) != 1):
                    rows.append(row)
                    lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{source}: line {reader.line_num}: {error}") from None
    return rows, lines


def _check_header(names: Sequence[str], source: str) -> None:
    """Refuse a first line that does not name the columns."""
    problems = Problems()
    for j, name in enumerate(names):
        if not name:
            problems.add(f"column {j + 1} has no name in the first line")
    if not np.isnan([read_number(name) for name in names]).any():
        problems.add("the first line holds numbers; it must name the columns")
    problems.raise_if_any(DataError, source)
