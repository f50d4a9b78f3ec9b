"""The file of a checkpoint: text that says what it holds, then numbers; nothing is executed.

.. code-block:: text

    feaslearn checkpoint 1
    <SHA-256 of everything below this line, in hexadecimal digits>
    <length of the description in bytes>
    <description: JSON, in which an array is {"array": [type, shape, first byte]}>
    <the numbers of all arrays, one after the other, least significant byte first>
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.atomic import read_bytes, write_bytes
from feaslearn.exceptions import CheckpointError

MAGIC = b"feaslearn checkpoint 1\n"
#: Types of arrays that a file may hold.
TYPES = ("<f8", "<f4", "<i8", "<i4", "<u8", "<u4", "|b1", "|u1", "|i1")
#: Longest first lines.
LONGEST_LINE = 100
#: How deep a description may nest.
DEEPEST = 50


def write_checkpoint(path: str | os.PathLike[str], contents: dict[str, Any]) -> None:
    """Write a tree of plain values and arrays, whole or not at all."""
    blobs: list[bytes] = []
    plain = _described(contents, blobs, [0])
    text = json.dumps(plain, separators=(",", ":")).encode()
    body = b"".join([b"%d\n" % len(text), text, b"\n", *blobs])
    digest = hashlib.sha256(body).hexdigest().encode()
    write_bytes(path, b"".join([MAGIC, digest, b"\n", body]))


def read_checkpoint(path: str | os.PathLike[str], max_bytes: int) -> dict[str, Any]:
    """Return the tree that a file holds.

    Raises
    ------
    FileError
        If the file cannot be read or is larger than the limit.
    CheckpointError
        If it is not a checkpoint, or not a whole one.
    """
    name = os.fspath(path)
    contents = read_bytes(path, max_bytes, "max_bytes of the Checkpoint")
    if not contents.startswith(MAGIC):
        raise CheckpointError(f"{name} is not a checkpoint of this version of feaslearn")
    digest, body = _line(contents, len(MAGIC), name)
    if hashlib.sha256(memoryview(contents)[body:]).hexdigest().encode() != digest:
        raise CheckpointError(
            f"{name} is damaged: its checksum does not match. Delete it to begin anew"
        )
    try:
        length, start = _line(contents, body, name)
        stop = start + int(length)
        plain = json.loads(contents[start:stop])
        blob = memoryview(contents)[stop + 1 :]
        tree = _restored(plain, _Blob(blob), 0)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"{name} cannot be read as a checkpoint: {error}") from error
    if not isinstance(tree, dict):
        raise CheckpointError(f"{name} cannot be read as a checkpoint: no description")
    return tree


def _line(contents: bytes, start: int, name: str) -> tuple[bytes, int]:
    """Return a line and where the next one begins."""
    stop = contents.find(b"\n", start, start + LONGEST_LINE)
    if stop < 0:
        raise CheckpointError(f"{name} is damaged: it ends too early. Delete it to begin anew")
    return contents[start:stop], stop + 1


def _described(value: Any, blobs: list[bytes], used: list[int]) -> Any:
    """Return a value for JSON; the numbers of arrays go to ``blobs``."""
    if isinstance(value, dict):
        return {str(key): _described(item, blobs, used) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_described(item, blobs, used) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if array.dtype.str not in TYPES:
        raise TypeError(f"arrays of {array.dtype} are not kept in checkpoints")
    first = used[0]
    blobs.append(array.tobytes())
    used[0] += array.nbytes
    return {"array": [array.dtype.str, list(value.shape), first]}


class _Blob:
    """The numbers of a file, and how many bytes of them no array has asked for yet.

    Arrays that share their numbers, which no run writes, could fill the memory from a small file.
    """

    def __init__(self, contents: memoryview) -> None:
        self._contents, self._left = contents, len(contents)

    def take(self, first: int, size: int) -> memoryview:
        """Return some bytes."""
        self._left -= size
        if first + size > len(self._contents) or self._left < 0:
            raise ValueError(f"{size} bytes at {first} go beyond the end")
        return self._contents[first : first + size]


def _restored(value: Any, blob: _Blob, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("it nests too deeply")
    if isinstance(value, list):
        return [_restored(item, blob, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"array"}:
        kind, shape, first = value["array"]
        return _array(kind, shape, first, blob)
    return {key: _restored(item, blob, depth + 1) for key, item in value.items()}


def _array(kind: str, shape: list[int], first: int, blob: _Blob) -> NDArray[Any]:
    """Return one array, a copy that can be written to."""
    if kind not in TYPES:
        raise ValueError(f"arrays of type {kind!r} are not known")
    numbers = [first, *shape]
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in numbers):
        raise ValueError(f"an array of shape {shape} at {first}")
    dtype = np.dtype(kind)
    flat = np.frombuffer(blob.take(first, math.prod(shape) * dtype.itemsize), dtype=dtype)
    return flat.reshape(shape).astype(dtype.newbyteorder("="))
