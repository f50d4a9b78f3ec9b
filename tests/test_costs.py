"""Every way to say what the cost is, and every way to say it wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from feaslearn.costs import AffineCost, FunctionCost, ResolvedCost, resolve_cost
from feaslearn.exceptions import DataError, Problems

NAMES = ("price_1", "price_2", "demand", "wind")
SIGNALS = np.arange(12.0).reshape(3, 4)
FINITE = st.floats(-1e6, 1e6)


def resolve(specification: Any, n: int | None = 2, names: Any = NAMES) -> ResolvedCost:
    problems = Problems()
    resolved = resolve_cost(
        specification, n_decisions=n, signal_names=names, n_signals=4, problems=problems
    )
    problems.raise_if_any(DataError, "test")
    assert resolved is not None
    return resolved


def messages(specification: Any, n: int | None = 2, names: Any = NAMES) -> tuple[str, ...]:
    problems = Problems()
    resolved = resolve_cost(
        specification, n_decisions=n, signal_names=names, n_signals=4, problems=problems
    )
    assert resolved is None
    return problems.messages


class TestColumns:
    @pytest.mark.parametrize(
        "specification",
        [
            [1, 0],
            range(1, -1, -1),
            np.array([1, 0], dtype=np.uint8),
            ("price_2", 0),
            pd.Index(["price_2", "price_1"]),
        ],
    )
    def test_every_way_to_list_them(self, specification: Any) -> None:
        cost = resolve(specification)
        assert cost.columns == (1, 0)
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), SIGNALS[:, [1, 0]])

    @pytest.mark.parametrize(
        ("specification", "words"),
        [
            (["price_3", 0], "'price_3' is not among the signals; did you mean 'price_2'?"),
            ([0, 4], "column 4 is not among the signals; there are 4, counted from 0"),
            ([1, 1], "'price_2' is listed more than once; a constant cost is written with floats"),
            ([0, 1, 2], "the number of entries is 3, that of decisions 2"),
            (["*"], "the number of entries is 4, that of decisions 2"),
            (["hydro_*", 0], "column 'hydro_*' is not among the signals; there are 'price_1'"),
            ([-1, 0], "column -1 is not"),
            ([True, 0], "True is neither the position nor the name"),
            ([0, None], "None is neither the position nor the name"),
            ([0.5, "wind"], "0.5 is neither the position nor the name"),
            (None, "None is not a list of columns"),
            (np.ones((3, 2)), "an array of shape (3, 2) is not a list of columns"),
        ],
    )
    def test_what_is_wrong_is_said(self, specification: Any, words: str) -> None:
        (message,) = messages(specification)
        assert message.startswith("cost: ")
        assert words in message


class TestConstant:
    @pytest.mark.parametrize("specification", [(1, -2.0), pd.Series([1.0, -2.0])])
    def test_floats_are_a_constant(self, specification: Any) -> None:
        cost = resolve(specification)
        assert cost.columns == ()
        assert cost.specification is specification
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), [[1.0, -2.0]] * 3)


class TestAffineCost:
    @given(arrays(float, 2, elements=FINITE), arrays(float, (2, 4), elements=FINITE))
    def test_the_equation_and_the_columns_that_enter(self, C0: np.ndarray, C: np.ndarray) -> None:
        specification = AffineCost(C0, C)
        cost = resolve(specification)
        for s, c in zip(SIGNALS, cost.evaluate(SIGNALS), strict=True):
            np.testing.assert_allclose(c, C0 + C @ s, rtol=1e-12, atol=1e-6)
        assert cost.columns == tuple(j for j in range(4) if np.any(C[:, j] != 0))
        assert cost.specification is specification

    @pytest.mark.parametrize(
        ("C0", "C", "words"),
        [
            ([0, 0, 0], np.eye(2, 4), "C0 of AffineCost has shape (3,), not (2,)"),
            ([0, 0], np.eye(2, 3), "C of AffineCost has shape (2, 3), not (2, 4)"),
            ([0, np.inf], np.eye(2, 4), "C0 of AffineCost holds NaN or infinite"),
            ([0, 0], np.full((2, 4), np.nan), "C of AffineCost holds NaN or infinite"),
            ([0, 0], [[1], [1, 2]], "C of AffineCost must be a regular array"),
        ],
    )
    def test_what_is_wrong_is_said(self, C0: Any, C: Any, words: str) -> None:
        (message,) = messages(AffineCost(C0, C))
        assert words in message


class TestFunctionCost:
    def test_the_function_sees_all_signals(self) -> None:
        cost = resolve(FunctionCost(lambda signals: signals[:, 2:] ** 2, ["wind", 2]))
        assert cost.columns == (3, 2)
        np.testing.assert_array_equal(cost.evaluate(SIGNALS), SIGNALS[:, 2:] ** 2)

    @pytest.mark.parametrize(
        ("fn", "words"),
        [
            (lambda s: s[:, 0], "gave shape (3,), expected (3, 2)"),
            (lambda s: s[:, :2] / 0.0, "row 0, column 0 is NaN; row 0, column 1 is inf"),
            (lambda s: {}["a"], "the function failed: KeyError"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_what_the_function_does_wrong_is_said(self, fn: Any, words: str) -> None:
        with pytest.raises(DataError) as raised:
            resolve(FunctionCost(fn, [0])).evaluate(SIGNALS)
        assert words in str(raised.value)
