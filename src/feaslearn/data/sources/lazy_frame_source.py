"""Lazy frames of polars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from feaslearn.data.sources.array_source import refuse_structures
from feaslearn.data.sources.table_source import Block, TableSource, Task, cut
from feaslearn.exceptions import DataError

#: Before this version `collect_batches` was missing, or swallowed errors.
OLDEST = (1, 37)


class LazyFrameSource(TableSource):
    """A query whose result is never in memory as a whole; each pass runs it again.

    Parameters
    ----------
    frame : polars.LazyFrame
        The query.
    """

    def __init__(self, frame: Any) -> None:
        _refuse_old_polars()
        self._frame = frame
        with _asking():
            self.labels = tuple(frame.collect_schema().names())

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each piece of the result; polars makes them."""
        names = [self.labels[j] for j in columns]
        first = 0
        query = self._frame.select(names)
        with _asking():
            for batch in query.collect_batches(chunk_size=rows, maintain_order=True):
                refuse_structures(batch, "the lazy frame")
                arrays = [batch[name].to_numpy() for name in names]
                block = Block(arrays, first, "the lazy frame", first)
                first += batch.height
                if batch.height:
                    yield partial(cut, block, rows)


def _refuse_old_polars() -> None:
    """Refuse versions that cannot read in pieces, or end without a word where a file is damaged."""
    import polars as pl

    if tuple(int(part) for part in pl.__version__.split(".")[:2]) < OLDEST:
        raise DataError(
            f"Chunks: polars {pl.__version__} does not hand over a lazy frame in pieces, or leaves "
            f"out what it cannot read; install polars {'.'.join(map(str, OLDEST))} or newer, or "
            "write the frame with sink_parquet and pass the file"
        )


@contextmanager
def _asking() -> Iterator[None]:
    """Make errors of polars ours: a file that the query reads may be damaged."""
    import polars as pl

    try:
        yield
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"the lazy frame: cannot be read: {error}") from error
