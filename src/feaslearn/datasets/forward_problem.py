"""True problems of data sets: what they answer, and the checks of their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import describe_non_finite
from feaslearn.parameters import Either, check_value

Norm = Literal["l1", "l2", "linf"]
NORM = Either(*get_args(Norm))


class CheckedProblem(ABC):
    """The problem a decision maker solves: ``min { c'x : x in R(s) }``; arguments are checked.

    Rows are samples throughout. Distances are plain norms, not squared; entries of a decision that
    are NaN were not observed and do not count.
    """

    def solve(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return one optimal decision for each sample.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N, n)
            The decisions.
        """
        return self._minimizers(*self._tables("solve", signals, costs=costs))

    def optimal_value(self, signals: ArrayLike, costs: ArrayLike) -> Array:
        """Return the least cost of each sample.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N,)
            The costs ``c'x`` of optimal decisions.
        """
        table, weights = self._tables("optimal_value", signals, costs=costs)
        values: Array = np.einsum("ij,ij->i", self._minimizers(table, weights), weights)
        return values

    def distance_to_feasible(
        self, decisions: ArrayLike, signals: ArrayLike, norm: Norm = "l2"
    ) -> Array:
        """Return how far each decision is from the feasible region, for the best hidden variables.

        Parameters
        ----------
        decisions : array_like of shape (N, n)
            The decisions; NaN entries were not observed and do not count.
        signals : array_like of shape (N, K)
            The signals.
        norm : {"l1", "l2", "linf"}
            The norm.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        table, points = self._tables("distance_to_feasible", signals, norm, decisions=decisions)
        return self._distances(table, points, None, norm)

    def distance_to_optimal(
        self, decisions: ArrayLike, signals: ArrayLike, costs: ArrayLike, norm: Norm = "l2"
    ) -> Array:
        """Return how far each decision is from the nearest optimal one.

        Parameters
        ----------
        decisions : array_like of shape (N, n)
            The decisions; NaN entries were not observed and do not count.
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.
        norm : {"l1", "l2", "linf"}
            The norm.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        table, points, weights = self._tables(
            "distance_to_optimal", signals, norm, decisions=decisions, costs=costs
        )
        return self._distances(table, points, weights, norm)

    def _tables(
        self, caller: str, signals: ArrayLike, norm: str = "l2", **others: ArrayLike
    ) -> list[Array]:
        """Check all arguments; return the table of the signals, then the others in their order."""
        problems = Problems()
        table, n = self._read(problems, signals)
        tables = {"signals": table}
        for name, other in others.items():
            tables[name] = check_table(problems, name, other, n, allow_nan=name == "decisions")
        check_same_length(problems, **tables)
        check_value("norm", norm, NORM, problems)
        problems.raise_if_any(DataError, f"{type(self).__name__}.{caller}")
        return list(tables.values())

    @abstractmethod
    def _read(self, problems: Problems, signals: ArrayLike) -> tuple[Array, int]:
        """Return what the problem reads of the signals, checked, and the number of decisions."""

    @abstractmethod
    def _minimizers(self, table: Array, costs: Array) -> Array:
        """Return one optimal decision for each sample."""

    @abstractmethod
    def _distances(self, table: Array, points: Array, costs: Array | None, norm: Norm) -> Array:
        """Return the distances to the optimal decisions, without costs to the feasible ones."""


def check_table(
    problems: Problems,
    name: str,
    table: ArrayLike,
    n_columns: int | None,
    *,
    allow_nan: bool = False,
) -> Array:
    """Return a finite float table of ``n_columns`` columns, or add what is wrong with it."""
    empty = np.empty((0, n_columns or 0))
    try:
        values = np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        problems.add(f"{name} is not a table of numbers ({error})")
        return empty
    if values.ndim != 2 or n_columns not in (None, values.shape[1]):
        expected = "columns" if n_columns is None else n_columns
        problems.add(f"{name} has shape {values.shape}, expected (samples, {expected})")
        return empty
    wrong = describe_non_finite(values, allow_nan=allow_nan)
    if wrong is not None:
        problems.add(f"{name}: {wrong}")
        return empty
    return values


def check_same_length(problems: Problems, **tables: Array) -> None:
    """Add a problem if the tables do not have the same number of rows."""
    lengths = {name: len(table) for name, table in tables.items()}
    if not problems and len(set(lengths.values())) > 1:
        given = ", ".join(f"{name} {length}" for name, length in lengths.items())
        problems.add(f"the number of rows differs: {given}; give one row for each sample")
