"""What a forward problem answers, and the checks that every one of them makes."""

from __future__ import annotations

from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import Problems
from feaslearn.messages import describe_non_finite
from feaslearn.parameters import Either

FloatArray = NDArray[np.float64]
Norm = Literal["l1", "l2", "linf"]
NORM = Either(*get_args(Norm))


@runtime_checkable
class ForwardProblem(Protocol):
    """The problem a decision maker solves: ``min { c'x : x in R(s) }``.

    Rows are samples throughout. Distances are plain norms, not squared; entries of a decision that
    are NaN were not observed and do not count.
    """

    def solve(self, signals: ArrayLike, costs: ArrayLike) -> FloatArray:
        """Return one optimal decision for each sample, shape (N, n)."""
        ...

    def optimal_value(self, signals: ArrayLike, costs: ArrayLike) -> FloatArray:
        """Return the least cost ``min { c'x : x in R(s) }`` of each sample, shape (N,)."""
        ...

    def distance_to_feasible(
        self, decisions: ArrayLike, signals: ArrayLike, norm: Norm = "l2"
    ) -> FloatArray:
        """Return the distance of each decision to ``R(s)``, shape (N,)."""
        ...

    def distance_to_optimal(
        self, decisions: ArrayLike, signals: ArrayLike, costs: ArrayLike, norm: Norm = "l2"
    ) -> FloatArray:
        """Return the distance of each decision to all minimisers of ``c`` over ``R(s)``."""
        ...


def check_table(
    problems: Problems,
    name: str,
    table: ArrayLike,
    n_columns: int | None,
    *,
    allow_nan: bool = False,
) -> FloatArray:
    """Return a finite float table of ``n_columns`` columns, or add what is wrong with it."""
    nothing = np.empty((0, n_columns or 0))
    try:
        values = np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        problems.add(f"{name} is not a table of numbers ({error})")
        return nothing
    if values.ndim != 2 or n_columns not in (None, values.shape[1]):
        expected = "columns" if n_columns is None else n_columns
        problems.add(f"{name} has shape {values.shape}, expected (samples, {expected})")
        return nothing
    wrong = describe_non_finite(values, allow_nan=allow_nan)
    if wrong is not None:
        problems.add(f"{name}: {wrong}")
        return nothing
    return values


def check_same_length(problems: Problems, **tables: FloatArray) -> None:
    """Add a problem if the tables do not have the same number of rows."""
    lengths = {name: len(table) for name, table in tables.items()}
    if not problems and len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        problems.add(f"the number of rows differs: {told}; give one row for each sample")
