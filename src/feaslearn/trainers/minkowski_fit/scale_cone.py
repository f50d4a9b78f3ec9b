r"""Least squares over scales that are not negative at any training row.

.. math:: \min_a \; a'Ha - 2r'a \quad \text{s.t.} \quad \psi(s_i)'a_t \ge 0 \; \forall i, t
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import nnls

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError
from feaslearn.runs import Run
from feaslearn.solvers.cone_least_squares import DualActiveSet, square_root
from feaslearn.tolerances import ACCEPT_TOL, QUICK_TOL

#: The scale that a row is about, and the row itself as a key.
Row = tuple[int, bytes]

#: How often broken rows are added.
MAX_ROUNDS = 300
#: Coefficients up to which the quick solver is done before a limit could matter.
QUICKLY_DONE = 500


class ConeSolution(NamedTuple):
    """Coefficients (G, M), the relative residual of the optimality conditions, and rounds."""

    coefficients: Array
    residual: float
    rounds: int


class Lookout(Protocol):
    """Finds the rows that coefficients break."""

    def find(
        self, a: Array, known: Mapping[Row, Array], everywhere: bool = True
    ) -> dict[Row, Array]:
        """Return rows where scales of coefficients ``a`` (G, M) are negative, but for known."""
        ...

    def broken(self, solutions: Sequence[Array]) -> list[bool]:
        """Say which coefficients break rows that were not at hand; these are from then on."""
        ...


class ScaleCone:
    """The coefficients whose scales are not negative at any row."""

    # There may be a million rows and few that matter: those are found by looking at all of them
    # whenever a solution is there. Each problem begins with the rows that held in the last one.

    def __init__(
        self, shape: tuple[int, int], lookout: Lookout | None, run: Run | None = None
    ) -> None:
        self._lookout, self._run = lookout, Run() if run is None else run
        self._needed: dict[Row, Array] = {}
        if lookout is None:
            unit = np.eye(shape[1])
            self._needed = {(t, row.tobytes()): row for t in range(shape[0]) for row in unit}

    def broken(self, solutions: Sequence[Array]) -> list[bool]:
        """Say which solutions that were not held `everywhere` must be found again."""
        if self._lookout is None:
            return [False] * len(solutions)
        return self._lookout.broken(solutions)

    def solve(
        self,
        H: Array,
        r: Array,
        units: Array,
        shape: tuple[int, int],
        everywhere: bool = True,
    ) -> ConeSolution:
        """Minimise ``a'Ha - 2r'a`` over the cone; H is positive definite.

        ``units`` are what coefficients are measured in: the smaller, the larger they may be. Unless
        scales are held ``everywhere``, only rows that are at hand count.
        `OutOfTime` is raised where the time is up before the optimum is there.
        """
        if not len(units):
            return ConeSolution(np.zeros(shape), 0.0, 0)
        scaled, right = H / np.outer(units, units), r / units
        # With H = LL' and y = L'a the problem is a projection.
        self._run.check_time()
        root, scaled, right = square_root(scaled, right)
        self._run.check_time()
        target = root.below(right)
        gain = float(target @ target)
        if self._lookout is None and not (self._run.clock.limited and len(target) > QUICKLY_DONE):
            # Three times as fast, not always right, and it cannot be ended.
            quick = _quick(root.L, target)
            forces = np.maximum(scaled @ quick - right, 0.0)
            residual = _residual(scaled, right, quick, forces, gain)
            if residual <= QUICK_TOL:
                return ConeSolution((quick / units).reshape(shape), residual, 1)
        search = DualActiveSet(target, self._run)
        known: dict[Row, Array] = {}
        new = self._needed
        rows, turned = np.zeros((len(units), 0)), np.zeros((len(units), 0))
        for rounds in range(1, MAX_ROUNDS + 1):
            columns = _columns(new, shape) / units[:, None]
            fresh = root.below(columns)
            lengths = np.linalg.norm(fresh, axis=0)
            known = known | new
            rows, turned = (
                np.hstack([rows, columns / lengths]),
                np.hstack([turned, fresh / lengths]),
            )
            search.add_rows(turned)
            found = root.above(search.y)
            new = {}
            if self._lookout is not None:
                new = self._lookout.find((found / units).reshape(shape), known, everywhere)
            if not new:
                forces = rows[:, search.active] @ search.multipliers
                if self._lookout is not None:
                    keys = list(known)
                    self._needed = {keys[place]: known[keys[place]] for place in search.active}
                residual = _residual(scaled, right, found, forces, gain)
                if not residual <= ACCEPT_TOL:
                    break
                return ConeSolution((found / units).reshape(shape), residual, rounds)
        raise SolverError(
            f"the fit's optimality conditions do not hold after {rounds} rounds; check the scale "
            "of decisions and features, or ask for more ridge"
        )


def _columns(rows: Mapping[Row, Array], shape: tuple[int, int]) -> Array:
    """Return rows, each about one scale, as columns over all coefficients."""
    columns = np.zeros((len(rows), *shape))
    for place, ((t, _), row) in enumerate(rows.items()):
        columns[place, t] = row
    return columns.reshape(len(rows), shape[0] * shape[1]).T


def _residual(H: Array, r: Array, found: Array, forces: Array, value: float) -> float:
    """Measure stationarity ``Ha - r = forces`` and complementarity ``a'forces = 0``.

    The first is relative to r, the second to ``value``, what the optimum without rows gains.
    """
    size = float(np.abs(r).max(initial=0.0)) or 1.0
    stationary = float(np.abs(H @ found - r - forces).max()) / size
    product = abs(float(found @ forces)) / (value or 1.0)
    return max(stationary, product)


def _quick(factor: Array, target: Array) -> Array:
    """Return what non-negative least squares says, or zeros where it does not end."""
    try:
        return np.asarray(nnls(np.ascontiguousarray(factor.T), target)[0])
    except RuntimeError:
        return np.zeros(len(target))
