"""Iterators that can be gone through only once: kept in a file."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from feaslearn.data.sources.iterated_source import IteratedSource
from feaslearn.data.sources.parquet_source import ParquetSource, parquet
from feaslearn.data.sources.table_source import Block, TableSource, Task
from feaslearn.exceptions import DataError, FileError


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
        with _on_disk():
            handle, path = tempfile.mkstemp(suffix=".parquet")
            os.close(handle)
        remove = weakref.finalize(self, Path(path).unlink, missing_ok=True)
        try:
            self._keep(pq, path, _Chain(first, iterator))
        except BaseException:
            remove()
            raise
        self._file = ParquetSource([path])
        self.n_rows = self._file.n_rows

    def _keep(self, pq: Any, path: str, chunks: _Chain) -> None:
        """Write all rows."""
        columns = [str(j) for j in range(len(self.labels))]
        whole = IteratedSource(chunks)
        with _Writer(pq, path, columns) as writer:
            for task in whole.tasks(range(len(columns)), 2**17):
                for block in task():
                    writer.write(block)
        if not writer.written:
            raise DataError("Chunks: the iterator yields no rows")

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each row group of the file, whose name says nothing to users."""
        for task in self._file.tasks(columns, rows):
            yield partial(_placed, task)


def _placed(task: Task) -> Iterator[Block]:
    for block in task():
        yield block._replace(place="the iterator", row=block.first)


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

    @property
    def written(self) -> bool:
        """Whether there are any rows."""
        return self._writer is not None

    def write(self, block: Block) -> None:
        """Add rows."""
        import pyarrow as pa

        try:
            arrays = [pa.array(column) for column in block.columns]
            table = pa.Table.from_arrays(arrays, self._names)
            if self._writer is not None:
                self._check_kinds(table.schema)
                table = table.cast(self._writer.schema)
        except (ValueError, OverflowError, pa.ArrowException) as error:
            raise DataError(
                f"{block.place}: values that are no numbers, or not of the kind that the first "
                f"chunk has: {error}"
            ) from error
        with _on_disk():
            if self._writer is None:
                self._writer = self._pq.ParquetWriter(self._path, table.schema)
            self._writer.write_table(table)

    def _check_kinds(self, schema: Any) -> None:
        """Refuse texts in the place of numbers, which pyarrow would read as numbers."""
        import pyarrow as pa

        for new, old in zip(schema.types, self._writer.schema.types, strict=True):
            if pa.types.is_primitive(new) != pa.types.is_primitive(old):
                raise ValueError(f"{new} is not {old}")

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with _on_disk():
                self._writer.close()


@contextmanager
def _on_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(
            f"Chunks: what the iterator yields cannot be kept in a temporary file: {error}. Pass a "
            "function that returns the iterator, or let TMPDIR name a larger disk"
        ) from error
