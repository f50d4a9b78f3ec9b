from __future__ import annotations

import numpy as np
import pytest

from feaslearn.exceptions import DataError
from feaslearn.problem import AffineRows


def test_evaluate_is_constant_plus_slope_times_signal() -> None:
    rows = AffineRows([1.0, -np.inf, 0.0], [[2.0, 0.0], [0.0, 0.0], [1.0, -1.0]])
    bounds = rows.evaluate([[1.0, 2.0], [0.0, 0.5]])
    np.testing.assert_allclose(bounds, [[3.0, -np.inf, -1.0], [1.0, -np.inf, -0.5]])


@pytest.mark.parametrize(
    ("constant", "slope", "message"),
    [
        ([[1.0]], [[1.0]], r"constant has shape \(1, 1\)"),
        ([1.0, 2.0], [[1.0]], r"slope has shape \(1, 1\), expected \(2, signals\)"),
        ([np.nan], [[1.0]], r"constant is NaN in rows \[0\]"),
        ([0.0, 1.0], [[1.0], [np.inf]], r"slope is NaN or infinite in rows \[1\]"),
        ([np.inf], [[1.0]], r"rows \[0\] have an infinite constant"),
    ],
)
def test_bad_rows_are_refused(constant: list[float], slope: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        AffineRows(constant, slope)
