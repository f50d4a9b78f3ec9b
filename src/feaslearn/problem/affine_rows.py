"""Right-hand sides that move with the signal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import DataError, Problems
from feaslearn.problem.forward_problem import FloatArray, check_table


class AffineRows:
    """One bound for each row of a linear program, affine in the signal.

    ``r(s) = constant + slope s``

    Parameters
    ----------
    constant : array_like of shape (m,)
        The bound at ``s = 0``; plus or minus infinity where a row has no such bound.
    slope : array_like of shape (m, K)
        How the bound moves with each signal; zero where the constant is infinite.

    Examples
    --------
    >>> from feaslearn.problem import AffineRows
    >>> AffineRows([0.0, 3.5], [[1.0, 1.0], [0.0, 0.0]]).evaluate([[0.25, 0.5]])
    array([[0.75, 3.5 ]])
    """

    def __init__(self, constant: ArrayLike, slope: ArrayLike) -> None:
        self.constant = np.ascontiguousarray(constant, dtype=np.float64)
        self.slope = np.ascontiguousarray(slope, dtype=np.float64)
        problems = Problems()
        if self.constant.ndim != 1:
            problems.add(f"constant has shape {self.constant.shape}, expected (rows,)")
        elif self.slope.ndim != 2 or len(self.slope) != len(self.constant):
            problems.add(
                f"slope has shape {self.slope.shape}, expected ({len(self.constant)}, signals)"
            )
        else:
            self._check_values(problems)
        problems.raise_if_any(DataError, "AffineRows")

    def _check_values(self, problems: Problems) -> None:
        if np.isnan(self.constant).any():
            rows = np.flatnonzero(np.isnan(self.constant)).tolist()
            problems.add(f"constant is NaN in rows {rows}")
        if not np.isfinite(self.slope).all():
            rows = np.flatnonzero(~np.isfinite(self.slope).all(axis=1)).tolist()
            problems.add(f"slope is NaN or infinite in rows {rows}")
        elif (moving := np.isinf(self.constant) & self.slope.any(axis=1)).any():
            rows = np.flatnonzero(moving).tolist()
            problems.add(f"rows {rows} have an infinite constant: their slope must be zero")

    @property
    def n_rows(self) -> int:
        """How many bounds there are."""
        return len(self.constant)

    @property
    def n_signals(self) -> int:
        """How many signals the bounds read."""
        return int(self.slope.shape[1])

    def evaluate(self, signals: ArrayLike) -> FloatArray:
        """Return the bounds at each signal.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.

        Returns
        -------
        ndarray of shape (N, m)
            The bounds.
        """
        problems = Problems()
        table = check_table(problems, "signals", signals, self.n_signals)
        problems.raise_if_any(DataError, "AffineRows.evaluate")
        bounds: FloatArray = self.constant + table @ self.slope.T
        return bounds

    def __repr__(self) -> str:
        return f"AffineRows({self.n_rows} rows, {self.n_signals} signals)"
