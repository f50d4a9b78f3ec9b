"""Known constraints, checked against the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray
from feaslearn.exceptions import Problems
from feaslearn.known.known import CONTRADICTIONS, Known
from feaslearn.known.known_limits import KnownLimits, KnownShape
from feaslearn.known.right_side import RightSide, Signals, resolve_right_side
from feaslearn.messages import column_label, did_you_mean

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ResolvedKnown:
    """Known constraints that were checked against the data by `resolve_known`."""

    specification: Known
    shape: KnownShape
    g: RightSide
    lower: RightSide
    upper: RightSide
    e: RightSide

    def at(self, signals: FloatArray) -> KnownLimits:
        """Return the constraints at rows of signals (N, K)."""
        sides = (side.evaluate(signals) for side in (self.g, self.lower, self.upper, self.e))
        return KnownLimits(self.shape.G, self.shape.E, *sides)

    def row_names(self, decisions: Sequence[str]) -> list[str]:
        """Name the rows in the order of `KnownLimits.beyond`, in the words of the data."""
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
    """Check known constraints against the data; None if something was added to problems.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.exceptions import Problems
    >>> from feaslearn.known import Known, resolve_known
    >>> sizes = {"n_decisions": 2, "signal_names": ["demand", "wind"], "n_signals": 2}
    >>> known = Known(bounds=(0.0, [None, "wind"]), balance=(np.ones(2), ["demand"]))
    >>> resolve_known(known, **sizes, problems=Problems()).at(np.array([[3.0, 1.0]])).upper
    array([[inf,  1.]])
    """
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
    tolerance = known.tolerance
    number = isinstance(tolerance, Real) and not isinstance(tolerance, bool)
    if not number or not 0.0 <= float(tolerance) < 1.0:
        problems.add(f"known: tolerance={tolerance!r} is not a number between 0 and 1")


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
    """Return rows of n numbers, none where nothing is given, and their right-hand side."""
    nothing = np.zeros((0, n))
    if matrix is None and side is None:
        return nothing, None
    if matrix is None or side is None:
        missing, there = (name, other) if matrix is None else (other, name)
        problems.add(f"known: {there} is given and {missing} is not; they belong together")
        return nothing, None
    try:
        rows = np.atleast_2d(np.asarray(matrix, dtype=float))
    except (TypeError, ValueError):
        problems.add(f"known: {name} is not an array of numbers")
        return nothing, None
    if rows.ndim != 2 or rows.shape[1] != n:
        problems.add(f"known: {name} has shape {np.shape(matrix)}, expected (rows, {n})")
        return nothing, None
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        problems.add(f"known: {name} holds {rows[i, j]} in row {i}, column {column_label(j, None)}")
        return nothing, None
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        problems.add(f"known: {name} has only zeros in row {empty[0]}; drop the row")
    return np.ascontiguousarray(rows), side
