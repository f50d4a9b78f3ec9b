"""Which kind of source it is that a user passed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from feaslearn.data.sources.array_source import ArraySource
from feaslearn.data.sources.dask_source import DaskArraySource, DaskFrameSource
from feaslearn.data.sources.dataset_source import DatasetSource
from feaslearn.data.sources.iterated_source import IteratedSource
from feaslearn.data.sources.lazy_frame_source import LazyFrameSource
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
        dask = [_package(part) == "dask" for part in source]
        if any(dask) and not all(dask):
            raise DataTypeError("Chunks: X and y are not both dask arrays; make both the same")
        return DaskArraySource(*source) if all(dask) else ArraySource(*source)
    found = _of_package(source)
    if found is not None:
        return found
    if isinstance(source, Iterator):
        raise DataTypeError(
            f"Chunks: a {type(source).__name__} can be read only once, and a fit goes through the "
            "data several times; give a function that returns a fresh iterator"
        )
    if callable(source):
        return IteratedSource(source)
    raise DataTypeError(
        f"Chunks: cannot read a {type(source).__name__}; pass paths of Parquet files, a pair "
        "(X, y), a pyarrow dataset, a polars LazyFrame, a dask frame, or a function that returns "
        "an iterator of pairs (X, y) or of frames"
    )


def _of_package(source: Any) -> TableSource | None:
    """Return the source behind a dataset, a table or a lazy frame, if it is one."""
    package, kind = _package(source), type(source).__name__
    if package == "pyarrow" and hasattr(source, "get_fragments"):
        return DatasetSource(source)
    if package == "pyarrow" and kind == "Table":
        return DatasetSource(_dataset(source))
    if package == "polars" and kind == "LazyFrame":
        return LazyFrameSource(source)
    if package == "dask" and hasattr(source, "partitions") and hasattr(source, "columns"):
        return DaskFrameSource(source)
    return None


def _package(source: Any) -> str:
    """Return the package that a thing is from; to ask costs no import."""
    return type(source).__module__.partition(".")[0]


def _dataset(table: Any) -> Any:
    import pyarrow.dataset as ds

    return ds.dataset(table)
