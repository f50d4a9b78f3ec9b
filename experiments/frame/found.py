"""The finished cells of one experiment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


#: Seeds from which two rows are compared.
FEWEST = 3


class MissingCellsError(KeyError):
    """A row has no finished cell, or not the value that is asked for."""


@dataclass
class Found:
    """Values of the finished cells by row and seed.

    Parameters
    ----------
    cells : dict of str to dict of int to dict
        Values by the name of the row, then by seed.
    """

    cells: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)

    def seeds(self, row: str) -> list[int]:
        """Return the seeds of a row that are finished."""
        return sorted(self.cells.get(row, {}))

    def raw(self, row: str, key: str) -> list[Any]:
        """Return a value of a row for each finished seed."""
        found = [self.cells[row][seed].get(key) for seed in self.seeds(row)]
        if not found or any(value is None for value in found):
            raise MissingCellsError(f"{row}: {key}")
        return found

    def values(self, row: str, key: str) -> Array:
        """Return a number of a row for each finished seed."""
        return np.array(self.raw(row, key), dtype=float)

    def mean(self, row: str, key: str) -> float:
        """Return the mean of a number over the seeds."""
        return float(self.values(row, key).mean())

    def standard_error(self, row: str, key: str) -> float:
        """Return the standard error of that mean; NaN for one seed."""
        values = self.values(row, key)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan

    def paired(self, one: str, other: str, key: str) -> tuple[Array, Array]:
        """Return a number of two rows for the seeds that both have."""
        seeds = [seed for seed in self.seeds(one) if seed in self.cells.get(other, {})]
        if not seeds:
            raise MissingCellsError(f"{one}, {other}: {key}")
        pairs = [[self.cells[row][seed].get(key) for seed in seeds] for row in (one, other)]
        if any(value is None for values in pairs for value in values):
            raise MissingCellsError(f"{one}, {other}: {key}")
        first, second = np.array(pairs, dtype=float)
        return first, second

    def lower(self, one: str, other: str, key: str = "returned") -> bool | None:
        """Say whether a number is lower in one row than in another, on the same seeds.

        None where fewer than three seeds are shared, or the mean difference is within two of its
        standard errors.
        """
        first, second = self.paired(one, other, key)
        if len(first) < FEWEST:
            return None
        differences = second - first
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        if abs(differences.mean()) <= 2.0 * error:
            return None
        return bool(differences.mean() > 0.0)

    def told(self, row: str, key: str) -> str:
        """Return "mean ± standard error" as a text."""
        return with_error(self.mean(row, key), self.standard_error(row, key))


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one is, True if all are, otherwise None."""
    known = list(verdicts)
    if any(verdict is False for verdict in known):
        return False
    return True if known and all(known) else None


def with_error(mean: float, error: float) -> str:
    """Return a mean and its standard error as a text.

    Examples
    --------
    >>> with_error(0.53412, 0.0214)
    '0.534 ± 0.021'
    """
    if abs(mean) < 1e-9 and not error > 1e-9:
        return "0"
    if np.isnan(error):
        return short(mean)
    return f"{short(mean)} ± {error:.2g}"


def short(value: float) -> str:
    """Return a number in three digits."""
    if value == 0.0:
        return "0"
    if 1e3 <= abs(value) < 1e5:
        return f"{value:.0f}"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e3 else f"{value:.1e}"
