"""The least and the greatest value of each column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray

#: Rows that are compared side by side: columns alone are too short to be compared quickly.
TOGETHER = 64


def column_ends(values: NDArray[Any]) -> FloatArray:
    """Return the least and the greatest value of each column (2, K); NaN where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data.column_ends import column_ends
    >>> column_ends(np.array([[3.0, np.nan], [1.0, 5.0]])).tolist()
    [[1.0, 5.0], [3.0, 5.0]]
    """
    count, width = values.shape
    if not count:
        return np.full((2, width), np.nan)
    whole = count - count % TOGETHER if values.flags.c_contiguous and width else 0
    rest = values[whole:]
    wide = values[:whole].reshape(-1, TOGETHER * width) if whole else None
    ends = []
    for choose in (np.fmin, np.fmax):
        parts = [] if whole == count else [choose.reduce(rest, axis=0)]
        if wide is not None:
            parts.append(choose.reduce(choose.reduce(wide, axis=0).reshape(TOGETHER, width)))
        ends.append(choose.reduce(parts, axis=0))
    return np.array(ends, dtype=np.float64)
