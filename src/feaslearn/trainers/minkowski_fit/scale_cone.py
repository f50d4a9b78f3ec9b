r"""Least squares over scales that are not negative at any training row.

.. math:: \min_a \; a'Ha - 2r'a \quad \text{s.t.} \quad \psi(s_i)'a_t \ge 0 \; \forall i, t
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from feaslearn.exceptions import SolverError
from feaslearn.trainers.minkowski_fit.dual_active_set import DualActiveSet

Array = NDArray[np.float64]

#: Scales that are negative by a smaller share of the largest count as zero.
VIOLATED = 1e-9
#: Violated rows of each term that are added at once, and how often.
ROWS_AT_ONCE, MAX_ROUNDS = 4, 300
#: Solutions of a larger residual are not believed.
BELIEVED = 1e-6


class ConeSolution(NamedTuple):
    """Coefficients (G, M), the relative residual of the optimality conditions, and rounds."""

    coefficients: Array
    residual: float
    rounds: int


class ScaleCone:
    """The coefficients whose scales are not negative, by the rows that were needed so far.

    There may be a million rows and few that matter: those are found by looking at all of them
    whenever a solution is there, and kept for the next problem over the same samples.

    Parameters
    ----------
    parts : sequence of ndarray of shape (N, M)
        The functions of the scales at all rows.
    n_groups : int
        Number G of scales.
    nonnegative : bool
        Whether coefficients that are not negative are all that is asked for.
    """

    def __init__(self, parts: Sequence[Array], n_groups: int, nonnegative: bool) -> None:
        self._parts = parts
        self._nonnegative = nonnegative
        self._known: set[tuple[int, bytes]] = set()
        self._rows: list[tuple[int, Array]] = []
        if nonnegative:
            m = parts[0].shape[1]
            self._rows = [(t, row) for t in range(n_groups) for row in np.eye(m)]

    def solve(self, H: Array, r: Array, units: Array, shape: tuple[int, int]) -> ConeSolution:
        """Minimise ``a'Ha - 2r'a`` over the cone; H is positive definite.

        ``units`` are what coefficients are measured in: the smaller, the larger they may be.
        """
        if not len(units):
            return ConeSolution(np.zeros(shape), 0.0, 0)
        scaled, right = H / np.outer(units, units), r / units
        # With H = LL' and y = L'a the problem is a projection.
        factor = _factor(scaled)
        target = solve_triangular(factor, right, lower=True)
        search = DualActiveSet(target)
        rows, turned = np.zeros((len(units), 0)), np.zeros((len(units), 0))
        rounds = 0
        while True:
            rounds += 1
            new = self._columns(shape, rows.shape[1]) / units[:, None]
            fresh = solve_triangular(factor, new, lower=True)
            lengths = np.linalg.norm(fresh, axis=0)
            rows = np.hstack([rows, new / lengths])
            turned = np.hstack([turned, fresh / lengths])
            search.add_rows(turned)
            found = solve_triangular(factor, search.y, lower=True, trans=1)
            a = (found / units).reshape(shape)
            if not self._add_violated(a):
                break
            if rounds == MAX_ROUNDS:
                raise SolverError(f"negative scales after {rounds} rounds of adding rows")
        forces = rows[:, search.active] @ search.multipliers
        return ConeSolution(a, _residual(scaled, right, found, forces), rounds)

    def _columns(self, shape: tuple[int, int], known: int) -> Array:
        """Return the rows that came after the first ``known``, as columns."""
        G, M = shape
        later = self._rows[known:]
        columns = np.zeros((len(later), G, M))
        for place, (t, row) in enumerate(later):
            columns[place, t] = row
        return columns.reshape(len(later), G * M).T

    def _add_violated(self, a: Array) -> bool:
        """Add the rows where scales are most negative; say whether there were some."""
        if self._nonnegative:
            return False
        limit = VIOLATED * max(float(np.abs(part @ a.T).max()) for part in self._parts)
        before = len(self._rows)
        for part in self._parts:
            scales = part @ a.T
            for t in np.flatnonzero(scales.min(axis=0) < -limit):
                last = min(ROWS_AT_ONCE, len(scales)) - 1
                for i in np.argpartition(scales[:, t], last)[: last + 1]:
                    key = (int(t), part[i].tobytes())
                    if scales[i, t] < -limit and key not in self._known:
                        self._known.add(key)
                        self._rows.append((int(t), part[i]))
        return len(self._rows) > before


def _factor(H: Array) -> Array:
    """Return L with LL' = H, whose diagonal is about one; rounding may need to be lifted."""
    for lift in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        with contextlib.suppress(LinAlgError):
            return np.asarray(cholesky(H + lift * np.eye(len(H)), lower=True))
    raise SolverError("the moments of the data are not those of any data: rounding took over")


def _residual(H: Array, r: Array, found: Array, forces: Array) -> float:
    """Verify stationarity ``Ha - r = forces`` and complementarity ``a'forces = 0``."""
    size = float(np.abs(r).max(initial=0.0)) or 1.0
    stationary = float(np.abs(H @ found - r - forces).max()) / size
    product = abs(float(found @ forces)) / (size * max(float(np.abs(found).sum()), 1e-300))
    residual = max(stationary, product)
    if not residual <= BELIEVED:
        raise SolverError(
            f"the fit's optimality conditions are broken by {residual:.1e}; check the scale of "
            "decisions and features, or ask for more ridge"
        )
    return residual
