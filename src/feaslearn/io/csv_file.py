"""Tables from and to text files of comma-separated values."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from feaslearn.exceptions import DataError, Problems
from feaslearn.io.table import Table
from feaslearn.io.texts import is_whole
from feaslearn.messages import list_first
from feaslearn.runs.memory import check_memory
from feaslearn.trainers.progress import ProgressBar

#: What may stand between cells, the first of the header line that does.
DELIMITERS = ",;\t|"
#: Bytes that a cell takes as a text of its own, in its row and in its column.
CELL = 80


def read_csv(
    contents: bytes, source: str, *, encoding: str = "utf-8", delimiter: str | None = None
) -> Table:
    r"""Read a table whose first line holds the names of the columns.

    Parameters
    ----------
    contents : bytes
        What the file holds.
    source : str
        The file, for the messages.
    encoding : str, default="utf-8"
        How letters are written.
    delimiter : str, default=None
        What stands between cells. None finds a comma, semicolon, tab or bar in the first line.

    Returns
    -------
    Table
        Columns of texts.

    Examples
    --------
    >>> from feaslearn.io.csv_file import read_csv
    >>> read_csv(b"demand;power\n3;4\n", "a.csv").names
    ('demand', 'power')
    """
    text = _decoded(contents, source, encoding)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise DataError(f"{source}: the file is empty")
    if delimiter is None:
        delimiter = next((mark for mark in DELIMITERS if mark in first), ",")
    cells = text.count(delimiter) + text.count("\n") + 1
    check_memory(
        CELL * cells + len(text),
        f"{source} has about {cells} cells, which",
        "write the table as Parquet and fit from chunks, or read fewer rows",
        size=1,
    )
    rows, lines = _rows(text, source, delimiter)
    if not rows:  # nothing but quotes around nothing
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
    """Return a table as text; floats are written so that they are read again exactly."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue()


def _decoded(contents: bytes, source: str, encoding: str) -> str:
    try:
        # The name that Python gives it: utf8 and UTF-8 are utf-8.
        kind = codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        raise DataError(f"encoding: {encoding!r} is not known; try utf-8 or latin-1") from None
    if contents.startswith((b"\xff\xfe", b"\xfe\xff")) and kind == "utf-8":
        raise DataError(f"{source}: not UTF-8 but UTF-16 text; name it with encoding utf-16")
    try:
        # A mark at the start of the file, which spreadsheets write, is no part of the first name.
        text = contents.decode("utf-8-sig" if kind == "utf-8" else kind)
    except UnicodeError as error:
        at = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(
            f"{source}: not {encoding} text{at}; name its encoding, such as latin-1"
        ) from None
    except LookupError:
        raise DataError(f"encoding: {encoding!r} is not one of texts; try utf-8") from None
    if kind != "utf-8" and not is_whole(text):
        raise DataError(f"{source}: read as {encoding}, it holds letters that are not Unicode")
    return text


def _rows(text: str, source: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows that are not blank, with the lines on which they end."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"delimiter: {delimiter!r} is not one character: {error}") from None
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in _watched(reader, source, text.count("\n")):
            blank = len(row) < 2 and not "".join(row).strip()
            # In a table of one column, a quoted nothing is a cell.
            if row and not (blank and len(rows[0] if rows else ()) != 1):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{source}: line {reader.line_num}: {error}") from None
    return rows, lines


def _watched(reader: Any, source: str, lines: int) -> Iterator[list[str]]:
    """Yield the rows of a reader; a large file has a progress bar."""
    with ProgressBar(f"reading {source}", lines) as bar:
        for count, row in enumerate(reader):
            if count % 10_000 == 0:
                bar.update(reader.line_num)
            yield row


def _check_header(names: Sequence[str], source: str) -> None:
    problems = Problems()
    for j, name in enumerate(names):
        if not name:
            problems.add(f"column {j + 1} has no name in the first line")
    if names and all(_is_number(name) for name in names):
        problems.add("the first line holds numbers; it must name the columns")
    problems.raise_if_any(DataError, source)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
