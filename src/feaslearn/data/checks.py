"""The checks that make `Decisions` of what users pass: everything wrong is said at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.costs import (
    CostSpecification,
    resolve_cost,
)
from feaslearn.data.matrix import as_matrix
from feaslearn.exceptions import Problems, checked
from feaslearn.messages import row_number

GivenNames: TypeAlias = tuple[Sequence[str] | None, Sequence[str] | None]


class Names(NamedTuple):
    """The names of the columns."""

    signals: tuple[str, ...]
    decisions: tuple[str, ...]


class Checked(NamedTuple):
    """The parts of `Decisions`."""

    signals: Array
    decisions: Array
    cost: CostSpecification
    cost_matrix: Array
    names: Names


def check_arrays(
    signals: object,
    decisions: object,
    cost: CostSpecification,
    given_names: GivenNames,
    problems: Problems,
) -> Checked:
    """Check signals, decisions and cost together; raise one error for all problems."""
    S = as_matrix(signals, name="signals", problems=problems, columns=given_names[0])
    X = as_matrix(
        decisions,
        name="decisions",
        problems=problems,
        allow_nan=True,
        allow_1d=True,
        columns=given_names[1],
    )
    n_signals = 0 if S is None else S.shape[1]
    n_decisions = 0 if X is None else X.shape[1]
    if S is not None and X is not None and len(S) != len(X):
        problems.add(
            f"signals have {len(S)} rows and decisions have {len(X)}; give one row of each for "
            "every sample"
        )
    names = Names(
        _check_names(given_names[0], n_signals, "signals", "s", problems),
        _check_names(given_names[1], n_decisions, "decisions", "x", problems),
    )
    resolved = resolve_cost(
        cost,
        n_decisions=n_decisions or None,
        signal_names=names.signals,
        n_signals=n_signals or None,
        problems=problems,
    )
    resolved = checked(resolved, problems, "Decisions")
    # Without a problem nothing is missing.
    S, X = cast(tuple[Array, Array], (S, X))
    return Checked(S, X, resolved.specification, resolved.evaluate(S), names)


def _check_names(
    given: Sequence[str] | None, count: int, name: str, letter: str, problems: Problems
) -> tuple[str, ...]:
    """Return the names, or s0, s1, ... where none were given."""
    if given is None:
        return tuple(f"{letter}{j}" for j in range(count))
    if isinstance(given, str) or not all(isinstance(item, str) for item in given):
        problems.add(f"names: those of the {name} must be a list of strings, got {given!r}")
        return ()
    if count and len(given) != count:
        problems.add(f"names: {len(given)} names for {count} {name}")
    for label, times in Counter(given).items():
        if times > 1:
            problems.add(f"names: {times} of the {name} are called {label!r}; rename them")
    return tuple(given)


# The arguments of ``fit``.


def check_target(y: Any, signals: Array | None, as_it_is: bool, problems: Problems) -> Array | None:
    """Return the decisions of a fit as a matrix; add to ``problems`` what is wrong."""
    if y is None:
        problems.add("requires y to be passed, but the target y is None; give the decisions")
        return None
    decisions = as_matrix(
        y, name="y", problems=problems, allow_nan=True, allow_1d=True, as_it_is=as_it_is
    )
    if signals is not None and decisions is not None and len(signals) != len(decisions):
        problems.add(
            f"X has {len(signals)} rows and y has {len(decisions)}; give one row of each for every "
            "sample"
        )
    return decisions


def check_weights(weights: ArrayLike | None, count: int | None, problems: Problems) -> Array | None:
    """Return weights of at most one; None if they are wrong or their number is not known."""
    if weights is None:
        return None if not count else np.broadcast_to(1.0, count)
    table = as_matrix(weights, name="sample_weight", problems=problems, allow_1d=True)
    if table is None:
        return None
    values = table.ravel()
    wrong = np.flatnonzero(values < 0.0)
    shape = np.asarray(weights).shape
    if len(shape) != 1 or count not in (None, len(values)):
        problems.add(f"sample_weight has shape {shape}, expected ({count},)")
    elif len(wrong):
        row = wrong[0]
        problems.add(
            f"sample_weight is {values[row]} in row {row_number(row)}; weights are not negative"
        )
    elif len(values) and not values.any():
        problems.add("sample_weight: every weight is zero")
    elif np.isfinite(values).all() and len(values):
        return np.asarray(values / values.max())
    return None


def column_ends(values: NDArray[Any]) -> Array:
    """Return the least and the greatest value of each column (2, K); NaN where there is none."""
    if not len(values):
        return np.full((2, values.shape[1]), np.nan)
    ends = [choose.reduce(values, axis=0) for choose in (np.fmin, np.fmax)]
    return np.array(ends, dtype=np.float64)


# Which decisions were observed.


def observed(decisions: NDArray[Any]) -> Indices:
    """Count the values of each column that are not NaN."""
    return np.asarray(np.count_nonzero(~np.isnan(decisions), axis=0))


def counting(decisions: NDArray[Any], weights: NDArray[Any]) -> Mask:
    """Say which samples count: those with a positive weight, and something observed."""
    return np.asarray((weights > 0.0) & ~np.isnan(decisions).all(axis=1))
