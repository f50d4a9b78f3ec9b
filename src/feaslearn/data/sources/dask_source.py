"""Dask frames and arrays; dask itself is never imported here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from feaslearn.data.sources.array_source import columns_of, pair_labels
from feaslearn.data.sources.table_source import Block, TableSource, Task, cut
from feaslearn.exceptions import DataError


class DaskFrameSource(TableSource):
    """The partitions of a dask frame, computed one after the other.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The frame.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.labels = tuple(str(label) for label in frame.columns)

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of the first row of each partition: that takes a look at each."""
        sizes = self._frame.map_partitions(len).compute(scheduler="synchronous")
        return [0, *np.cumsum(np.asarray(sizes)).tolist()]

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each partition."""
        frame = self._frame[[self._frame.columns[j] for j in columns]]
        for i, first in enumerate(self._firsts[:-1]):
            yield partial(_partition, frame.partitions[i], first, i, rows)


class DaskArraySource(TableSource):
    """A pair (X, y) of dask arrays, by their blocks of rows.

    Parameters
    ----------
    X, y : dask.array.Array
        Signals (N, K) and decisions (N, n) or (N,).
    """

    def __init__(self, X: Any, y: Any) -> None:
        if np.isnan([*X.shape, *y.shape]).any():
            raise DataError(
                "Chunks: the sizes of the dask arrays are not known; call compute_chunk_sizes() on "
                "them"
            )
        if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y):
            raise DataError(
                f"Chunks: dask arrays of shapes {X.shape} and {y.shape}; give one row of signals "
                "and of decisions for every sample"
            )
        self._X = X.rechunk({1: -1})
        self._y = y.rechunk({0: self._X.chunks[0]} | ({1: -1} if y.ndim == 2 else {}))
        n_decisions = y.shape[1] if y.ndim == 2 else 1
        self.labels, self.named = pair_labels(None, None, X.shape[1], n_decisions), False
        self.n_signals, self.n_rows = int(X.shape[1]), int(X.shape[0])

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each block of rows."""
        first = 0
        for i, size in enumerate(self._X.chunks[0]):
            if size:
                pair = (self._X.blocks[i], self._y.blocks[i])
                yield partial(_block, pair, first, i, tuple(columns), rows)
            first += int(size)


def _partition(partition: Any, first: int, number: int, rows: int) -> Iterator[Block]:
    frame = partition.compute(scheduler="synchronous")
    if len(frame):
        place = f"partition {number}"
        yield from cut(Block(columns_of(frame, place), first, place, 0), rows)


def _block(
    pair: tuple[Any, Any], first: int, number: int, columns: tuple[int, ...], rows: int
) -> Iterator[Block]:
    place = f"block {number}"
    tables = [each.compute(scheduler="synchronous") for each in pair]
    found = [column for table in tables for column in columns_of(table, place)]
    yield from cut(Block([found[j] for j in columns], first, place, 0), rows)
