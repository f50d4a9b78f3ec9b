"""Which kind of source it is that a user passed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from feaslearn.data.sources.array_source import ArraySource
from feaslearn.data.sources.iterated_source import IteratedSource
from feaslearn.data.sources.parquet_source import ParquetSource
from feaslearn.data.sources.table_source import TableSource
from feaslearn.exceptions import DataTypeError


def open_source(source: Any) -> TableSource:
    """Return the source behind what a user passed.

    Examples
    --------
    >>> from feaslearn.data.sources.open_source import open_source
    >>> open_source(([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])).labels
    ('s0', 's1', 'x0')
    """
    if isinstance(source, str | os.PathLike):
        return ParquetSource([source])
    if (
        isinstance(source, list)
        and source
        and all(isinstance(s, str | os.PathLike) for s in source)
    ):
        return ParquetSource(source)
    if isinstance(source, tuple) and len(source) == 2:
        return ArraySource(*source)
    if callable(source):
        return IteratedSource(source)
    if isinstance(source, Iterator):
        raise DataTypeError(
            f"Chunks: a {type(source).__name__} can be gone through only once, and a fit may need "
            "several passes; pass a function that returns a new iterator, such as lambda: read()"
        )
    raise DataTypeError(
        f"Chunks: cannot read a {type(source).__name__}; pass paths of Parquet files, a pair "
        "(X, y), or a function that returns an iterator of pairs (X, y) or of frames"
    )
