"""Good data in every form give the same arrays; bad data are refused, all problems at once."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from feaslearn.costs import FunctionCost
from feaslearn.data import Decisions
from feaslearn.exceptions import DataError

SIGNALS = np.arange(24.0).reshape(6, 4) / 8
DECISIONS = np.arange(12.0).reshape(6, 2) / 4
COLUMNS = ("price_1", "price_2", "demand", "Wind", "x_1", "x_2")
PANDAS = pd.DataFrame(np.hstack([SIGNALS, DECISIONS]), columns=list(COLUMNS))
POLARS = pl.DataFrame({name: PANDAS[name].to_numpy() for name in COLUMNS})
FRAMES = pytest.mark.parametrize("frame", [PANDAS, POLARS], ids=["pandas", "polars"])


def make(
    signals: Any = SIGNALS, decisions: Any = DECISIONS, cost: Any = (0, 1), **more: Any
) -> Any:
    return Decisions.from_arrays(signals, decisions, cost, **more)


def refusal(*arguments: Any, **more: Any) -> str:
    with pytest.raises(DataError) as raised:
        make(*arguments, **more)
    return str(raised.value)


def first_two(signals: np.ndarray) -> np.ndarray:
    return signals[:, :2]


class TestGoodArrays:
    @pytest.mark.parametrize(
        "signals",
        [
            SIGNALS,
            SIGNALS.tolist(),
            SIGNALS.astype(np.float32),
            np.asfortranarray(SIGNALS),
            PANDAS.iloc[:, :4].convert_dtypes(),
            POLARS[:, :4],
            np.ma.masked_array(SIGNALS),
        ],
    )
    def test_every_form_gives_the_same_matrix(self, signals: Any) -> None:
        data = make(signals)
        np.testing.assert_array_equal(data.signals, SIGNALS)
        assert data.signals.dtype == np.float64
        assert data.signals.flags.c_contiguous
        np.testing.assert_array_equal(data.cost_matrix, SIGNALS[:, :2])

    @pytest.mark.parametrize("dtype", [int, np.int8, np.uint64, bool, np.float16])
    def test_other_numbers_become_float64(self, dtype: Any) -> None:
        decisions = (DECISIONS > 1).astype(dtype)
        data = make(decisions=decisions)
        assert data.decisions.dtype == np.float64
        np.testing.assert_array_equal(data.decisions, DECISIONS > 1)

    @pytest.mark.parametrize(
        "decisions", [DECISIONS[:, 0], DECISIONS[:, 0].tolist(), PANDAS["x_1"], POLARS["x_1"]]
    )
    def test_a_vector_of_decisions_is_one_column(self, decisions: Any) -> None:
        data = make(decisions=decisions, cost=[1])
        np.testing.assert_array_equal(data.decisions, DECISIONS[:, :1])

    def test_nobody_can_change_the_data(self) -> None:
        signals, decisions = SIGNALS.copy(), DECISIONS.copy()
        data = make(signals, decisions, FunctionCost(first_two, [0, 1]))
        signals[:] = decisions[:] = 7.0
        np.testing.assert_array_equal(data.signals, SIGNALS)
        np.testing.assert_array_equal(data.decisions, DECISIONS)
        for twin in (data, data[1:], pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
            for array in (twin.signals, twin.decisions, twin.cost_matrix):
                with pytest.raises(ValueError, match="read-only"):
                    array[0, 0] = 1.0
        with pytest.raises(AttributeError):
            data.signals = SIGNALS


class TestUnobserved:
    @pytest.mark.parametrize(
        "decisions",
        [
            np.array([[1.0, np.nan], [np.nan, np.nan]]),
            [[1.0, None], [None, None]],
            pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [np.nan, np.nan]}),
            pl.DataFrame({"a": [1, None], "b": [None, None]}),
            pl.DataFrame({"a": [True, None], "b": [None, None]}),
            np.ma.masked_array([[1.0, 9.0], [9.0, 9.0]], mask=[[0, 1], [1, 1]]),
        ],
    )
    def test_missing_decisions_are_kept_as_nan(self, decisions: Any) -> None:
        data = make(SIGNALS[:2], decisions)
        np.testing.assert_array_equal(data.decisions, [[1.0, np.nan], [np.nan, np.nan]])
        assert "3 unobserved" in repr(data)

    def test_something_must_be_observed(self) -> None:
        assert "every value is NaN" in refusal(decisions=np.full((6, 2), np.nan))


class TestBadArrays:
    @FRAMES
    def test_the_column_is_named(self, frame: Any) -> None:
        signals = np.array(SIGNALS)
        signals[5, 3] = np.nan
        named = type(frame)(dict(zip(COLUMNS, signals.T, strict=False)))
        assert "row 5, column 'Wind' is NaN" in refusal(named)
        names = (list("abcd"), list("xy"))
        assert "row 5, column 'd' is NaN" in refusal(signals, names=names)

    @pytest.mark.parametrize(
        ("signals", "words"),
        [
            ([[1, "x"], [2, "3.5"]], "2 values are not numbers: row 0, column 1 is the text 'x'"),
            (pl.DataFrame({"a": [1.0], "b": ["u"]}), "row 0, column 'b' is the text 'u'"),
            (pd.DataFrame({"a": pd.Categorical(["u"])}), "row 0, column 'a' is the text 'u'"),
            (np.array([["2024-01-01"]], dtype="M8[ns]"), "holds dates"),
            (np.zeros(2, dtype=[("a", float)]), "1 dimension(s)"),
            ([[1, 2], [3]], "rows do not all have the same length"),
            (SIGNALS[0], "Reshape your data"),
            ({"a": [1.0]}, "got a dict"),
            (scipy.sparse.csr_array(SIGNALS), "sparse"),
            (np.empty((6, 0)), "no columns"),
            (pd.DataFrame(), "no rows"),
            (np.ma.masked_array(SIGNALS, mask=SIGNALS > 2.8), "row 5, column 3 is NaN"),
        ],
    )
    def test_signals_that_cannot_be_used(self, signals: Any, words: str) -> None:
        message = refusal(signals)
        assert "signals: " in message
        assert words in message

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            ((["a", "b"], ["x", "y"]), "2 names for 4 signals"),
            ((["a", "a", "b", "c"], ["x", "y"]), "2 of the signals are called 'a'"),
            ((["a", "b", "c", "d"], ["x", 3]), "those of the decisions must be a list of strings"),
        ],
    )
    def test_names_that_do_not_fit(self, names: Any, words: str) -> None:
        assert words in refusal(names=names)

    def test_everything_wrong_is_said_in_one_error(self) -> None:
        signals = np.array(SIGNALS)
        signals[1, 2] = np.nan
        message = refusal(
            signals, DECISIONS[:4], ["prise_1", "price_2"], names=(COLUMNS[:4], ("x", "x"))
        )
        lines = message.splitlines()
        assert lines[0] == "Decisions:"
        assert len(lines) == 5
        assert "row 1, column 'demand' is NaN" in lines[1]
        assert "signals have 6 rows and decisions have 4" in lines[2]
        assert "2 of the decisions are called 'x'" in lines[3]
        assert "'prise_1' is not among the signals; did you mean 'price_1'?" in lines[4]


class Forward:
    def solve(self, signals: np.ndarray, costs: np.ndarray) -> np.ndarray:
        return costs


class TestIndexing:
    DATA = make(forward=Forward(), names=(COLUMNS[:4], COLUMNS[4:]))

    @pytest.mark.parametrize(
        ("index", "rows"),
        [
            (0, [0]),
            (-1, [5]),
            (slice(None, None, -2), [5, 3, 1]),
            ([4, 0, 4], [4, 0, 4]),
            (np.array([-1, 1]), [5, 1]),
            (pd.Series(SIGNALS[:, 0] > 1.6), [4, 5]),
        ],
    )
    def test_samples_are_chosen(self, index: Any, rows: list[int]) -> None:
        chosen = self.DATA[index]
        assert len(chosen) == len(rows)
        np.testing.assert_array_equal(chosen.signals, SIGNALS[rows])
        np.testing.assert_array_equal(chosen.decisions, DECISIONS[rows])
        np.testing.assert_array_equal(chosen.cost_matrix, SIGNALS[rows, :2])
        assert chosen.signals.flags.c_contiguous
        for name in ("cost", "forward", "names"):
            assert getattr(chosen, name) is getattr(self.DATA, name)

    @pytest.mark.parametrize(
        ("index", "words"),
        [
            ([1, 9], "index 9 is out of bounds"),
            (np.zeros(6, dtype=bool), "the selection is empty"),
            ([True, False], "a mask of all 6, not [True, False]"),
            ((slice(None), 0), "an index chooses samples"),
            (True, "an index chooses samples"),
            ([0.5], "an index chooses samples"),
        ],
    )
    def test_what_is_no_choice_of_samples_is_refused(self, index: Any, words: str) -> None:
        with pytest.raises(DataError) as raised:
            self.DATA[index]
        assert words in str(raised.value)


class TestShown:
    def test_repr(self) -> None:
        assert repr(make()) == "Decisions(6 samples, 4 signals, 2 decisions, cost=[0, 1])"
        one = make([[1.0]], [2.0], np.array([0]), forward=Forward())
        assert repr(one) == "Decisions(1 sample, 1 signal, 1 decision, cost=[0], forward=Forward)"
        many = make(np.ones((2, 50)), np.ones((2, 50)), list(range(50)))
        assert len(repr(many)) < 120
