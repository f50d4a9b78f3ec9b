"""The annealed loss of a simplex: the vectorised kernel against the one for any set."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn import Simplex
from feaslearn.losses.kernels import L1, L2, LINF, SQUARED_L2
from feaslearn.trainers.annealed_column_kernels import ROWS, annealed_columns
from feaslearn.trainers.annealed_kernels import annealed_rows


@pytest.mark.parametrize("norm", [SQUARED_L2, L2, L1, LINF])
@pytest.mark.parametrize("tau", [3.0, 1e-3])
@pytest.mark.parametrize(("count", "p", "K"), [(1, 1, 1), (ROWS, 4, 2), (2 * ROWS + 5, 9, 6)])
def test_agrees_with_the_kernel_for_any_set(
    norm: int, tau: float, count: int, p: int, K: int
) -> None:
    random = np.random.default_rng(count)
    A, Phi = random.normal(size=(K, 3, p)), random.normal(size=(count, K))
    C, X, weights = *random.normal(size=(2, count, 3)), random.uniform(size=count)
    X[random.random(X.shape) < 0.2] = np.nan
    found, expected, in_b = np.zeros_like(A), np.zeros_like(A), np.zeros((K, 3))
    value = annealed_columns(A, Phi, C, X, weights, tau, norm, found)
    code = Simplex(p).code()
    general = annealed_rows(
        code, A, np.zeros((K, 3)), Phi, C, X, weights, tau, norm, expected, in_b
    )
    assert value == pytest.approx(general, rel=1e-12)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * scale)
