"""How kernels are compiled and cached."""

from __future__ import annotations

import pytest
from numba.core.caching import CompileResultCacheImpl

from feaslearn import tolerances
from feaslearn.solvers import oracle_kernels, small_lp_kernels
from feaslearn.solvers.jit import kernel


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def double(x: float) -> float:
        return 2.0 * x

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert kernel(double)(2.0) == 4.0


def test_the_tolerances_of_kernels_are_those_of_the_library() -> None:
    assert oracle_kernels.SUM_ROUNDING == tolerances.SUM_ROUNDING
    assert small_lp_kernels.TIE_TOL == tolerances.TIE_TOL
