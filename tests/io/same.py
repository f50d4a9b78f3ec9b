"""Are two values the same, bit by bit and type by type?"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


def difference(a: Any, b: Any, where: str = "") -> str | None:
    """Return where two values differ first, None if they are the same in everything."""
    if type(a) is not type(b):
        return f"{where}: {type(a).__name__} is not {type(b).__name__}"
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return None if a.tolist() == b.tolist() else where
        equal = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return None if equal and b.flags.writeable else where
    if isinstance(a, float):
        return None if struct.pack("<d", a) == struct.pack("<d", b) else where
    return _parts(a, b, where)


def _parts(a: Any, b: Any, where: str) -> str | None:
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = [(f"{where}[{j}]", x, y) for j, (x, y) in enumerate(zip(a, b, strict=True))]
    elif isinstance(a, dict):
        if a.keys() != b.keys():
            return f"{where}: {sorted(map(str, a.keys() ^ b.keys()))}"
        pairs = [(f"{where}[{key!r}]", a[key], b[key]) for key in a]
    elif hasattr(a, "__dict__") and not callable(a):
        # What an object keeps of itself: a model leaves its samples out.
        pairs = [(where, a.__getstate__(), b.__getstate__())]
    else:
        return None if a == b else f"{where}: {a!r} is not {b!r}"
    return next((found for w, x, y in pairs if (found := difference(x, y, w)) is not None), None)
