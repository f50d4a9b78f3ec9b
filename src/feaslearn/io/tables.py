"""Tables in CSV and Parquet files, by pandas; errors name rows and columns."""

from __future__ import annotations

import codecs
import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FeaslearnError, FileError, Problems
from feaslearn.io.whole_files import read_bytes, write_bytes
from feaslearn.messages import find_columns, import_extra, list_first

#: Larger tables are refused unless the caller says otherwise.
MAX_BYTES = 2**30
#: Suffixes of files that can be written, and the first bytes of every Parquet file.
SUFFIXES, MAGIC = (".csv", ".parquet"), b"PAR1"
#: Delimiters, tried on the header line in this order.
DELIMITERS = ",;\t|"
#: Cells of missing values, in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null"})
#: Cells that a message names at most.
MAX_NAMED = 5
#: Floats hold every integer up to here.
MAX_EXACT_INTEGER = 2.0**53


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, of floats or of strings, and where each row stands in it."""

    source: str
    data: pd.DataFrame
    place: Callable[[int], str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; two may be the same."""
        return tuple(self.data.columns)

    def __len__(self) -> int:
        return len(self.data)

    def find(self, wanted: Sequence[str], name: str, problems: Problems) -> tuple[int, ...]:
        """Find columns by name or pattern, each once; add to problems what is missing."""
        found = find_columns(
            list(wanted), self.names, len(self.names), name, f"in {self.source}", problems
        )
        for label in dict.fromkeys(self.names[j] for j in found):
            # One that was asked for by its name is a problem already.
            if label not in wanted and self.names.count(label) > 1:
                problems.add(
                    f"{name}: several columns in {self.source} are called {label!r}; rename them"
                )
        return tuple(dict.fromkeys(found))

    def column(self, j: int) -> Any:
        """Return a column as it was read: an array of floats or of strings."""
        return self.data.iloc[:, j].to_numpy()

    def cells(self, j: int) -> Any:
        """Return a column as numbers where every cell is one, exact as a float, or empty."""
        numbers, bad = _as_numbers(self.column(j), allow_missing=True)
        if bad or np.isnan(numbers).all() or np.nanmax(np.abs(numbers)) > MAX_EXACT_INTEGER:
            return self.column(j)
        return numbers

    def frame(
        self, chosen: Sequence[int], problems: Problems, *, allow_missing: bool = False
    ) -> pd.DataFrame:
        """Return columns as numbers; add to problems every cell that is not numeric."""
        values = np.empty((len(self), len(chosen)))
        wrong: list[tuple[int, str, str]] = []
        for at, j in enumerate(chosen):
            values[:, at], bad = _as_numbers(self.column(j), allow_missing)
            wrong += [(row, self.names[j], what) for row, what in bad]
        if wrong:
            wrong.sort(key=lambda cell: cell[0])
            texts = [
                f"{self.place(i)}, column {name!r} {what}" for i, name, what in wrong[:MAX_NAMED]
            ]
            count = "1 value is" if len(wrong) == 1 else f"{len(wrong)} values are"
            problems.add(f"{self.source}: {count} not numeric: {list_first(texts, len(wrong))}")
        return pd.DataFrame(values, columns=[self.names[j] for j in chosen])


def _as_numbers(column: Any, allow_missing: bool) -> tuple[Array, list[tuple[int, str]]]:
    """Return the numbers of a column, and the other rows with what they hold."""
    is_text = column.dtype.kind == "O"
    numbers = np.array([read_number(cell) for cell in column]) if is_text else column
    bad = []
    for i in np.flatnonzero(~np.isfinite(numbers)).tolist():
        text = column[i].strip() if is_text else ""
        if np.isinf(numbers[i]):
            bad.append((i, f"is {numbers[i]}"))
        elif text.casefold() not in MISSING:
            comma = "," in text and not math.isnan(read_number(text.replace(",", ".", 1)))
            hint = "; decimals are written with a point" if comma else ""
            bad.append((i, f"is the text {text[:40]!r}{hint}"))
        elif not allow_missing:
            bad.append((i, "is empty"))
    return numbers, bad


def read_number(cell: str) -> float:
    """Return the number in a cell, NaN if it is not numeric."""
    try:
        # Python reads 1_000 as a number; in a table it is a mistake.
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def read_table(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Read a CSV or Parquet file, distinguished by its first bytes."""
    contents, source = read_bytes(path, max_bytes), os.fspath(path)
    if contents.startswith(MAGIC):
        return _read_parquet(contents, source, max_bytes)
    if PurePath(source).suffix.lower() == ".parquet":
        raise DataError(f"{source}: not a Parquet file, or a damaged one")
    return read_csv(contents, source, encoding=encoding, delimiter=delimiter)


def _read_parquet(contents: bytes, source: str, max_values: int) -> Table:
    """Read a table; missing values become NaN."""
    pq = import_extra("pyarrow.parquet", "parquet")
    try:
        _check_footer(source, pq.ParquetFile(io.BytesIO(contents)), max_values)
        # Threads that pyarrow leaves behind have been seen to end a process badly.
        data = pd.read_parquet(io.BytesIO(contents), engine="pyarrow", use_threads=False)
        columns = [_column(data.iloc[:, j]) for j in range(data.shape[1])]
    except FeaslearnError:
        raise
    except (OSError, OverflowError, TypeError, ValueError) as error:
        # OverflowError: of times that Python has no dates for. Errors of pyarrow are ValueErrors.
        raise DataError(f"{source}: not a Parquet file that can be read: {error}") from error
    if not len(data) or not columns:
        raise DataError(f"{source}: there are no rows or no columns")
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = list(map(str, data.columns))
    return Table(source, frame, lambda i: f"row {i + 1}")


def _column(column: pd.Series[Any]) -> Any:
    """Return a column as floats, or as strings."""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = column.astype(object)
    return cells.map(str).where(cells.notna(), "").to_numpy(dtype=object)


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


def read_csv(
    contents: bytes, source: str, *, encoding: str = "utf-8", delimiter: str | None = None
) -> Table:
    """Read a table whose first line holds the names of the columns."""
    text = _decoded(contents, source, encoding)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise DataError(f"{source}: the file is empty")
    if delimiter is None:
        delimiter = next((mark for mark in DELIMITERS if mark in first), ",")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise DataError(f"delimiter: {delimiter!r} is not one character that can divide cells")
    skipped = text[: text.index(first)].count("\n")
    try:
        data = pd.read_csv(
            io.StringIO(text, newline=""),
            sep=delimiter,
            header=None,
            dtype=str,
            na_filter=False,
            skiprows=skipped,
            skip_blank_lines=False,
            skipinitialspace=delimiter != " ",
        ).astype(object)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        _refuse_ragged(text, source, delimiter)
        raise DataError(f"{source}: not a table that can be read: {error}") from None
    if (data.iloc[:, -1] == "").any():
        # Short lines are filled with empty cells.
        _refuse_ragged(text, source, delimiter)
    names = [name.strip() for name in data.iloc[0]]
    _check_header(names, source)
    body = data.iloc[1:].set_axis(names, axis=1)
    blank = (body == "").all(axis=1)
    if len(names) == 1:  # an empty line may be an empty cell, unless it is at the end
        blank = blank[::-1].cummin()[::-1]
    body = body[~blank]
    if not len(body):
        raise DataError(f"{source}: there is a header and no row below it")
    lines = body.index

    def place(row: int) -> str:
        # Cells in quotes can hold ends of lines.
        inside = data.iloc[: lines[row]].map(lambda cell: cell.count("\n")).to_numpy().sum()
        return f"line {skipped + lines[row] + 1 + int(inside)}"

    return Table(source, body.reset_index(drop=True), place)


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


def _refuse_ragged(text: str, source: str, delimiter: str) -> None:
    """Refuse lines with another number of cells than the header, and quotes that do not end."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    width, places = 0, []
    try:
        for row in reader:
            width = width or len(row)
            if len(row) != width and "".join(row).strip():
                places.append(f"line {reader.line_num} has {len(row)} cells")
    except csv.Error as error:
        raise DataError(f"{source}: line {reader.line_num}: {error}") from None
    if places:
        found = list_first(places[:MAX_NAMED], len(places))
        raise DataError(f"{source}: the header has {width} cells, {found}")


def _check_header(names: Sequence[str], source: str) -> None:
    """Refuse a first line that does not name the columns."""
    problems = Problems()
    for j, name in enumerate(names):
        if not name:
            problems.add(f"column {j + 1} has no name in the first line")
    if not np.isnan([read_number(name) for name in names]).any():
        problems.add("the first line holds numbers; it must name the columns")
    problems.raise_if_any(DataError, source)


def write_table(
    path: str | os.PathLike[str], names: Sequence[str], columns: Sequence[Sequence[Any]]
) -> None:
    """Write a table as CSV or Parquet, by the suffix, whole or not at all."""
    check_suffix(path)
    if PurePath(path).suffix.lower() == ".parquet":
        import_extra("pyarrow", "parquet")
        buffer = io.BytesIO()
        data = pd.DataFrame({name: list(each) for name, each in zip(names, columns, strict=True)})
        data.to_parquet(buffer, engine="pyarrow", index=False)
        contents = buffer.getvalue()
    else:
        contents = csv_text(names, zip(*columns, strict=True)).encode("utf-8")
    write_bytes(path, contents)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a file name with another suffix."""
    if PurePath(path).suffix.lower() not in SUFFIXES:
        raise DataError(f"{os.fspath(path)}: tables are written to {' and '.join(SUFFIXES)} files")


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV; floats round-trip exactly."""
    data = pd.DataFrame([list(row) for row in rows], columns=list(names), dtype=object)
    return str(data.to_csv(index=False, lineterminator="\n", na_rep="nan"))
