"""Model files taken apart and put together again, for tests that forge them."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def unpacked(contents: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the document and the arrays of a model file."""
    with np.load(io.BytesIO(contents)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("document").tobytes()), arrays


def packed(document: Any, arrays: dict[str, NDArray[Any]]) -> bytes:
    """Return a model file of a document and arrays."""
    buffer, text = io.BytesIO(), json.dumps(document).encode("ascii")
    np.savez(buffer, document=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()
