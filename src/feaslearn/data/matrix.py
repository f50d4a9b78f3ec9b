"""Conversion of what users pass to a matrix of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Real
from types import NoneType

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.exceptions import DataTypeError, Problems
from feaslearn.messages import column_label, describe_non_finite, list_first, row_number

#: Numbers that need not be converted before they are read.
AS_THEY_ARE = (np.dtype(np.float32), np.dtype(np.float64))


def as_matrix(
    values: object,
    *,
    name: str,
    problems: Problems,
    allow_nan: bool = False,
    allow_1d: bool = False,
    columns: Sequence[str] | None = None,
    first_row: int = 0,
    as_it_is: bool = False,
) -> Array | None:
    """Turn an array, nested lists or a pandas or polars frame into a float64 matrix."""
    names = column_names(values) if columns is None else columns
    array = _as_array(values, name, problems)
    if array is None:
        return None
    if array.ndim == 1 and (allow_1d or array.size == 0):
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        problems.add(
            f"{name}: {array.ndim} dimension(s), expected 2 (rows are samples). Reshape your data: "
            ".reshape(-1, 1) makes one column of it, .reshape(1, -1) one sample"
        )
        return None
    if as_it_is and array.dtype in AS_THEY_ARE:
        matrix: Array | None = array  # type: ignore[assignment]
    else:
        matrix = _as_float(array, name, names, problems, first_row)
    if matrix is None:
        return None
    if matrix.size == 0:
        _say_empty(matrix.shape, name, problems)
    elif allow_nan and np.isnan(matrix[0, 0]) and np.isnan(matrix).all():
        problems.add(f"{name}: every value is NaN, so nothing was observed")
    wrong = describe_non_finite(matrix, names, allow_nan=allow_nan, first_row=first_row)
    if wrong is not None:
        advice = "NaN stands for a value not observed" if allow_nan else "fill in or drop the rows"
        problems.add(f"{name}: {wrong}; {advice}")
    return matrix


def column_names(values: object) -> tuple[str, ...] | None:
    """Return the column names of a frame or the name of a series; None if they are not strings."""
    if not hasattr(values, "to_numpy"):
        return None
    labels = list(values.columns) if hasattr(values, "columns") else [getattr(values, "name", "")]
    if labels and all(isinstance(label, str) and label for label in labels):
        return tuple(labels)
    return None


def nested_columns(frame: object) -> list[str]:
    """Return the columns of a polars frame whose rows hold several values each."""
    # They are not numbers, and some versions of polars panic where they are asked for an array.
    schema = getattr(frame, "schema", None)
    if not isinstance(schema, Mapping):
        return []
    return [name for name, kind in schema.items() if kind.is_nested()]


def _as_array(values: object, name: str, problems: Problems) -> NDArray[np.generic] | None:
    if hasattr(values, "toarray"):
        problems.add(f"{name}: a sparse matrix is not supported; pass its .toarray()")
        return None
    if isinstance(values, np.ma.MaskedArray):
        # Otherwise the values under the mask would count as data.
        objects = np.array(values.data, dtype=object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    nested = nested_columns(values)
    if nested:
        problems.add(f"{name}: column {nested[0]!r} holds several values in a row")
        return None
    try:
        array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError:
        problems.add(f"{name}: the rows do not all have the same length")
        return None
    if array.ndim == 0:
        what = "None" if values is None else f"a {type(values).__name__}"
        problems.add(f"{name}: expected an array, a list of rows or a frame, got {what}")
        return None
    if array.dtype.kind in "US":
        # NumPy makes strings of numbers beside a string; as objects they keep their types.
        array = np.asarray(values, dtype=object)
    return array


def _as_float(
    array: NDArray[np.generic],
    name: str,
    names: Sequence[str] | None,
    problems: Problems,
    first_row: int,
) -> Array | None:
    kind = array.dtype.kind
    if kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    if kind == "O":
        return _from_objects(array, name, names, problems, first_row)
    if kind == "c":
        problems.add(f"{name}: Complex data not supported; pass real numbers")
    else:
        what = "dates or durations" if kind in "mM" else f"values of type {array.dtype}"
        problems.add(f"{name}: holds {what}; convert them to numbers first")
    return None


def _from_objects(
    array: NDArray[np.generic],
    name: str,
    names: Sequence[str] | None,
    problems: Problems,
    first_row: int,
) -> Array:
    if all(issubclass(kind, Real | np.bool_ | NoneType) for kind in set(map(type, array.flat))):
        with suppress(OverflowError):  # an integer beyond the floats; where, is found below
            return array.astype(np.float64)
    matrix = np.zeros(array.shape)
    places: list[str] = []
    total, error = 0, None
    for (i, j), value in np.ndenumerate(array):
        number = _read_number(value)
        if isinstance(number, float):
            matrix[i, j] = number
            continue
        total += 1
        if not isinstance(value, str | bytes):
            error = DataTypeError
        if total <= 5:
            number_of_row = row_number(first_row + i)
            places.append(f"row {number_of_row}, column {column_label(j, names)} is {number}")
    if total:
        what = "1 value is not a number" if total == 1 else f"{total} values are not numbers"
        problems.add(f"{name}: {what}: {list_first(places, total)}", error=error)
    return matrix


def _read_number(value: object) -> float | str:
    """Return the number, or say what there is in its place."""
    if isinstance(value, str | bytes):
        return f"the text {value!r}"  # even '3.5': the next row may say '3,5'
    if value is None or type(value).__name__ == "NAType":  # pandas.NA
        return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError) as error:
        return f"a {type(value).__name__} ({error})"


def _say_empty(shape: tuple[int, ...], name: str, problems: Problems) -> None:
    if shape[0] == 0:
        problems.add(f"{name}: no rows (shape={shape}); at least one sample is needed")
    if shape[1] == 0:
        problems.add(
            f"{name}: no columns, 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
