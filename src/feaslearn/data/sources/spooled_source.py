"""Iterators that can be gone through only once: kept in a file."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from feaslearn.data.sources.iterated_source import IteratedSource
from feaslearn.data.sources.parquet_source import ParquetSource, parquet
from feaslearn.data.sources.table_source import TableSource, Task


class SpooledSource(TableSource):
    """Writes what an iterator yields to a temporary Parquet file, and reads that.

    The file goes when the source does.

    Parameters
    ----------
    iterator : iterator
        Yields pairs (X, y), or frames.
    """

    def __init__(self, iterator: Iterator[Any]) -> None:
        pq = parquet()
        first = next(iterator, None)
        found = IteratedSource(lambda: [] if first is None else [first])
        self.labels, self.n_signals, self.named = found.labels, found.n_signals, found.named
        handle, path = tempfile.mkstemp(suffix=".parquet")
        os.close(handle)
        weakref.finalize(self, Path(path).unlink, missing_ok=True)
        columns = [str(j) for j in range(len(self.labels))]
        whole = IteratedSource(_Chain(first, iterator))
        with _Writer(pq, path, columns) as writer:
            for task in whole.tasks(range(len(columns)), 2**17):
                for block in task():
                    writer.write(block.columns)
        self._file = ParquetSource([path])
        self.n_rows = self._file.n_rows

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each row group of the file."""
        return self._file.tasks(columns, rows)


class _Chain:
    """Returns an iterator over the first item and all others: the first time, for good."""

    def __init__(self, first: Any, rest: Iterator[Any]) -> None:
        self._first, self._rest, self._calls = first, rest, 0

    def __call__(self) -> Iterator[Any]:
        self._calls += 1
        yield self._first
        if self._calls > 1:
            yield from self._rest


class _Writer:
    """Writes columns to a Parquet file; what the first rows are of, all must be of."""

    def __init__(self, pq: Any, path: str, names: list[str]) -> None:
        self._pq, self._path, self._names = pq, path, names
        self._writer: Any = None

    def __enter__(self) -> _Writer:
        return self

    def write(self, columns: Sequence[Any]) -> None:
        """Add rows."""
        import pyarrow as pa

        table = pa.Table.from_arrays([pa.array(column) for column in columns], self._names)
        if self._writer is None:
            self._writer = self._pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
