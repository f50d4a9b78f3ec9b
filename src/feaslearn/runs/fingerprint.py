"""What tells one problem from another: a short text for each of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def fingerprint(value: object, leave_out: Sequence[str] = ()) -> str:
    """Return a text that is the same for equal values, and another one for others.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, containers of those, and objects with parameters. Functions count by
        their name.
    leave_out : sequence of str, default=()
        Parameters that do not count, of this object or of any within it.

    Returns
    -------
    str
        Hexadecimal digits.

    Examples
    --------
    >>> from feaslearn.runs.fingerprint import fingerprint
    >>> fingerprint([1.0, 2.0]) == fingerprint([1.0, 2.0]), fingerprint([1.0]) == fingerprint([2.0])
    (True, False)
    """
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
