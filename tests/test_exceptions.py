"""One base class, one error for all problems, and messages that help."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import sklearn.exceptions
from hypothesis import given
from hypothesis import strategies as st

from feaslearn import exceptions
from feaslearn.exceptions import (
    DataError,
    DataTypeError,
    FeaslearnWarning,
    MissingExtraError,
    NotFittedError,
    Problems,
    SetError,
    SolverError,
    UnsupportedError,
)
from feaslearn.messages import find_columns


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (DataError, ValueError),
        (DataTypeError, ValueError),
        (DataTypeError, TypeError),
        (SetError, ValueError),
        (exceptions.EmptySetError, SetError),
        (exceptions.UnboundedSetError, SetError),
        (exceptions.TooManyVerticesError, SetError),
        (UnsupportedError, TypeError),
        (SolverError, RuntimeError),
        (exceptions.InfeasibleProblemError, SolverError),
        (exceptions.UnboundedProblemError, SolverError),
        (NotFittedError, sklearn.exceptions.NotFittedError),
        (MissingExtraError, ImportError),
        (exceptions.FileError, OSError),
        (exceptions.ModelFileError, ValueError),
        (FeaslearnWarning, UserWarning),
    ],
)
def test_errors_are_also_the_builtin_that_callers_expect(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, builtin)


def test_missing_extra_says_what_to_install_and_survives_pickling() -> None:
    error = MissingExtraError("pyomo", "pyomo-extra")
    assert str(error) == 'needs pyomo: pip install "feaslearn[pyomo-extra]"'
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(twin) == str(error)
        assert (twin.package, twin.extra) == ("pyomo", "pyomo-extra")


class TestProblems:
    @given(st.lists(st.text(st.characters(codec="ascii", categories="L"), min_size=1), min_size=2))
    def test_several_problems_are_listed_in_order(self, messages: list[str]) -> None:
        problems = Problems()
        for message in messages:
            problems.add(message)
        assert problems.messages == tuple(messages)
        assert len(problems) == len(messages)
        with pytest.raises(DataError) as raised:
            problems.raise_if_any(DataError, "heading")
        assert str(raised.value).split("\n  - ") == ["heading:", *messages]

    def test_the_narrower_error_is_raised_where_it_is_a_kind_of_the_asked_one(self) -> None:
        problems = Problems()
        problems.add("a")
        problems.add("b", error=DataTypeError)
        with pytest.raises(DataTypeError):
            problems.raise_if_any(DataError, "heading")
        with pytest.raises(SetError):
            problems.raise_if_any(SetError, "heading")


class TestFindColumns:
    NAMES = ("price_1", "demand", "price_2", "x[0]", "x0")

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (["demand", "price_1"], (1, 0)),
            (["price_*"], (0, 2)),
            (["price_2", "price_*"], (2, 0)),
            (["price_?", 1], (0, 2, 1)),
            (["x[0]"], (3,)),
            (["x[*"], (3,)),
            ([np.int64(4), "x0"], (4, 4)),
        ],
    )
    def test_by_position_name_and_pattern(
        self, wanted: list[object], found: tuple[int, ...]
    ) -> None:
        problems = Problems()
        assert find_columns(wanted, self.NAMES, 5, "cost", "here", problems) == found
        assert not problems

    @pytest.mark.parametrize(
        ("wanted", "message"),
        [
            ("demnad", "cost: column 'demnad' is not here; did you mean 'demand'?"),
            ("wind_*", "cost: column 'wind_*' is not here; there are 'price_1'"),
            (5, "cost: column 5 is not here; there are 5, counted from 0"),
            (-1, "cost: column -1 is not here"),
            (True, "cost: True is neither the position nor the name"),
            (1.5, "cost: 1.5 is neither the position nor the name"),
        ],
    )
    def test_what_is_not_found_is_said(self, wanted: object, message: str) -> None:
        problems = Problems()
        assert find_columns(["x0", wanted], self.NAMES, 5, "cost", "here", problems) == (4,)
        (said,) = problems.messages
        assert said.startswith(message)
