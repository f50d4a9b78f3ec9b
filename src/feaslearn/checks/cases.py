"""What all checks share: tables of properties, and one error with all that are violated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from feaslearn.exceptions import CheckError, Problems

#: What looks for cases that violate a property.
Find = Callable[[Any], Iterable[str]]


def violating(table: dict[str, Find], name: str) -> Callable[[Find], Find]:
    """Enter what looks for cases that violate a property into a table, by the property's name."""

    def enter(find: Find) -> Find:
        table[name] = find
        return find

    return enter


def raise_findings(thing: object, properties: Mapping[str, Find], cases: Any) -> None:
    """Raise one error with a line for each property that some cases violate."""
    problems = Problems()
    for name, find in properties.items():
        shown: list[str] = []
        try:
            shown.extend(find(cases))
        except Exception as error:  # noqa: BLE001  (whatever the code of a user raises is a finding)
            shown.append(f"raised {type(error).__name__}: {error}")
        if shown:
            more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
            problems.add(f"{name}: {shown[0]}{more}")
    problems.raise_if_any(CheckError, repr(thing))


def changed_parameters(before: BaseEstimator, after: BaseEstimator, how: str) -> Iterator[str]:
    """Yield parameters that are not the same in two objects."""
    found = after.get_params(deep=False)
    for name, value in before.get_params(deep=False).items():
        if not _same(value, found.get(name)):
            yield f"{name}={value!r} became {found.get(name)!r} {how}"


def lost_in_a_clone(thing: BaseEstimator) -> Iterator[str]:
    """Yield parameters that do not survive a copy."""
    yield from changed_parameters(thing, clone(thing), "in a clone")


def _same(first: object, second: object) -> bool:
    """Compare parameters: numbers, arrays, sets, and lists of them."""
    if isinstance(first, BaseEstimator) and isinstance(second, BaseEstimator):
        return type(first) is type(second) and _same(
            list(first.get_params(deep=False).values()),
            list(second.get_params(deep=False).values()),
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
