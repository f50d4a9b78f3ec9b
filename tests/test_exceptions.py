"""One base class, one error for all problems, and messages that help."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

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
from feaslearn.parameters import (
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    Constraints,
    Either,
    Integer,
    Number,
    check_declared,
    require,
)
from feaslearn.regressor.checks import N_JOBS


@pytest.mark.parametrize(
    ("parent", "errors"),
    [
        (ValueError, [DataError, DataTypeError, SetError, exceptions.ModelFileError]),
        (TypeError, [DataTypeError, UnsupportedError]),
        (SetError, [exceptions.EmptySetError, exceptions.UnboundedSetError]),
        (SetError, [exceptions.TooManyVerticesError]),
        (RuntimeError, [SolverError]),
        (SolverError, [exceptions.InfeasibleProblemError, exceptions.UnboundedProblemError]),
        (sklearn.exceptions.NotFittedError, [NotFittedError]),
        (ImportError, [MissingExtraError]),
        (OSError, [exceptions.FileError]),
        (UserWarning, [FeaslearnWarning]),
    ],
)
def test_errors_are_also_what_callers_expect(
    parent: type[Exception], errors: list[type[Exception]]
) -> None:
    assert all(issubclass(error, parent) for error in errors)


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


# Declared constraints of parameters.

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("constraint", "accepted", "refused", "words"),
    [
        (Integer(), [0, -3, np.int64(2)], [True, 1.0, "1", None], "an integer"),
        (Integer(2), [2, np.int32(9)], [1, True, 2.5], "an integer >= 2"),
        (N_JOBS, [None, -1, 1], [0, False], "an integer besides 0"),
        (Number(0.0), [0, 0.0, INF, np.float32(1)], [-1e-9, NAN, True, "0"], "a number >= 0"),
        (Number(0.0, above=True), [1e-9, INF], [0.0, NAN], "a positive number"),
        (POSITIVE, [1e-9], [0, INF, NAN], "a finite positive number"),
        (NOT_NEGATIVE, [0], [INF, -1], "a finite number >= 0"),
        (Number(0.0, 1.0, True, True), [0.5], [0, 1], "a number between 0 and 1"),
        (Number(0.0, 1.0, above=True), [1], [0, 1.1], "a number in (0, 1]"),
        (Number(0.0, 1.0, below=True), [0], [1], "a number in [0, 1)"),
        (FLAG, [True, np.False_], [0, None, "yes"], "True or False"),
        (Either(None, 0, "auto"), [None, 0, np.int64(0), "auto"], [False, "no", 0.0], "None, 0,"),
        (Either("auto", Integer(1)), [1, "auto"], [0, None, np.ones(2)], "an integer >= 1"),
    ],
)
def test_what_constraints_accept(
    constraint: Any, accepted: list[Any], refused: list[Any], words: str
) -> None:
    assert [value for value in accepted if not constraint.holds(value)] == []
    assert [value for value in refused if constraint.holds(value)] == []
    assert words in constraint.words


def test_messages_name_the_parameter_its_value_and_all_options() -> None:
    assert Integer(2).refusal("n", 1) == "n=1 is not an integer >= 2"
    assert (
        Either(None, POSITIVE).refusal("t", 0) == "t=0 is neither None nor a finite positive number"
    )
    assert Either("a", "b", "c").refusal("s", "d") == "s='d' is not one of 'a', 'b', 'c'"
    with pytest.raises(SetError, match=r"^Box: p=0 is not an integer >= 1$"):
        require(0, "p", Integer(1), "Box", SetError)
    with pytest.raises(DataError, match=r"^level=2 is not"):
        require(2, "level", Number(0.0, 1.0))


class Base:
    parameter_constraints: ClassVar[Constraints] = {"tol": Number(0.0), "n": Integer(1)}

    def __init__(self, tol: Any, n: Any, norm: Any = "l2") -> None:
        self.tol, self.n, self.norm = tol, n, norm


class Derived(Base):
    parameter_constraints: ClassVar[Constraints] = {"norm": Either("l1", "l2"), "n": Integer(5)}


def test_all_violations_are_collected_and_subclasses_add_and_replace() -> None:
    problems = Problems()
    check_declared(Derived(-1.0, 3, "l3"), problems)
    assert problems.messages == (
        "tol=-1.0 is not a number >= 0",
        "n=3 is not an integer >= 5",
        "norm='l3' is neither 'l1' nor 'l2'",
    )
    problems = Problems()
    check_declared(Base(0.0, 3), problems)
    check_declared(Derived(0.0, 5), problems)
    assert not problems
