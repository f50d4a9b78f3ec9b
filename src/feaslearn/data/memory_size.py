"""Amounts of memory as users write them."""

from __future__ import annotations

import re
from numbers import Integral

from feaslearn.exceptions import DataError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> from feaslearn.data.memory_size import bytes_of
    >>> bytes_of("1.5 GB"), bytes_of("64MiB"), bytes_of(1000)
    (1500000000, 67108864, 1000)
    """
    if isinstance(memory, Integral) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B?)\s*", memory.upper())
        if read and read[2] in UNITS and float(read[1]) > 0.0:
            return int(float(read[1]) * UNITS[read[2]])
    raise DataError(
        f"memory={memory!r} is no amount of memory; give bytes, or a text such as '500MB' or '2GB'"
    )
