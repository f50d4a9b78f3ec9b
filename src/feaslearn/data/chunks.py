"""Data that are read piece by piece: files, frames, arrays, iterators."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from numbers import Integral
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.data.checks import Names
from feaslearn.data.matrix import as_matrix
from feaslearn.data.parquet import Piece, Task
from feaslearn.data.readers import open_source
from feaslearn.data.source import BLOCK_ROWS, Chunk, Source, in_order
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import all_usual, beyond, find_columns, row_number

Answer = TypeVar("Answer")

#: Copies of the numbers of a chunk while it is worked on: as the source has them, as matrices, as
#: blocks, and what is made of those.
COPIES = 4
#: No chunk has more rows than this, or fewer than a block: larger ones are not faster.
MOST_ROWS = 16 * BLOCK_ROWS

#: Amounts of memory as users write them.
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class Chunks(Source):
    r"""Signals and decisions that are read piece by piece, larger than memory.

    What is learned from them are sums over all samples, one chunk after the other:

    .. math:: \sum_i w_i \ell_\theta(x_i, s_i) = \sum_{\text{chunks}} \sum_{i \in \text{chunk}}
              w_i \ell_\theta(x_i, s_i)

    Pass them to ``fit`` instead of X, without y.

    Parameters
    ----------
    source : path-like, sequence of path-like, pair of arrays, dataset, lazy frame or callable
        Parquet files (a path, a folder, a pattern such as ``"data/*.parquet"``, a list of those);
        a pair ``(X, y)`` of arrays, memory maps, frames or dask arrays; a pyarrow dataset or
        table; a polars lazy frame; a dask frame; or a function that returns an iterator of pairs
        ``(X, y)`` or of frames and is called once for each pass.
    signals, decisions : sequence of str, default=None
        Names of columns, or patterns such as ``"demand_*"``, in the order of the source. Not for
        pairs, which say it themselves.
    weights : str, default=None
        The column of the samples' weights.
    memory : int or str, default="1GB"
        About what chunks and all that is made of them may take at a time, beside the program
        itself: bytes, or a string such as ``"500MB"``.
    dtype : {"float64", "float32"}, default="float64"
        How the numbers of a chunk are held. Sums are always in double precision.

    References
    ----------
    Chan, Golub and LeVeque, "Algorithms for computing the sample variance", The American
    Statistician 37(3), 1983.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> chunks = fl.Chunks(lambda: iter([(data.signals[:30], data.decisions[:30]),
    ...                                  (data.signals[30:], data.decisions[30:])]))
    >>> chunks
    Chunks(1 signal, 2 decisions)
    >>> [chunk.n_rows for chunk in chunks.map(lambda chunk: chunk)]
    [30, 30]
    """

    def __init__(
        self,
        source: Any,
        *,
        signals: Sequence[str] | None = None,
        decisions: Sequence[str] | None = None,
        weights: str | None = None,
        memory: int | str = "1GB",
        dtype: Literal["float64", "float32"] = "float64",
    ) -> None:
        self.memory = bytes_of(memory)
        if str(dtype) not in ("float64", "float32"):
            raise DataError(f"Chunks: dtype={dtype!r} is neither 'float64' nor 'float32'")
        self._dtype = np.dtype(dtype)
        self._table = open_source(source)
        self.n_rows, self.named = self._table.n_rows, self._table.named
        self._signals, self._decisions, self._weights = self._choose(signals, decisions, weights)
        self._table.check([*self._signals, *self._decisions, *self._weights], self.memory)
        labels = self._labels = self._table.labels
        self.names = Names(
            tuple(labels[j] for j in self._signals), tuple(labels[j] for j in self._decisions)
        )

    def _choose(
        self, signals: Any, decisions: Any, weights: str | None
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Find the columns, and say together what is wrong with those that were asked for."""
        problems, labels, n_signals = Problems(), self._table.labels, self._table.n_signals
        if n_signals is not None:
            if (signals, decisions, weights) != (None, None, None):
                problems.add("signals, decisions and weights are not for a pair (X, y)")
            problems.raise_if_any(DataError, "Chunks")
            return tuple(range(n_signals)), tuple(range(n_signals, len(labels))), ()
        chosen = []
        for name, wanted in (("signals", signals), ("decisions", decisions), ("weights", weights)):
            items = [wanted] if isinstance(wanted, str) else list(wanted or ())
            if not items and name != "weights":
                problems.add(f"{name}: no column is listed; list at least one")
            found = find_columns(items, labels, len(labels), name, "in the source", problems)
            chosen.append(tuple(dict.fromkeys(found)))
        for j, times in Counter(j for part in chosen for j in part).items():
            if times > 1:
                problems.add(f"column {labels[j]!r} is listed as two things; keep one of them")
        problems.raise_if_any(DataError, "Chunks")
        return chosen[0], chosen[1], chosen[2]

    def chunk_rows(self, n_jobs: int = 1) -> int:
        """Return how many rows a chunk has at most, so that the memory is kept."""
        width = 8 * (len(self._signals) + len(self._decisions) + 1)
        rows = self.memory // (COPIES * width * 2 * n_jobs)
        return max(BLOCK_ROWS, min(MOST_ROWS, rows // BLOCK_ROWS * BLOCK_ROWS))

    def map(
        self,
        function: Callable[[Chunk], Answer],
        n_jobs: int = 1,
        signals: tuple[int, ...] | None = None,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each chunk, in order: one pass over the data.

        Parameters
        ----------
        function : callable
            What to do with a chunk.
        n_jobs : int, default=1
            Threads, each of which works on one chunk at a time.
        signals : tuple of int, default=None
            The signals to read, where ``function`` reads no others; the others, and the
            decisions, are zeros.

        Yields
        ------
        object
            The answer for each chunk.
        """

        def work(task: Task) -> list[Answer]:
            return [function(self._chunk(piece, signals)) for piece in task()]

        for answers in in_order(work, self._tasks(signals, n_jobs), n_jobs):
            yield from answers

    def _tasks(self, signals: tuple[int, ...] | None = None, n_jobs: int = 1) -> Iterator[Task]:
        columns = [*self._signals, *self._decisions, *self._weights]
        if signals is not None:
            columns = [self._signals[j] for j in signals]
        return self._table.tasks(columns, self.chunk_rows(n_jobs))

    def parts(self) -> Iterator[Callable[[], list[Chunk]]]:
        """Yield functions that read a part of the data each, in order, wherever they are called.

        They can be sent to other machines; those of files read them there.
        """
        reader = copy(self)  # without the source, which may hold the data themselves
        vars(reader).pop("_table")
        for task in self._tasks():
            yield partial(reader.read, task)

    def read(self, task: Task) -> list[Chunk]:
        """Return the chunks that one task of a source makes."""
        return [self._chunk(piece) for piece in task()]

    def _chunk(self, piece: Piece, only: tuple[int, ...] | None = None) -> Chunk:
        """Return a piece as matrices, checked; of some signals alone, the others are zeros."""
        problems, count = Problems(), piece.n_rows
        if only is not None:
            names = tuple(self.names.signals[j] for j in only)
            signals = np.zeros((count, len(self.names.signals)), self._dtype, order="F")
            signals[:, list(only)] = self._matrix(piece, 0, "signals", names, problems)
            decisions = np.broadcast_to(np.zeros(1, self._dtype), (count, len(self._decisions)))
        else:
            ends = (len(self._signals), len(self._signals) + len(self._decisions))
            signals = self._matrix(piece, 0, "signals", self.names.signals, problems)
            decisions = self._matrix(piece, ends[0], "decisions", self.names.decisions, problems)
        weights = np.ones(count)
        if only is None and self._weights:
            label = self._labels[self._weights[0]]
            weights = self._matrix(piece, ends[1], "weights", (label,), problems)[:, 0]
            weights = weights.astype(np.float64)
            if len(wrong := np.flatnonzero(weights < 0.0)):
                row = row_number(piece.row + wrong[0])
                problems.add(f"weights: {weights[wrong[0]]} in row {row}; they are not negative")
        problems.raise_if_any(DataError, piece.place)
        return Chunk(signals, decisions, weights, piece.first, piece.place)

    def _matrix(
        self, piece: Piece, start: int, name: str, names: Sequence[str], problems: Problems
    ) -> NDArray[Any]:
        """Put columns side by side; add to ``problems`` the values that are wrong, by row."""
        columns, allow_nan = piece.columns[start : start + len(names)], name == "decisions"
        for label, column in zip(names, columns, strict=True):
            if column.ndim != 1:
                raise DataError(f"{piece.place}: column {label!r} holds several values in a row")
        if all(column.dtype.kind in "biuf" for column in columns):
            table = np.empty((piece.n_rows, len(columns)), self._dtype, order="F")
            with np.errstate(over="ignore"):  # of numbers beyond single precision
                for j, column in enumerate(columns):
                    table[:, j] = column
            # A sum says at once that all is well; where it does not, every value is tested.
            if all_usual(table) or (allow_nan and not beyond(table).any()):
                return table
        else:
            table = np.column_stack([np.asarray(column, dtype=object) for column in columns])
        found: Array | None = as_matrix(
            table,
            name=name,
            problems=problems,
            allow_nan=allow_nan,
            columns=names,
            first_row=piece.row,
        )
        return table if found is None else found.astype(self._dtype)

    def __repr__(self) -> str:
        sizes = ((len(self._signals), "signal"), (len(self._decisions), "decision"))
        parts = [f"{size} {what}{'' if size == 1 else 's'}" for size, what in sizes]
        if self.n_rows is not None:
            parts.insert(0, f"{self.n_rows} rows")
        return f"Chunks({', '.join(parts)})"


def bytes_of(memory: int | str) -> int:
    """Return an amount of memory in bytes."""
    if isinstance(memory, Integral) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B?)\s*", memory.upper())
        if read and read[2] in UNITS and float(read[1]) > 0.0:
            return int(float(read[1]) * UNITS[read[2]])
    raise DataError(
        f"memory={memory!r} is not an amount of memory; give bytes, or a string such as '500MB'"
    )
