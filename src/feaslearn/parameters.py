"""Declared constraints of parameters, whose violations are collected.

A class names the constraints of its parameters in ``parameter_constraints``, and those of its base
classes hold as well. Values are compared, never converted: constructors keep what they were given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from feaslearn.exceptions import DataError, FeaslearnError, Problems


@dataclass(frozen=True)
class Is:
    """What a value must be: a test, and words that complete "is not"; or one of some options."""

    holds: Callable[[Any], bool]
    words: str
    options: tuple[str, ...] = ()

    def refusal(self, name: str, value: object) -> str:
        """Return the message about a value that does not satisfy the constraint."""
        if len(self.options) == 2:
            return f"{name}={value!r} is neither {self.options[0]} nor {self.options[1]}"
        return f"{name}={value!r} is not {'one of ' if self.options else ''}{self.words}"


Constraints = Mapping[str, Is]


class Integer(Is):
    """An integer, at least as large as a limit; True is none."""

    def __init__(self, least: int | None = None) -> None:
        def holds(value: Any) -> bool:
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            return whole and (least is None or int(value) >= least)

        super().__init__(holds, "an integer" + ("" if least is None else f" >= {least}"))


class Number(Is):
    """A number between two limits, which ``above`` and ``below`` exclude; NaN and True are none."""

    def __init__(
        self, least: float, most: float = math.inf, above: bool = False, below: bool = False
    ) -> None:
        def holds(value: Any) -> bool:
            if isinstance(value, bool) or not isinstance(value, Real):
                return False
            ends = (above and value == least) or (below and value == most)
            return least <= float(value) <= most and not ends

        words = f"a number in {'(' if above else '['}{least:g}, {most:g}{')' if below else ']'}"
        if above and below:
            words = f"a number between {least:g} and {most:g}"
        if math.isinf(most):
            kind = f"number {'>' if above else '>='} {least:g}"
            kind = "positive number" if above and least == 0.0 else kind
            words = f"a finite {kind}" if below else f"a {kind}"
        super().__init__(holds, words)


class Either(Is):
    """One of several values (None, strings, integers) or constraints; arrays equal nothing."""

    def __init__(self, *options: Any) -> None:
        tests = [option.holds if isinstance(option, Is) else _equal(option) for option in options]
        texts = tuple(each.words if isinstance(each, Is) else repr(each) for each in options)
        super().__init__(lambda x: any(test(x) for test in tests), ", ".join(texts), texts)


def _equal(option: int | str | None) -> Callable[[Any], bool]:
    if option is None or isinstance(option, str):
        return lambda value: isinstance(value, type(option)) and value == option
    return lambda value: Integer(option).holds(value) and int(value) == option


#: Finite numbers above zero, and of at least zero.
POSITIVE, NOT_NEGATIVE = Number(0.0, above=True, below=True), Number(0.0, below=True)
FLAG = Is(lambda v: isinstance(v, bool | np.bool_), "True or False")


def check_value(name: str, value: object, constraint: Is, problems: Problems) -> bool:
    """Add a problem unless the constraint holds; say whether it does."""
    if constraint.holds(value):
        return True
    problems.add(constraint.refusal(name, value))
    return False


def check_declared(owner: object, problems: Problems) -> None:
    """Add a problem for every parameter that violates what its class declares."""
    declared: dict[str, Is] = {}
    for kind in reversed(type(owner).__mro__):
        declared |= vars(kind).get("parameter_constraints", {})
    for name, constraint in declared.items():
        check_value(name, getattr(owner, name), constraint, problems)


def require(
    value: Any, name: str, constraint: Is, owner: str = "", error: type[FeaslearnError] = DataError
) -> Any:
    """Return a value that satisfies a constraint; raise an error that names it otherwise."""
    if not constraint.holds(value):
        refusal = constraint.refusal(name, value)
        raise error(f"{owner}: {refusal}" if owner else refusal)
    return value
