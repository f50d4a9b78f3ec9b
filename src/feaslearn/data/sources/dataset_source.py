"""Datasets and tables of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from feaslearn.data.sources.parquet_source import arrow_column, reading
from feaslearn.data.sources.table_source import Block, TableSource, Task
from feaslearn.exceptions import DataError


class DatasetSource(TableSource):
    """The fragments of a dataset, one after the other.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The data.
    """

    def __init__(self, dataset: Any) -> None:
        with reading("the dataset"):
            self.labels = tuple(dataset.schema.names)
        self._fragments: list[tuple[Any, int, str]] = []
        first = 0
        for number, fragment in enumerate(dataset.get_fragments()):
            place = getattr(fragment, "path", "") or f"fragment {number}"
            self._fragments.append((fragment, first, place))
            with reading(place):
                first += fragment.count_rows()
        self.n_rows = first
        if not first:
            raise DataError("Chunks: the dataset has no rows")

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each fragment."""
        names = [self.labels[j] for j in columns]
        for fragment, first, place in self._fragments:
            yield partial(_blocks, fragment, first, place, names, rows)


def _blocks(fragment: Any, first: int, place: str, names: list[str], rows: int) -> Iterator[Block]:
    row = 0
    with reading(place):
        for batch in fragment.to_batches(
            columns=names, batch_size=rows, batch_readahead=1, use_threads=False
        ):
            if batch.num_rows:
                arrays = [arrow_column(batch.column(name)) for name in names]
                yield Block(arrays, first + row, place, row)
            row += batch.num_rows
