"""Tables as they stand in files: named columns of strings or of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import find_columns, list_first
from feaslearn.printable import printable

#: Cells of missing values, in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null"})
#: Cells that a message names at most.
MAX_NAMED = 5
#: Floats hold every integer up to here.
MAX_EXACT_INTEGER = 2.0**53


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file."""

    source: str
    names: tuple[str, ...]
    columns: Sequence[Sequence[str] | Array]
    place: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def find(self, wanted: Sequence[str], name: str, problems: Problems) -> tuple[int, ...]:
        """Find columns by name or pattern, each once; add to problems what is missing."""
        found = find_columns(
            list(wanted), self.names, len(self.names), name, f"in {self.source}", problems
        )
        for label in dict.fromkeys(self.names[j] for j in found):
            # One that was asked for by its name is a problem already.
            if label not in wanted and self.names.count(label) > 1:
                problems.add(
                    f"{name}: several columns in {self.source} are called {label!r}; rename them"
                )
        return tuple(dict.fromkeys(found))

    def cells(self, j: int) -> Sequence[str] | Array:
        """Return a column as numbers where every cell is one, exact as a float, or empty."""
        numbers, bad = _as_numbers(self.columns[j], allow_missing=True)
        if bad or np.isnan(numbers).all() or np.nanmax(np.abs(numbers)) > MAX_EXACT_INTEGER:
            return self.columns[j]
        return numbers

    def frame(
        self, chosen: Sequence[int], problems: Problems, *, allow_missing: bool = False
    ) -> Frame:
        """Return columns as numbers; add to problems every cell that is not numeric."""
        values = np.empty((len(self), len(chosen)))
        wrong: list[tuple[int, str, str]] = []
        for at, j in enumerate(chosen):
            column, bad = _as_numbers(self.columns[j], allow_missing)
            values[:, at] = column
            wrong += [(row, self.names[j], what) for row, what in bad]
        if wrong:
            wrong.sort(key=lambda cell: cell[0])
            texts = [
                f"{self.place(i)}, column {name!r} {what}" for i, name, what in wrong[:MAX_NAMED]
            ]
            count = "1 value is" if len(wrong) == 1 else f"{len(wrong)} values are"
            problems.add(f"{self.source}: {count} not numeric: {list_first(texts, len(wrong))}")
        return Frame(values, [self.names[j] for j in chosen])


def _as_numbers(
    column: Sequence[str] | Array, allow_missing: bool
) -> tuple[Array, list[tuple[int, str]]]:
    """Return the numbers of a column, and the other rows with what they hold."""
    if isinstance(column, np.ndarray):
        numbers, cells = column, None
    else:
        numbers, cells = np.array([read_number(cell) for cell in column], dtype=np.float64), column
    bad = []
    for i in np.flatnonzero(~np.isfinite(numbers)).tolist():
        text = "" if cells is None else cells[i].strip()
        if np.isinf(numbers[i]):
            bad.append((i, f"is {numbers[i]}"))
        elif text.casefold() not in MISSING:
            comma = "," in text and not math.isnan(read_number(text.replace(",", ".", 1)))
            hint = "; decimals are written with a point" if comma else ""
            bad.append((i, f"is the text {text[:40]!r}{hint}"))
        elif not allow_missing:
            bad.append((i, "is empty"))
    return numbers, bad


def read_number(cell: str) -> float:
    """Return the number in a cell, NaN if it is not numeric."""
    try:
        # Python reads 1_000 as a number; in a table it is a mistake.
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


class Frame:
    """A matrix whose columns have names; `RegionRegressor` takes it where it takes a frame."""

    # pandas and polars are not needed to read a file and to fit a model. It is made as a polars
    # frame is, so that predictions come back as one.

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
