"""What reading a Parquet file would take, found out from the heads of its pages.

A page is decompressed as a whole, whatever the end of the file says about its size, and a text that
is stored once can stand in a million rows. So a file of some kilobytes can fill the memory. The
head of a page, which pyarrow believes, says how large it becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from feaslearn.data.sources.compact_thrift import read_struct
from feaslearn.exceptions import DataError, MemoryLimitError
from feaslearn.runs.memory import readable

#: Numbers of the compressions (none, Snappy) in which a page is at most about twenty times as large
#: as in the file: what the end of the file says about their size is believed.
WEAK = (0, 1)
#: Bytes of a head that are read at first, and the most that there may be.
HEAD, LONGEST_HEAD = 512, 2**24
#: Reads so many bytes from a place in a file.
Read = Callable[[int, int], bytes]


class ColumnChunk(NamedTuple):
    """Where the pages of a column stand in a row group, and what is said about them."""

    name: str
    compression: int
    values: int
    large: int
    small: int
    start: int


def column_chunks(read: Read, size: int) -> list[list[ColumnChunk]]:
    """Return the columns of each row group, from the end of a file of so many bytes.

    Raises
    ------
    ValueError
        If there is no such end.
    """
    length = int.from_bytes(read(size - 8, 4), "little") if size >= 8 else size
    if length > size - 8:
        raise ValueError("it has no end of a Parquet file")
    try:
        fields, _ = read_struct(read(size - 8 - length, length))
        return [[_chunk(column[3]) for column in group[1]] for group in fields[4]]
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise ValueError("its end does not say where its columns are") from error


def _chunk(fields: dict[int, Any]) -> ColumnChunk:
    name = b".".join(fields[3]).decode()
    start, dictionary = fields[9], fields.get(11)
    if dictionary is not None and 0 < dictionary < start:
        start = dictionary
    return ColumnChunk(name, fields[4], fields[5], fields[6], fields[7], start)


def check_pages(file: str, schema: Any, names: Sequence[str], memory: float) -> None:
    """Refuse columns of texts and lists, and row groups whose pages do not fit into memory.

    Parameters
    ----------
    file : str
        The file.
    schema : pyarrow.Schema
        Its columns.
    names : sequence of str
        The columns that will be read, one page of each at a time.
    memory : float
        Bytes that they may take.
    """
    refuse_unbounded(file, schema, names)
    wanted = set(names)
    with Path(file).open("rb", buffering=0) as opened:

        def read(place: int, count: int) -> bytes:
            opened.seek(place)
            return opened.read(count)

        groups = column_chunks(read, Path(file).stat().st_size)
        for number, group in enumerate(groups):
            chunks = [chunk for chunk in group if chunk.name in wanted]
            if sum(_claimed(read, chunk) for chunk in chunks) <= memory:
                continue
            needed = sum(max(page_sizes(read, chunk), default=0) for chunk in chunks)
            if needed > memory:
                raise MemoryLimitError(
                    f"{file}, row group {number}: the largest pages of {len(chunks)} columns take "
                    f"{readable(needed)} together, more than memory= allows ({readable(memory)}); "
                    "raise it, or write the file with smaller pages"
                )


def refuse_unbounded(file: str, schema: Any, names: Sequence[str]) -> None:
    """Refuse columns whose values have no fixed size: a few bytes can stand for very many."""
    import pyarrow.types as types

    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        fixed = types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
        if field.name in names and not fixed:
            raise DataError(f"{file}: column {field.name!r} holds {field.type}, not numbers")


def page_sizes(read: Read, chunk: ColumnChunk) -> Iterator[int]:
    """Yield how large each page of a column becomes when it is decompressed.

    Raises
    ------
    ValueError
        If there are no pages where the end of the file says so.
    """
    place, end = chunk.start, chunk.start + chunk.small
    while chunk.values and place < end:
        large, small, length = _page_head(read, place)
        yield max(large, small)
        place += length + small


def _claimed(read: Read, chunk: ColumnChunk) -> float:
    """Return the largest page of a column; for weak compression, what all are said to be."""
    if chunk.compression in WEAK:
        return float(chunk.large)
    return float(max(page_sizes(read, chunk), default=0))


def _page_head(read: Read, place: int) -> tuple[int, int, int]:
    """Return the size of a page decompressed and in the file, and the length of its head."""
    count = HEAD
    while count <= LONGEST_HEAD and place >= 0:
        contents = read(place, count)
        try:
            fields, length = read_struct(contents)
            large, small = int(fields[2]), int(fields[3])
        except IndexError:
            if len(contents) < count:
                break  # the file ends in it
            count *= 16
            continue
        except (KeyError, TypeError, ValueError):
            break
        if large < 0 or small < 0:
            break
        return large, small, length
    raise ValueError(f"there is no head of a page at byte {place}")
