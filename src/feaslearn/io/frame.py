"""Numbers with column names: all that a model needs of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError
from feaslearn.printable import printable

Array = NDArray[np.float64]


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
