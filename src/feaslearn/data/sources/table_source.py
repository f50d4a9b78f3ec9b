"""What every source of rows answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray


class Block(NamedTuple):
    """Some rows of some columns, as they stand in a source.

    Parameters
    ----------
    columns : sequence of ndarray of shape (N,)
        The values of each column that was asked for.
    first : int
        The number of the first row in the whole source.
    place : str
        Where the rows stand: a file, a partition, an item of an iterator.
    row : int
        The number of the first row there.
    """

    columns: Sequence[NDArray[Any]]
    first: int
    place: str
    row: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def rows(self, start: int, stop: int) -> Block:
        """Return some of the rows."""
        columns = [column[start:stop] for column in self.columns]
        return Block(columns, self.first + start, self.place, self.row + start)


#: Reads blocks; one thread runs it from its beginning to its end.
Task: TypeAlias = Callable[[], Iterable[Block]]


class TableSource(ABC):
    """Columns with names, whose rows can be gone through again and again."""

    #: Names of all columns.
    labels: tuple[str, ...]
    #: How many of them, from the first on, are signals, where the source says so itself.
    n_signals: int | None = None
    #: Whether the names of the signals are those of the user.
    named: bool = True
    #: Number of all rows, where it is known without reading.
    n_rows: int | None = None

    def check(self, columns: Sequence[int], memory: float) -> None:
        """Refuse columns that could not be read within so many bytes; here nothing is known."""
        del columns, memory

    @abstractmethod
    def tasks(self, columns: Sequence[int], rows: int) -> Iterator[Task]:
        """Yield what is to be done for one pass over some columns, in order.

        Parameters
        ----------
        columns : sequence of int
            The columns to read.
        rows : int
            No block has more rows than this.
        """


def cut(block: Block, rows: int) -> Iterator[Block]:
    """Yield a block in pieces of at most ``rows`` rows.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data.sources.table_source import Block, cut
    >>> [part.first for part in cut(Block([np.ones(5)], 10, "a.csv", 0), 2)]
    [10, 12, 14]
    """
    for start in range(0, block.n_rows, rows):
        yield block.rows(start, start + rows)
