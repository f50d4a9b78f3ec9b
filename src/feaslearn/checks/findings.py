"""How the findings of a check are told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, clone


def first_of(name: str, findings: Iterator[str]) -> Iterator[str]:
    """Yield one line for a broken property: its first case, and how many more there are."""
    shown: list[str] = []
    try:
        shown.extend(findings)
    except Exception as error:  # noqa: BLE001  (whatever the code of a user raises is a finding)
        shown.append(f"raised {type(error).__name__}: {error}")
    if shown:
        more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
        yield f"{name}: {shown[0]}{more}"


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
