"""Arrays in model files: exact, and checked before memory is allocated."""

from __future__ import annotations

import base64
import binascii
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import ModelFileError

#: The types that a file may hold, all little-endian.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
#: Most dimensions, and entries along one.
MAX_DIMENSIONS, MAX_LENGTH = 8, 2**31


def encode_array(array: NDArray[Any]) -> dict[str, Any] | None:
    """Return an array as what JSON can hold, or None for a type that a file does not hold."""
    little = array.dtype.newbyteorder("<")
    if little.str not in DTYPES:
        return None
    # The order of the entries in memory can change the last bit of a matrix product.
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    order = "F" if columns_first else "C"
    contents = array.astype(little, copy=False).tobytes(order=order)  # type: ignore[arg-type]
    return {
        "$": "array",
        "dtype": little.str,
        "shape": list(array.shape),
        "order": order,
        "data": base64.b64encode(contents).decode("ascii"),
    }


def decode_array(node: dict[str, Any], where: str) -> NDArray[Any]:
    """Return the array that a node of a file stands for; refuse one that does not add up."""
    dtype, shape, data, order = (node.get(key) for key in ("dtype", "shape", "data", "order"))
    if dtype not in DTYPES:
        raise ModelFileError(f"{where}: arrays of type {dtype!r} are not held by model files")
    if order not in ("C", "F"):
        raise ModelFileError(f"{where}: the order of an array is 'C' or 'F', not {order!r}")
    lengths = _checked_shape(shape, where)
    kind = np.dtype(dtype)
    expected = prod(lengths) * kind.itemsize
    if not isinstance(data, str) or len(data) != 4 * -(-expected // 3):
        raise ModelFileError(f"{where}: the data do not have the size that {list(lengths)} needs")
    try:
        contents = base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        raise ModelFileError(f"{where}: the data are not base64") from None
    if len(contents) != expected:
        raise ModelFileError(f"{where}: {len(contents)} bytes of data, expected {expected}")
    if dtype == "|b1" and contents.strip(b"\x00\x01"):
        raise ModelFileError(f"{where}: a truth value is neither 0 nor 1")
    flat = np.frombuffer(contents, dtype=kind).astype(kind.newbyteorder("="))
    return flat.reshape(lengths, order=order)


def _checked_shape(shape: object, where: str) -> tuple[int, ...]:
    """Return the shape of an array, or refuse it."""
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"{where}: the shape of an array is a list of at most 8 lengths")
    for length in shape:
        if type(length) is not int or not 0 <= length <= MAX_LENGTH:
            raise ModelFileError(f"{where}: {length!r} is not the length of an array")
    if prod(length or 1 for length in shape) > 2**48:
        raise ModelFileError(f"{where}: no array has the shape {shape}")
    return tuple(shape)
