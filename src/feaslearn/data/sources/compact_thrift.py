"""Structures of Thrift's compact protocol, in which Parquet files describe themselves.

pyarrow reads them too, but ends the process where some of their numbers contradict each other; what
is read here is not believed, only looked at.
"""

from __future__ import annotations

from typing import Any

#: Structures within structures; Parquet has fewer.
DEEPEST = 30
Fields = dict[int, Any]


def read_struct(contents: bytes, place: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """Return the fields of a structure by their numbers, and where it ends.

    Raises
    ------
    IndexError
        If the contents end before it does.
    KeyError
        If it is none.

    Examples
    --------
    >>> from feaslearn.data.sources.compact_thrift import read_struct
    >>> read_struct(bytes([0x15, 0x04, 0x00]))
    ({1: 2}, 3)
    """
    if depth > DEEPEST:
        raise KeyError("structures within structures without an end")
    fields: Fields = {}
    number = 0
    while True:
        head, place = contents[place], place + 1
        if head == 0:
            return fields, place
        if head >> 4:
            number += head >> 4
        else:
            number, place = _number(contents, place)
        if head & 15 in (1, 2):  # true and false have no value of their own
            fields[number] = 2 - (head & 15)
        else:
            fields[number], place = _value(contents, place, head & 15, depth)


def _value(contents: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return contents[place], place + 1
    if kind in (4, 5, 6):
        return _number(contents, place)
    if kind == 7:
        return None, place + 8
    if kind == 8:
        size, place = _varint(contents, place)
        if size > len(contents) - place:
            raise IndexError(size)
        return contents[place : place + size], place + size
    if kind in (9, 10):
        return _list(contents, place, depth)
    if kind == 12:
        return read_struct(contents, place, depth + 1)
    raise KeyError(kind)


def _list(contents: bytes, place: int, depth: int) -> tuple[list[Any], int]:
    head, place = contents[place], place + 1
    size = head >> 4
    if size == 15:
        size, place = _varint(contents, place)
    if size > len(contents) - place:  # each item has a byte at least
        raise IndexError(size)
    items = []
    for _ in range(size):
        item, place = _value(contents, place, head & 15, depth + 1)
        items.append(item)
    return items, place


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
