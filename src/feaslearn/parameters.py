"""Declared constraints of parameters, whose violations are collected.

A class names the constraints of its parameters in ``parameter_constraints``, and those of its base
classes hold as well. Values are compared, never converted: constructors keep what they were given.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FeaslearnError, Problems

T = TypeVar("T")


class Constraint(ABC):
    """What a value must be; its text completes "is not"."""

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Say whether a value satisfies the constraint."""

    @abstractmethod
    def __str__(self) -> str: ...

    def refusal(self, name: str, value: object) -> str:
        """Return the message about a value that does not satisfy the constraint."""
        return f"{name}={value!r} is not {self}"


@dataclass(frozen=True)
class Integer(Constraint):
    """An integer, at least as large as a limit, and not a certain one; True is none."""

    least: int | None = None
    besides: int | None = None

    def holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return (self.least is None or int(value) >= self.least) and value != self.besides

    def __str__(self) -> str:
        least = "" if self.least is None else f" >= {self.least}"
        return f"an integer{least}" + ("" if self.besides is None else f" besides {self.besides}")


@dataclass(frozen=True)
class Number(Constraint):
    """A number between two limits, which ``above`` and ``below`` exclude; NaN and True are none."""

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number = float(value)
        left = number > self.least if self.above else number >= self.least
        return left and (number < self.most if self.below else number <= self.most)

    def __str__(self) -> str:
        if math.isinf(self.most):
            finite = "finite " if self.below else ""
            if self.above and self.least == 0.0:
                return f"a {finite}positive number"
            return f"a {finite}number {'>' if self.above else '>='} {self.least:g}"
        if self.above and self.below:
            return f"a number between {self.least:g} and {self.most:g}"
        ends = f"{'(' if self.above else '['}{self.least:g}, {self.most:g}"
        return f"a number in {ends}{')' if self.below else ']'}"


#: A number above zero that is not infinite.
POSITIVE = Number(0.0, above=True, below=True)
#: A number of at least zero that is not infinite.
NOT_NEGATIVE = Number(0.0, below=True)


@dataclass(frozen=True)
class Is(Constraint):
    """What a test says, in words."""

    test: Callable[[Any], bool]
    words: str

    def holds(self, value: Any) -> bool:
        return self.test(value)

    def __str__(self) -> str:
        return self.words


def an_instance(kind: type, words: str) -> Is:
    """Return the constraint of objects of a class; the words name an example."""
    return Is(lambda value: isinstance(value, kind), words)


FUNCTION = Is(callable, "a function")
FLAG = an_instance(bool | np.bool_, "True or False")  # type: ignore[arg-type]


class Either(Constraint):
    """One of several values (None, strings, numbers) or constraints."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def holds(self, value: Any) -> bool:
        return any(
            option.holds(value) if isinstance(option, Constraint) else _equal(value, option)
            for option in self.options
        )

    def __str__(self) -> str:
        return ", ".join(str(o) if isinstance(o, Constraint) else repr(o) for o in self.options)

    def refusal(self, name: str, value: object) -> str:
        texts = [str(Either(option)) for option in self.options]
        if len(texts) == 2:
            return f"{name}={value!r} is neither {texts[0]} nor {texts[1]}"
        return f"{name}={value!r} is not one of {self}"


def _equal(value: Any, option: Any) -> bool:
    """Compare with None, a string or an integer; arrays equal nothing."""
    if option is None or isinstance(option, str):
        return isinstance(value, type(option)) and value == option
    return Integer(option).holds(value) and int(value) == option


Constraints = Mapping[str, Constraint]


def check_value(name: str, value: object, constraint: Constraint, problems: Problems) -> bool:
    """Add a problem unless the constraint holds; say whether it does."""
    if constraint.holds(value):
        return True
    problems.add(constraint.refusal(name, value))
    return False


def check_declared(owner: object, problems: Problems) -> None:
    """Add a problem for every parameter that violates what its class declares."""
    declared: dict[str, Constraint] = {}
    for kind in reversed(type(owner).__mro__):
        declared |= vars(kind).get("parameter_constraints", {})
    for name, constraint in declared.items():
        check_value(name, getattr(owner, name), constraint, problems)


def require(
    value: Any,
    name: str,
    constraint: Constraint,
    owner: str = "",
    error: type[FeaslearnError] = DataError,
) -> Any:
    """Return a value that satisfies a constraint; raise an error that names it otherwise."""
    if not constraint.holds(value):
        refusal = constraint.refusal(name, value)
        raise error(f"{owner}: {refusal}" if owner else refusal)
    return value


def checked(
    value: T | None, problems: Problems, owner: str, error: type[FeaslearnError] = DataError
) -> T:
    """Return a value that is None only where a problem was added; raise all problems."""
    problems.raise_if_any(error, owner)
    return cast(T, value)


def check_capacity(
    name: str, capacity: ArrayLike, count: int, what: str, problems: Problems
) -> Array:
    """Return one capacity for each line or plant; zeros where a problem was added."""
    try:
        values = np.asarray(capacity, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"{name} is {capacity!r}, expected one number, or one for each {what}")
        return np.zeros(count)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        problems.add(
            f"{name} has shape {values.shape}, expected one number, or {count}: one for each {what}"
        )
        return np.zeros(count)
    if not (np.isfinite(values) & (values >= 0)).all():
        problems.add(f"{name} is {values.tolist()}, expected finite numbers of at least 0")
    return np.broadcast_to(values, (count,)).copy()
