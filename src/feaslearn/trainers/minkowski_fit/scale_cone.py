r"""Least squares over scales that are not negative at any training row.

.. math:: \min_a \; a'Ha - 2r'a \quad \text{s.t.} \quad \psi(s_i)'a_t \ge 0 \; \forall i, t
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.exceptions import SolverError
from feaslearn.runs import Run
from feaslearn.solvers.cone_least_squares import DualActiveSet, square_root
from feaslearn.tolerances import ACCEPT_TOL, INSIDE_TOL, QUICK_TOL
from feaslearn.trainers.minkowski_fit.passes import Passes, Sums

#: The scale that a row is about, and the row itself as a key.
Row = tuple[int, bytes]

#: How often violated rows are added.
MAX_ROUNDS = 300
#: Exchanges in a row that may leave no fewer coefficients wrong.
PATIENCE = 3
#: A sign is wrong by more than this share of the largest number.
SURE = 0.01 * QUICK_TOL


class ConeSolution(NamedTuple):
    """Coefficients (G, M), the relative residual of the optimality conditions, and rounds."""

    coefficients: Array
    residual: float
    rounds: int


class ScaleCone:
    """The coefficients whose scales are not negative at any row."""

    # Of maybe a million rows few matter: a separation oracle finds violated ones whenever a
    # solution is there. Each problem begins with the active rows of the last one.

    def __init__(
        self, shape: tuple[int, int], separation: NegativeScales | None, run: Run | None = None
    ) -> None:
        self._separation, self._run = separation, run or Run()
        self._needed: dict[Row, Array] = {}
        #: Coefficients that are positive, where each must not be negative.
        self._positive = np.ones(shape[0] * shape[1], dtype=bool)
        if separation is None:
            unit = np.eye(shape[1])
            self._needed = {(t, row.tobytes()): row for t in range(shape[0]) for row in unit}

    def violated(self, solutions: Sequence[Array]) -> list[bool]:
        """Say which solutions that were not held `everywhere` must be found again."""
        if self._separation is None:
            return [False] * len(solutions)
        return self._separation.violated(solutions)

    def solve(
        self,
        H: Array,
        r: Array,
        units: Array,
        shape: tuple[int, int],
        everywhere: bool = True,
    ) -> ConeSolution:
        """Minimise ``a'Ha - 2r'a`` over the cone; H is positive definite."""
        if not len(units):
            return ConeSolution(np.zeros(shape), 0.0, 0)
        scaled, right = H / np.outer(units, units), r / units
        # With H = LL' and y = L'a the problem is a projection.
        self._run.check_time()
        root, scaled, right = square_root(scaled, right)
        self._run.check_time()
        target = root.below(right)
        gain = float(target @ target)
        if self._separation is None:
            # Far faster, but it may find no end.
            quick = self._exchange(scaled, right)
            forces = np.maximum(scaled @ quick - right, 0.0)
            residual = _residual(scaled, right, quick, forces, gain)
            if residual <= QUICK_TOL:
                self._positive = quick > 0.0
                return ConeSolution((quick / units).reshape(shape), residual, 1)
        search = DualActiveSet(target, self._run)
        known: dict[Row, Array] = {}
        new = self._needed
        rows = turned = np.zeros((len(units), 0))
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
            if self._separation is not None:
                new = self._separation.find((found / units).reshape(shape), known, everywhere)
            if not new:
                forces = rows[:, search.active] @ search.multipliers
                if self._separation is not None:
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

    def _exchange(self, H: Array, r: Array) -> Array:
        """Minimise over coefficients that are not negative by exchanging many that are wrong.

        Júdice and Pires, "A block principal pivoting algorithm for large-scale strictly monotone
        linear complementarity problems", Computers and Operations Research, 1994. It begins with
        those that were positive in the last problem.
        """
        positive, left, fewest = self._positive.copy(), PATIENCE, len(r) + 1
        found, size = np.zeros(len(r)), float(np.abs(r).max(initial=0.0))
        while left >= 0:
            self._run.check_time()
            found[:] = 0.0
            try:
                factor = cho_factor(H[np.ix_(positive, positive)], check_finite=False)
            except LinAlgError:
                break
            found[positive] = cho_solve(factor, r[positive], check_finite=False)
            slopes, largest = H @ found - r, float(np.abs(found).max(initial=0.0))
            wrong = np.where(positive, found < -SURE * largest, slopes < -SURE * size)
            count = int(wrong.sum())
            if not count:
                break
            left, fewest = (PATIENCE, count) if count < fewest else (left - 1, fewest)
            positive ^= wrong
        return np.maximum(found, 0.0)


def _columns(rows: Mapping[Row, Array], shape: tuple[int, int]) -> Array:
    """Return rows, each about one scale, as columns over all coefficients."""
    columns = np.zeros((len(rows), *shape))
    for place, ((t, _), row) in enumerate(rows.items()):
        columns[place, t] = row
    return columns.reshape(len(rows), shape[0] * shape[1]).T


def _residual(H: Array, r: Array, found: Array, forces: Array, value: float) -> float:
    """Measure stationarity ``Ha - r = forces`` and complementarity ``a'forces = 0``."""
    size = float(np.abs(r).max(initial=0.0)) or 1.0
    stationary = float(np.abs(H @ found - r - forces).max()) / size
    product = abs(float(found @ forces)) / (value or 1.0)
    return max(stationary, product)


# Where scales are negative: separation of the rows of all samples that a solution violates.


#: Rows of each block and term that are looked at closer, and rows of a term that are added at once.
OF_A_BLOCK, AT_ONCE = 4, 400
#: Rows of each term that are listed before some are left out, and the least that several solutions
#: add each.
MOST_LISTED, LEAST_AT_ONCE = 10 * AT_ONCE, 8


class Found(NamedTuple):
    """The least and the greatest of each scale, and the rows where scales are most negative.

    ``lowest`` lists term, scale and functions of such rows; ``negative`` counts scales that
    are so by more than rounding.
    """

    least: Array
    greatest: Array
    lowest: list[tuple[int, float, Array]]
    negative: int

    def plus(self, other: Found) -> Found:
        """Return what was found in two parts of the samples; of many rows, every other one."""
        lowest = self.lowest + other.lowest
        if len(lowest) > MOST_LISTED * len(self.least):
            lowest = sorted(lowest, key=lambda row: row[:2])[::2]
        return Found(
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
            lowest,
            self.negative + other.negative,
        )


class NegativeScales:
    """A separation oracle over all samples, with a working set of rows that is asked first."""

    # Scales that are not negative at a corner of the smallest box around all features are negative
    # nowhere; otherwise one pass over all samples serves several solutions.

    def __init__(self, passes: Passes, sums: Sums) -> None:
        self._kept = passes.of.psi(passes.first.features)
        self._passes, self._ends = passes, (sums.low, sums.high)
        #: Scales that were negative by more than rounding in the last look.
        self.clipped = 0
        self._listed = {row.tobytes() for row in self._kept}

    def find(
        self, a: Array, known: Mapping[Row, Array], everywhere: bool = True
    ) -> dict[Row, Array]:
        """Return rows of the working set where scales are negative, or else any such rows."""
        near = _found(self._kept, a)
        rows = _chosen(near, known)
        if rows or not everywhere:
            return rows
        self.clipped = near.negative if self._passes.exact else 0
        if self._passes.exact or not self._possible(a):
            return {}
        (found,) = self._look([a])
        self.clipped = found.negative
        return self._remembered(_chosen(found, known))

    def violated(self, solutions: Sequence[Array]) -> list[bool]:
        """Say which coefficients violate rows outside of the working set, and add those to it."""
        answers = [False] * len(solutions)
        places = [i for i, a in enumerate(solutions) if self._possible(a)]
        if self._passes.exact or not places:
            return answers
        most = max(LEAST_AT_ONCE, AT_ONCE // len(places))
        for i, found in zip(places, self._look([solutions[i] for i in places]), strict=True):
            rows = _chosen(found, {}, most)
            new = {key: psi for key, psi in rows.items() if key[1] not in self._listed}
            answers[i] = bool(self._remembered(new))
        return answers

    def _possible(self, a: Array) -> bool:
        """Say whether a scale is negative at a corner of the box of all features."""
        low, high = (end[: a.shape[1]] for end in self._ends)
        return bool(np.minimum(a * low, a * high).sum(axis=1).min() < 0.0)

    def _look(self, solutions: Sequence[Array]) -> list[Found]:
        """Go through all samples once."""
        of = self._passes.of

        def look(block: Block) -> list[Found]:
            psi = of.psi(block.features)
            return [_found(psi, a) for a in solutions]

        parts = self._passes.each(look, features_only=True)
        return reduce(
            lambda one, other: [f.plus(g) for f, g in zip(one, other, strict=True)], parts
        )

    def _remembered(self, rows: dict[Row, Array]) -> dict[Row, Array]:
        """Add rows to the working set, and return them."""
        if rows:
            self._kept = np.vstack([self._kept, *rows.values()])
            self._listed.update(key[1] for key in rows)
        return rows


def _found(psi: Array, a: Array) -> Found:
    scales = a @ psi.T
    least = scales.min(axis=1)
    last = min(OF_A_BLOCK, len(psi)) - 1
    lowest: list[tuple[int, float, Array]] = []
    for t in np.flatnonzero(least < 0.0):
        least_rows = np.argpartition(scales[t], last)[: last + 1]
        rows = (i for i in least_rows if scales[t, i] < 0.0)
        # A view would hold the whole block.
        lowest += [(int(t), float(scales[t, i]), psi[i].copy()) for i in rows]
    greatest = scales.max(axis=1)
    rounding = INSIDE_TOL * float(max(np.abs(least).max(), np.abs(greatest).max()))
    negative = int(np.count_nonzero(scales < -rounding)) if lowest else 0
    return Found(least, greatest, lowest, negative)


def _chosen(found: Found, known: Mapping[Row, Array], at_once: int = AT_ONCE) -> dict[Row, Array]:
    """Return the rows that are violated by more than rounding, not too many of each term."""
    limit = INSIDE_TOL * float(max(np.abs(found.least).max(), np.abs(found.greatest).max()))
    rows: dict[Row, Array] = {}
    for t in range(len(found.least)):
        own = [row[1:] for row in found.lowest if row[0] == t and row[1] < -limit]
        own.sort(key=lambda pair: pair[0])
        # Some of all sizes: the most negative ones alone are all from one corner.
        for _, psi in own[:: -(-len(own) // at_once) or 1]:
            key = (t, psi.tobytes())
            if key not in known:
                rows[key] = psi
    return rows
