"""What reading a Parquet file would take, found out from the heads of its pages.

A page is decompressed as a whole, whatever the end of the file says about its size, and a text that
is stored once can stand in a million rows. So a file of some kilobytes can fill the memory. The
head of a page, which pyarrow believes, says how large it becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from feaslearn.exceptions import DataError, MemoryLimitError
from feaslearn.runs.memory import readable

#: Compressions in which a page is at most about twenty times as large as in the file: what the end
#: of the file says about their size is believed.
WEAK = ("UNCOMPRESSED", "SNAPPY")
#: Bytes of a head that are read at first, and the most that there may be.
HEAD, LONGEST_HEAD = 512, 2**24
#: Reads so many bytes from a place in a file.
Read = Callable[[int, int], bytes]


def check_pages(file: str, metadata: Any, names: Sequence[str], memory: float) -> None:
    """Refuse columns of texts and lists, and row groups whose pages do not fit into memory.

    Parameters
    ----------
    file : str
        The file.
    metadata : pyarrow.parquet.FileMetaData
        Its end.
    names : sequence of str
        The columns that will be read, one page of each at a time.
    memory : float
        Bytes that they may take.
    """
    refuse_unbounded(file, metadata, names)
    wanted = set(names)
    with Path(file).open("rb", buffering=0) as opened:

        def read(place: int, count: int) -> bytes:
            opened.seek(place)
            return opened.read(count)

        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            chunks = [row_group.column(j) for j in range(row_group.num_columns)]
            chunks = [chunk for chunk in chunks if chunk.path_in_schema in wanted]
            if sum(_claimed(read, chunk) for chunk in chunks) <= memory:
                continue
            needed = sum(max(page_sizes(read, chunk), default=0) for chunk in chunks)
            if needed > memory:
                raise MemoryLimitError(
                    f"{file}, row group {group}: the largest pages of {len(chunks)} columns take "
                    f"{readable(needed)} together, more than memory= allows ({readable(memory)}); "
                    "raise it, or write the file with smaller pages"
                )


def refuse_unbounded(file: str, metadata: Any, names: Sequence[str]) -> None:
    """Refuse columns whose values have no fixed size: a few bytes can stand for very many."""
    import pyarrow.types as types

    for field in metadata.schema.to_arrow_schema():
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        fixed = types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
        if field.name in names and not fixed:
            raise DataError(f"{file}: column {field.name!r} holds {field.type}, not numbers")


def page_sizes(read: Read, chunk: Any) -> Iterator[int]:
    """Yield how large each page of a column becomes when it is decompressed.

    Raises
    ------
    ValueError
        If there are no pages where the end of the file says so.
    """
    if not chunk.num_values:
        return
    start, dictionary = chunk.data_page_offset, chunk.dictionary_page_offset
    if dictionary is not None and 0 < dictionary < start:
        start = dictionary
    place, end = start, start + chunk.total_compressed_size
    while place < end:
        large, small, length = _page_head(read, place)
        yield max(large, small)
        place += length + small


def _claimed(read: Read, chunk: Any) -> float:
    """Return the largest page of a column; for weak compression, what all are said to be."""
    if chunk.compression in WEAK:
        return float(chunk.total_uncompressed_size)
    return float(max(page_sizes(read, chunk), default=0))


def _page_head(read: Read, place: int) -> tuple[int, int, int]:
    """Return the size of a page decompressed and in the file, and the length of its head."""
    count = HEAD
    while count <= LONGEST_HEAD:
        contents = read(place, count)
        try:
            fields, length = _struct(contents, 0)
            large, small = fields[2], fields[3]
        except IndexError:
            if len(contents) < count:
                break  # the file ends in it
            count *= 16
            continue
        except (KeyError, RecursionError):
            break
        if large < 0 or small < 0:
            break
        return large, small, length
    raise ValueError(f"there is no head of a page at byte {place}")


def _struct(contents: bytes, place: int) -> tuple[dict[int, int], int]:
    """Read a structure of Thrift's compact protocol: its whole numbers, and where it ends."""
    fields: dict[int, int] = {}
    number = 0
    while True:
        head, place = contents[place], place + 1
        if head == 0:
            return fields, place
        if head >> 4:
            number += head >> 4
        else:
            number, place = _number(contents, place)
        fields[number], place = _value(contents, place, head & 15)


def _value(contents: bytes, place: int, kind: int) -> tuple[int, int]:
    """Read or skip a value; of one that is no whole number, zero is returned."""
    if kind in (1, 2):  # true and false, without a value of their own
        return 2 - kind, place
    if kind == 3:
        return contents[place], place + 1
    if kind in (4, 5, 6):
        return _number(contents, place)
    if kind == 7:
        return 0, place + 8
    if kind == 8:
        size, place = _varint(contents, place)
        return 0, place + size
    if kind == 12:
        return 0, _struct(contents, place)[1]
    raise KeyError(kind)  # heads of pages have no lists or maps


def _number(contents: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(contents, place)
    return (value >> 1) ^ -(value & 1), place


def _varint(contents: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, place = contents[place], place + 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 70:
            raise KeyError("no number is so long")
