"""The checkpoint of a run: a file of its finished starts, folds and members.

.. code-block:: text

    feaslearn checkpoint 2
    <SHA-256 of everything below this line, in hexadecimal digits>
    <JSON, in which an array is {"$array": [type, shape, bytes in base 64]}>
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from feaslearn.atomic import check_writable, leftovers, read_bytes, write_bytes
from feaslearn.exceptions import CheckpointError, FeaslearnWarning, FileError

MAGIC = b"feaslearn checkpoint 2\n"
#: Types of arrays that a file may hold.
TYPES = ("<f8", "<i8", "|b1")
#: Larger files are not read.
MAX_BYTES = 2**31


class Checkpoint:
    """Finished pieces of a run by name, and the file that holds them."""

    def __init__(
        self, path: str | os.PathLike[str], fingerprint: dict[str, str], seed: int = 0
    ) -> None:
        self.path, self.seed, self.resumed = Path(path), seed, False
        self._fingerprint, self._pieces = fingerprint, dict[str, Any]()
        self._lock = threading.Lock()
        check_writable(self.path)
        self._tidy()
        if self.path.exists():
            self._resume(read_checkpoint(self.path))

    def _resume(self, found: dict[str, Any]) -> None:
        """Take over the pieces of a file that belongs to this problem; refuse any other."""
        theirs, pieces, seed = found.get("fingerprint"), found.get("pieces"), found.get("seed")
        if not (isinstance(theirs, dict) and isinstance(pieces, dict) and isinstance(seed, int)):
            raise CheckpointError(f"{self.path} lacks a part. Delete it to begin anew")
        # A forged part may be an array, which compares entry by entry.
        theirs = {key: part for key, part in theirs.items() if isinstance(part, str)}
        other = [key for key, own in self._fingerprint.items() if theirs.get(key) != own]
        if other:
            differ = "differs" if len(other) == 1 else "differ"
            raise CheckpointError(
                f"{self.path} belongs to another run: its {' and its '.join(other)} {differ}. "
                "Delete it to begin anew, or name another file"
            )
        self._pieces, self.seed, self.resumed = pieces, abs(seed), True

    def get(self, name: str) -> Any:
        """Return a copy of a finished piece, None if there is none of that name."""
        with self._lock:
            return deepcopy(self._pieces.get(name))

    def put(self, name: str, piece: Any) -> None:
        """Keep a finished piece in place of its parts; a failure to write is a warning."""
        with self._lock:
            kept = (key for key in self._pieces if not key.startswith(f"{name}/"))
            self._pieces = {key: self._pieces[key] for key in kept} | {name: deepcopy(piece)}
            found = {"fingerprint": self._fingerprint, "seed": self.seed, "pieces": self._pieces}
            try:
                write_checkpoint(self.path, found)
            except FileError as error:
                warnings.warn(
                    f"the checkpoint was not written, the run continues without: {error}",
                    FeaslearnWarning,
                    stacklevel=2,
                )

    def remove(self) -> None:
        """Remove the file of a completed run."""
        with suppress(OSError):
            self.path.unlink()
        self._tidy()

    def _tidy(self) -> None:
        """Remove temporary files of a run that was killed while it wrote."""
        with suppress(OSError):
            for left in leftovers(self.path):
                left.unlink()


def write_checkpoint(path: str | os.PathLike[str], contents: dict[str, Any]) -> None:
    """Write a tree of plain values and arrays atomically."""
    body = json.dumps(contents, default=_encoded, separators=(",", ":")).encode()
    write_bytes(path, b"%s%s\n%s" % (MAGIC, hashlib.sha256(body).hexdigest().encode(), body))


def read_checkpoint(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the tree of a file; nothing in it is executed."""
    name, contents = os.fspath(path), read_bytes(path, max_bytes, "the limit of checkpoints")
    if not contents.startswith(MAGIC):
        raise CheckpointError(f"{name} is not a checkpoint of this version of feaslearn")
    digest, _, body = contents[len(MAGIC) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise CheckpointError(
            f"{name} is damaged: its checksum does not match. Delete it to begin anew"
        )
    try:
        tree = json.loads(body, object_hook=_decoded)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"{name} cannot be read as a checkpoint: {error}") from error
    if not isinstance(tree, dict):
        raise CheckpointError(f"{name} cannot be read as a checkpoint: no description")
    return tree


def _encoded(value: object) -> object:
    """Return arrays and numbers of NumPy for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray) or value.dtype.newbyteorder("<").str not in TYPES:
        raise TypeError(f"{type(value).__name__} is not kept in checkpoints")
    array = np.asarray(value, dtype=value.dtype.newbyteorder("<"))
    return {"$array": [array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()]}


def _decoded(value: dict[str, Any]) -> Any:
    if set(value) != {"$array"}:
        return value
    kind, shape, text = value["$array"]
    if kind not in TYPES or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"an array of type {kind!r} and shape {shape!r}")
    flat = np.frombuffer(base64.b64decode(text, validate=True), dtype=kind)
    return flat.reshape(shape).astype(flat.dtype.newbyteorder("="))


# What tells one problem from another: a short text for each of its parts.


def fingerprint(value: object, leave_out: Sequence[str] = ()) -> str:
    """Return a string that is the same for equal values, and another one for others."""
    digest = hashlib.sha256()
    _add(digest, value, frozenset(leave_out))
    return digest.hexdigest()


def _add(digest: Any, value: Any, leave_out: frozenset[str]) -> None:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest.update(f"array {value.dtype.str} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
        return
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        digest.update(f"{type(value).__name__} {value!r}".encode())
        return
    kind = type(value)
    digest.update(f"({kind.__module__}.{kind.__qualname__}".encode())
    parts = _parts(value)
    for name, part in parts:
        if name not in leave_out:
            digest.update(f" {name}=".encode())
            _add(digest, part, leave_out)
    digest.update(b")")


def _parts(value: Any) -> list[tuple[str, Any]]:
    """Return what an object is made of, by name."""
    if isinstance(value, Mapping):
        return sorted((str(key), item) for key, item in value.items())
    if isinstance(value, list | tuple | np.ndarray):
        return [(str(i), item) for i, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [(str(i), item) for i, item in enumerate(sorted(value, key=repr))]
    if callable(getattr(value, "get_params", None)) and not isinstance(value, type):
        return sorted(value.get_params(deep=False).items())
    if callable(value) and hasattr(value, "__qualname__"):
        return [("function", f"{value.__module__}.{value.__qualname__}")]
    return sorted(getattr(value, "__dict__", {}).items())
