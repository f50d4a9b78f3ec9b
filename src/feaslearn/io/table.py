"""A table as it stands in a file: columns of texts or of numbers, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import find_columns, list_first
from feaslearn.printable import printable

Array = NDArray[np.float64]

#: Cells that say that there is no value, in small letters.
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null"})
#: Cells that a message names.
NAMED = 5
#: Floats hold every whole number up to here.
LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file.

    Parameters
    ----------
    source : str
        The file, for the messages.
    names : tuple of str
        Heads of the columns; one may stand there twice, as long as nobody asks for it.
    columns : list of list of str or ndarray
        Texts as they stand in the file, or numbers where the file knows that they are some.
    place : callable
        Says where a row stands in the file: "line 7".

    Examples
    --------
    >>> from feaslearn.exceptions import Problems
    >>> from feaslearn.io.table import Table
    >>> table = Table("a.csv", ("day", "demand"), [["Mon", "Tue"], ["3", "x"]], "row {}".format)
    >>> problems = Problems()
    >>> frame = table.frame((1,), problems)
    >>> problems.messages
    ("a.csv: 1 value is no number: row 1, column 'demand' is the text 'x'",)
    """

    source: str
    names: tuple[str, ...]
    columns: Sequence[Sequence[str] | Array]
    place: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def find(self, wanted: Sequence[str], name: str, problems: Problems) -> tuple[int, ...]:
        """Find columns by name or pattern, each once; add to problems what is not there."""
        found = find_columns(
            list(wanted), self.names, len(self.names), name, f"in {self.source}", problems
        )
        for label in dict.fromkeys(self.names[j] for j in found):
            # One that was asked for by its name has been told already.
            if label not in wanted and self.names.count(label) > 1:
                problems.add(
                    f"{name}: several columns in {self.source} are called {label!r}; rename them"
                )
        return tuple(dict.fromkeys(found))

    def cells(self, j: int) -> Sequence[str] | Array:
        """Return a column as numbers where every cell is one or empty, else as its texts.

        Whole numbers that a float cannot hold, as long keys are, stay texts.
        """
        numbers, bad = _as_numbers(self.columns[j], allow_missing=True)
        if bad or np.isnan(numbers).all() or np.nanmax(np.abs(numbers)) > LARGEST_WHOLE:
            return self.columns[j]
        return numbers

    def frame(
        self, chosen: Sequence[int], problems: Problems, *, allow_missing: bool = False
    ) -> Frame:
        """Return columns as numbers; add to problems every cell that is none, by its place."""
        values = np.empty((len(self), len(chosen)))
        wrong: list[tuple[int, str, str]] = []
        for place, j in enumerate(chosen):
            column, bad = _as_numbers(self.columns[j], allow_missing)
            values[:, place] = column
            wrong += [(row, self.names[j], what) for row, what in bad]
        if wrong:
            wrong.sort(key=lambda cell: cell[0])
            texts = [f"{self.place(i)}, column {name!r} {what}" for i, name, what in wrong[:NAMED]]
            count = "1 value is" if len(wrong) == 1 else f"{len(wrong)} values are"
            problems.add(f"{self.source}: {count} no number: {list_first(texts, len(wrong))}")
        return Frame(values, [self.names[j] for j in chosen])


def _as_numbers(
    column: Sequence[str] | Array, allow_missing: bool
) -> tuple[Array, list[tuple[int, str]]]:
    """Return the numbers of a column, and the rows that hold none with what they hold."""
    if isinstance(column, np.ndarray):
        numbers = column
        empty = np.isnan(numbers) & (not allow_missing)
        bad = [(int(i), "is empty") for i in np.flatnonzero(empty)]
    else:
        numbers, bad = _parsed(column, allow_missing)
    infinite = np.flatnonzero(np.isinf(numbers))
    return numbers, bad + [(int(i), f"is {numbers[i]}") for i in infinite]


def _parsed(cells: Sequence[str], allow_missing: bool) -> tuple[Array, list[tuple[int, str]]]:
    numbers, bad = [], []
    for i, cell in enumerate(cells):
        number = _number(cell)
        numbers.append(number)
        if math.isnan(number):
            text = cell.strip()
            if text.casefold() not in MISSING:
                hint = "; decimals are written with a point" if _has_comma(text) else ""
                bad.append((i, f"is the text {text[:40]!r}{hint}"))
            elif not allow_missing:
                bad.append((i, "is empty"))
    return np.array(numbers, dtype=np.float64), bad


def _number(cell: str) -> float:
    """Return the number in a cell, NaN where there is none."""
    try:
        # Python reads 1_000 as a number; in a table it is a slip.
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def _has_comma(text: str) -> bool:
    return "," in text and not math.isnan(_number(text.replace(",", ".", 1)))


# Numbers with column names: all that a model needs of a data frame.


class Frame:
    """A matrix whose columns have names; `RegionRegressor` takes it where it takes a frame.

    pandas and polars are not needed to read a file and to fit a model. It is made as a polars
    frame is, so that predictions come back as one.

    Parameters
    ----------
    values : ndarray of shape (N, K)
        The numbers.
    schema : sequence of str
        The names of the columns.
    orient : "row"
        What the first axis of the numbers is.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.io import Frame
    >>> Frame(np.ones((2, 1)), ["demand"])
    Frame(2 rows of demand)
    """

    def __init__(
        self, values: Array, schema: Sequence[str], orient: Literal["row"] = "row"
    ) -> None:
        if orient != "row" or values.shape[1:] != (len(schema),):
            raise DataError(f"a frame of {len(schema)} columns is not made of {values.shape}")
        self.values = values
        self.columns = list(schema)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def to_numpy(self) -> Array:
        """Return the numbers."""
        return self.values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.asarray(self.values, dtype=dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        return f"Frame({len(self)} rows of {printable(', '.join(self.columns))})"
