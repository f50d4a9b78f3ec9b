"""The words that errors are made of: names that are nearly right, columns, places, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import MissingExtraError, Problems

#: Larger numbers are refused: sums of their squares would overflow.
LARGEST = 1e100


def import_extra(module: str, extra: str) -> Any:
    """Return an optional module, or name the extra of feaslearn that installs its package."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(module.partition(".")[0], extra) from None


def did_you_mean(name: str, choices: Sequence[str]) -> str:
    """End a message with the nearest of the choices, or with all where none is near."""
    folded = {choice.casefold(): choice for choice in reversed(choices)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    if not choices:
        return "there are none"
    more = f", and {len(choices) - 10} more" if len(choices) > 10 else ""
    return f"there are {', '.join(repr(choice) for choice in choices[:10])}{more}"


def find_columns(
    wanted: Sequence[object],
    names: Sequence[str] | None,
    n_columns: int | None,
    name: str,
    where: str,
    problems: Problems,
) -> tuple[int, ...]:
    """Find columns by position, name or pattern; add to problems what is not ``where``."""
    found: list[int] = []
    for item in wanted:
        if isinstance(item, str):
            matches = _match(item, names or ())
            if not matches:
                hint = did_you_mean(item, names or ())
                problems.add(f"{name}: column {item!r} is not {where}; {hint}")
            elif names is not None and item in names and len(matches) > 1:
                problems.add(
                    f"{name}: {len(matches)} columns {where} are called {item!r}; rename them"
                )
            is_new = [j for j in matches if j not in found]
            found += is_new if is_pattern(item) else matches[:1]
        elif not isinstance(item, Integral) or isinstance(item, bool):
            problems.add(f"{name}: {item!r} is neither the position nor the name of a column")
        elif n_columns is not None and not 0 <= int(item) < n_columns:
            problems.add(
                f"{name}: column {item} is not {where}; there are {n_columns}, counted from 0"
            )
        else:
            found.append(int(item))
    return tuple(found)


def _match(item: str, names: Sequence[str]) -> list[int]:
    """Positions of the name, or of the names that match the pattern; brackets are literal."""
    if item not in names and is_pattern(item):
        pattern = item.replace("[", "[[]")
        return [j for j, label in enumerate(names) if fnmatchcase(label, pattern)]
    return [j for j, label in enumerate(names) if label == item]


def is_pattern(name: str) -> bool:
    """Say whether a name may stand for several columns."""
    return "*" in name or "?" in name


def list_first(places: Sequence[str], total: int) -> str:
    """Join the places that a message lists and count those that it does not."""
    more = total - len(places)
    return "; ".join(places) + (f"; and {more} more" if more > 0 else "")


class _Rows:
    """The number of the first row: for every thread, whatever the caller's context."""

    first = 0


def row_number(row: int | np.integer[Any]) -> int:
    """Return what a message calls a row, given its position."""
    return int(row) + _Rows.first


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Count rows in messages from a number: arrays begin with 0, tables in files with 1."""
    before, _Rows.first = _Rows.first, first
    try:
        yield
    finally:
        _Rows.first = before


def column_label(position: int, names: Sequence[str] | None) -> str:
    """Name a column in a message: its name if it has one, its position if not."""
    return str(position) if names is None or position >= len(names) else repr(names[position])


def all_usual(values: NDArray[Any]) -> bool:
    """Say whether all values are finite and can be squared: by one pass over them."""
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return float(flat @ flat) <= LARGEST**2


def beyond(values: NDArray[Any]) -> Mask:
    """Say which values are infinite or too large to be squared."""
    # In single precision, no number is larger than what this one would become.
    return np.asarray(np.isinf(values) | (np.abs(values) > np.float64(LARGEST)))


def describe_non_finite(
    values: Array,
    names: Sequence[str] | None = None,
    *,
    allow_nan: bool = False,
    first_row: int = 0,
) -> str | None:
    """Say which values are not finite or too large, the first five and the count; None if none."""
    if all_usual(values):
        return None
    bad = beyond(values)
    if not allow_nan:
        bad |= np.isnan(values)
    kind = f"beyond {LARGEST:g}, too large to be squared and added up, so use another unit"
    if not np.isfinite(values[bad]).all():
        bad &= ~np.isfinite(values)
        kind = "infinite" if allow_nan else "NaN or infinite"
    total = int(np.count_nonzero(bad))
    if total == 0:
        return None
    places = []
    for i, j in np.argwhere(bad)[:5]:
        value = "NaN" if np.isnan(values[i, j]) else values[i, j]
        places.append(
            f"row {row_number(first_row + i)}, column {column_label(j, names)} is {value}"
        )
    count = "1 value is" if total == 1 else f"{total} values are"
    return f"{count} {kind}: {list_first(places, total)}"


def write_sum(terms: Iterable[tuple[float, str]], digits: int = 4, plus_first: bool = False) -> str:
    """Write a sum with signs between its terms: "a - 0.5 b + 2"."""
    terms, text = list(terms), ""
    if plus_first and terms and terms[0][0] < 0.0:
        terms.sort(key=lambda term: term[0] < 0.0)
    for factor, name in terms:
        number = f"{abs(factor):.{digits}g}"
        term = name if name and number == "1" else f"{number} {name}".strip()
        sign = "-" if factor < 0.0 else "+"
        text += f" {sign} {term}" if text else ("-" if sign == "-" else "") + term
    return text or "0"
