"""Chunks that a function of the user makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from feaslearn.data.matrix import column_names
from feaslearn.data.sources.array_source import ArraySource, columns_of
from feaslearn.data.sources.table_source import Block, TableSource, Task, cut
from feaslearn.exceptions import DataError


class IteratedSource(TableSource):
    """A function that returns an iterator of chunks, called once for every pass.

    Parameters
    ----------
    function : callable
        Returns an iterator of pairs (X, y), or of frames that hold the signals and the decisions.
    """

    def __init__(self, function: Callable[[], Iterable[Any]]) -> None:
        self._function = function
        items = self._items()
        item = next(items, None)
        if item is None:
            raise DataError("Chunks: the iterator that the function returned is empty")
        if self._items() is items:
            raise DataError(
                "Chunks: the function returned the same iterator twice, which can be read only "
                "once; give a function that returns a fresh iterator"
            )
        if isinstance(item, tuple):
            pair = _pair(item, 0, 0)
            self.labels, self.n_signals, self.named = pair.labels, pair.n_signals, pair.named
        else:
            self.labels = _frame_names(item, 0)

    def _items(self) -> Iterator[Any]:
        made = self._function()
        if not isinstance(made, Iterable):
            raise DataError(
                f"Chunks: the function returned a {type(made).__name__}, not an iterator of pairs "
                "(X, y) or of frames"
            )
        return iter(made)

    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield one task for each item; they are made here, one after the other."""
        first = 0
        for number, item in enumerate(self._items()):
            block = self._block(item, number, first, columns)
            first += block.n_rows
            yield partial(cut, block, rows)

    def _block(self, item: Any, number: int, first: int, columns: Sequence[int]) -> Block:
        if self.n_signals is not None:
            pair = _pair(item, number, first)
            labels, block = pair.labels, pair.block
        else:
            labels, place = _frame_names(item, number), f"chunk {number}"
            tables = columns_of(item, place)
            if labels == self.labels:
                return Block([tables[j] for j in columns], first, place, 0)
        if labels != self.labels:
            raise DataError(
                f"Chunks: chunk {number} has the columns {', '.join(labels)}; the first has "
                f"{', '.join(self.labels)}, in this order"
            )
        return block(columns)


def _pair(item: Any, number: int, first: int) -> ArraySource:
    if not isinstance(item, tuple) or len(item) != 2:
        raise DataError(
            f"Chunks: chunk {number} is a {type(item).__name__}; the first one was a pair (X, y), "
            "so all must be"
        )
    return ArraySource(*item, place=f"chunk {number}", first=first)


def _frame_names(item: Any, number: int) -> tuple[str, ...]:
    names = column_names(item) if hasattr(item, "columns") else None
    if names is None:
        raise DataError(
            f"Chunks: chunk {number} is a {type(item).__name__}, neither a pair (X, y) nor a frame "
            "with names of columns"
        )
    return names
