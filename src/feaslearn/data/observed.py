"""Which decisions were observed; one sum says that all were."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def observed(decisions: NDArray[Any]) -> NDArray[np.intp]:
    """Count the values of each column that are not NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data.observed import observed
    >>> observed(np.array([[1.0, np.nan], [2.0, 3.0]])).tolist()
    [2, 1]
    """
    if not np.isnan(decisions.sum()):
        return np.full(decisions.shape[1], len(decisions))
    return np.asarray(np.count_nonzero(~np.isnan(decisions), axis=0))


def counting(decisions: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which samples count: those with a positive weight, and something observed.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data.observed import counting
    >>> counting(np.array([[1.0], [np.nan], [2.0]]), np.array([1.0, 1.0, 0.0])).tolist()
    [True, False, False]
    """
    count = np.asarray(weights > 0.0)
    if np.isnan(decisions.sum()):
        count = count & ~np.isnan(decisions).all(axis=1)
    return count
