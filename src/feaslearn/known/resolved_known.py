"""Known constraints, checked against the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.costs import AffineCost, FunctionCost, resolve_cost
from feaslearn.exceptions import DataError, Problems
from feaslearn.known.known_limits import CONTRADICTIONS, Known, KnownLimits, KnownShape
from feaslearn.messages import column_label, did_you_mean, find_columns, list_first
from feaslearn.parameters import Number, check_value


@dataclass(frozen=True, eq=False)
class ResolvedKnown:
    """Known constraints that were checked against the data by `resolve_known`."""

    specification: Known
    shape: KnownShape
    g: RightSide
    lower: RightSide
    upper: RightSide
    e: RightSide

    def at(self, signals: Array) -> KnownLimits:
        """Return the constraints at rows of signals (N, K)."""
        sides = (side.evaluate(signals) for side in (self.g, self.lower, self.upper, self.e))
        return KnownLimits(self.shape.G, self.shape.E, *sides)

    def row_names(self, decisions: Sequence[str]) -> list[str]:
        """Name the rows in the order of `KnownLimits.violation`, in the words of the data."""
        names = [f"row {i} of G" for i in range(len(self.shape.G))]
        names += [f"the lower bound of {name}" for name in decisions]
        names += [f"the upper bound of {name}" for name in decisions]
        return names + [f"balance {i}" for i in range(len(self.shape.E))]


def resolve_known(
    known: Any,
    *,
    n_decisions: int | None,
    signal_names: Sequence[str] | None,
    n_signals: int | None,
    problems: Problems,
) -> ResolvedKnown | None:
    """Check known constraints against the data; None if something was added to problems."""
    if not isinstance(known, Known):
        problems.add(f"known={known!r} is not a Known, such as Known(bounds=(0.0, 3.5))")
        return None
    before = len(problems)
    _check_options(known, problems)
    signals = Signals(signal_names, n_signals, problems)
    if n_decisions is None or n_signals is None:
        return None
    G, g = _rows(known.G, known.g, "G", "g", n_decisions, problems)
    E, e = _pair(known.balance, "balance", "rows E and their right-hand side e", problems)
    E, e = _rows(E, e, "balance: E", "balance: e", n_decisions, problems)
    bounds = _pair(known.bounds, "bounds", "lower and upper bounds", problems)
    sides = (
        resolve_right_side(g, len(G), "known: g", signals),
        resolve_right_side(bounds[0], n_decisions, "known: lower bounds", signals, -np.inf),
        resolve_right_side(bounds[1], n_decisions, "known: upper bounds", signals, np.inf),
        resolve_right_side(e, len(E), "known: balance", signals),
    )
    resolved = [side for side in sides if side is not None]
    if len(problems) > before or len(resolved) < len(sides):
        return None
    if not len(G) and not len(E) and known.bounds is None:
        problems.add("known: no constraint is given; leave known=None, or give bounds or balance")
        return None
    shape = KnownShape(G, E)
    return ResolvedKnown(known, shape, *resolved)


def _check_options(known: Known, problems: Problems) -> None:
    value = known.contradictions
    if value not in CONTRADICTIONS:
        problems.add(
            f"known: contradictions={value!r} is not known; "
            f"{did_you_mean(str(value), CONTRADICTIONS)}"
        )
    check_value("known: tolerance", known.tolerance, Number(0.0, 1.0, below=True), problems)


def _pair(given: Any, name: str, what: str, problems: Problems) -> tuple[Any, Any]:
    if given is None:
        return None, None
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    problems.add(f"known: {name}={given!r} is not a pair: {what}")
    return None, None


def _rows(
    matrix: Any, side: Any, name: str, other: str, n: int, problems: Problems
) -> tuple[Array, Any]:
    """Return rows of n numbers, empty where none are given, and their right-hand side."""
    empty_rows = np.zeros((0, n))
    if matrix is None and side is None:
        return empty_rows, None
    if matrix is None or side is None:
        missing, given = (name, other) if matrix is None else (other, name)
        problems.add(f"known: {given} is given and {missing} is not; they belong together")
        return empty_rows, None
    try:
        rows = np.atleast_2d(np.asarray(matrix, dtype=float))
    except (TypeError, ValueError):
        problems.add(f"known: {name} is not an array of numbers")
        return empty_rows, None
    if rows.ndim != 2 or rows.shape[1] != n:
        problems.add(f"known: {name} has shape {np.shape(matrix)}, expected (rows, {n})")
        return empty_rows, None
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        problems.add(f"known: {name} holds {rows[i, j]} in row {i}, column {column_label(j, None)}")
        return empty_rows, None
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        problems.add(f"known: {name} has only zeros in row {empty[0]}; drop the row")
    return np.ascontiguousarray(rows), side


# Right-hand sides that may depend on the signal.


class Signals(NamedTuple):
    """What right-hand sides are checked against, and where to say what is wrong."""

    names: Sequence[str] | None
    n_signals: int | None
    problems: Problems


class RightSide(NamedTuple):
    """A function from signals (N, K) to numbers (N, size), infinite only where ``missing`` is."""

    rule: Callable[[Array], Any]
    size: int
    name: str
    missing: float | None

    def evaluate(self, signals: Array) -> Array:
        """Return the numbers at rows of signals."""
        values = np.asarray(self.rule(signals), dtype=np.float64)
        if values.ndim == 1 and self.size == 1:
            values = values[:, None]
        expected = (len(signals), self.size)
        if values.shape != expected:
            raise DataError(f"{self.name}: the function gave shape {values.shape}, not {expected}")
        wrong = ~np.isfinite(values)
        if self.missing is not None:
            wrong &= values != self.missing
        if wrong.any():
            where = np.argwhere(wrong)
            places = [f"sample {i}, entry {j} is {values[i, j]}" for i, j in where[:5]]
            raise DataError(f"{self.name}: {list_first(places, len(where))}; give finite numbers")
        return np.ascontiguousarray(values)


def resolve_right_side(
    given: Any, size: int, name: str, signals: Signals, missing: float | None = None
) -> RightSide | None:
    """Check a right-hand side; None if something was added to the problems."""
    if given is None and (missing is not None or not size):
        constant = np.full(size, missing or 0.0)
        return RightSide(partial(_mixed, constant, [], []), size, name, missing)
    if callable(given):
        given = FunctionCost(given, [])
    if not isinstance(given, AffineCost | FunctionCost):
        return _listed(given, size, name, signals, missing)
    found = resolve_cost(
        given,
        n_decisions=size,
        signal_names=signals.names,
        n_signals=signals.n_signals,
        problems=signals.problems,
        what=name,
    )
    return None if found is None else RightSide(found.rule, size, name, missing)


def _listed(
    given: Any, size: int, name: str, signals: Signals, missing: float | None
) -> RightSide | None:
    problems, before = signals.problems, len(signals.problems)
    items = _items(given, size, name, problems)
    if items is None:
        return None
    whole = _whole_are_columns(items, name, problems)
    absent = np.nan if missing is None else missing
    constants, wanted, taken = np.zeros(len(items)), list[object](), list[int]()
    for j, item in enumerate(items):
        if item is None or (_is_number(item) and not (whole and isinstance(item, Integral))):
            constants[j] = absent if item is None else float(item)
        else:
            wanted.append(item)
            taken.append(j)
    found = find_columns(
        wanted, signals.names, signals.n_signals, name, "among the signals", problems
    )
    repeated = sorted({str(item) for item in wanted if wanted.count(item) > 1})
    if whole and repeated and all(_is_number(item) for item in wanted):
        problems.add(
            f"{name}: column {repeated[0]} is listed more than once; constants are written with a "
            "point, such as 0.0"
        )
    infinite = np.flatnonzero(~np.isfinite(constants) & (constants != missing))
    if len(infinite):
        problems.add(
            f"{name}: entry {infinite[0]} is {constants[infinite[0]]}; give a finite number"
        )
    if len(problems) > before:
        return None
    if len(found) > len(wanted):  # a pattern that stands for several columns
        if len(wanted) < len(items):
            problems.add(
                f"{name}: a pattern of several columns stands beside a constant; name each column"
            )
            return None
        constants, taken = np.zeros(len(found)), list(range(len(found)))
    if len(constants) != size:
        problems.add(f"{name}: {len(constants)} entries for {size}; give one for each")
        return None
    return RightSide(partial(_mixed, constants, taken, found), size, name, missing)


def _items(given: Any, size: int, name: str, problems: Problems) -> list[Any] | None:
    """List the entries, or say why there are none; one number stands for all rows."""
    if isinstance(given, bool):
        given = [given]
    if _is_number(given):
        return [float(given)] * size
    if isinstance(given, str):
        return [given]
    if isinstance(given, Sequence) or (hasattr(given, "__array__") and np.ndim(given) == 1):
        return list(given if isinstance(given, Sequence) else np.asarray(given).tolist())
    what = f"an array of shape {np.shape(given)}" if hasattr(given, "shape") else repr(given)
    problems.add(
        f"{name}: {what} is not a number, a list of numbers and columns, an AffineCost or a "
        "function; what differs between samples is a signal: name its column"
    )
    return None


def _whole_are_columns(items: list[Any], name: str, problems: Problems) -> bool:
    """Say whether integers are columns: beside a number with a point they are constants."""
    pointed = [item for item in items if _is_number(item) and not isinstance(item, Integral)]
    if pointed and np.isinf(pointed).all() and len(pointed) < sum(map(_is_number, items)):
        problems.add(
            f"{name}: integers stand beside {pointed[0]} alone, so they may be columns or "
            "constants; write 4.0 for a constant, and None for a bound that is not there"
        )
    return not pointed


def _is_number(item: object) -> bool:
    return isinstance(item, Real) and not isinstance(item, bool)


def _mixed(constants: Array, taken: list[int], columns: Sequence[int], signals: Array) -> Array:
    """Return constants at each signal, some of them replaced by columns."""
    values = np.tile(constants, (len(signals), 1))
    values[:, taken] = signals[:, list(columns)]
    return values
