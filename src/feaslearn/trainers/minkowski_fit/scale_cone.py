r"""Least squares over scales that are not negative at any training row.

.. math:: \min_a \; a'Ha - 2r'a \quad \text{s.t.} \quad \psi(s_i)'a_t \ge 0 \; \forall i, t
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, qr_delete, solve_triangular
from scipy.optimize import nnls

from feaslearn.exceptions import SolverError
from feaslearn.runs import Run

Array = NDArray[np.float64]
#: The scale that a row is about, and the row itself as a key.
Row = tuple[int, bytes]

#: How often broken rows are added.
MAX_ROUNDS = 300
#: Solutions of a larger residual are not believed; those of the quick solver are held to more.
BELIEVED, QUICK = 1e-6, 1e-9
#: Coefficients up to which the quick solver is done before a limit could matter.
QUICKLY_DONE = 500

#: Least pivot of a matrix that needs no lift.
WELL_POSED = 1e-4
#: What is added to the diagonal of others, the first that is enough.
LIFTS = (1e-10, 1e-8, 1e-6)
#: What directions that change no decision get instead of zero: the less, the more rounding counts;
#: the more, the further scales that are held positive move the others.
UNSEEN = 1e-8
#: Parts of a vector below this share of its length are rounding.
ROUNDING = 1e-13
#: Coefficients up to which the directions of a matrix that needs a lift are looked at.
MOST_SEEN = 500

#: A row whose part outside the span of the active ones is a smaller share depends on them.
DEPENDENT = 1e-9
#: Rows that are broken by less than this, relative to the size of y, hold.
HOLDS = 1e-13


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
    """The coefficients whose scales are not negative at any row.

    There may be a million rows and few that matter: those are found by looking at all of them
    whenever a solution is there. Each problem begins with the rows that held in the last one.

    Parameters
    ----------
    shape : tuple of int
        Number G of scales, and M of functions.
    lookout : Lookout or None
        Finds broken rows. None where coefficients that are not negative are all that is asked for.
    run : Run, optional
        Says when the time is up.
    """

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
            if residual <= QUICK:
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
                if not residual <= BELIEVED:
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


# Square roots ``H = LL'`` of moments, nearly singular ones too.


class SquareRoot(NamedTuple):
    """A triangle ``L``; or directions (columns) and their lengths, the columns of L.

    The second is for matrices that are nearly singular.
    """

    L: Array
    directions: Array | None = None
    lengths: Array | None = None

    def below(self, table: Array) -> Array:
        """Return ``L^-1 T``."""
        if self.directions is None or self.lengths is None:
            return np.asarray(solve_triangular(self.L, table, lower=True))
        along = self.directions.T @ table
        # What has no part along a short direction must not get one by rounding.
        along[np.abs(along) <= ROUNDING * np.linalg.norm(table, axis=0)] = 0.0
        return np.asarray((along.T / self.lengths).T)

    def above(self, y: Array) -> Array:
        """Return ``L'^-1 y``."""
        if self.directions is None or self.lengths is None:
            return np.asarray(solve_triangular(self.L, y, lower=True, trans=1))
        return np.asarray(self.directions @ (y / self.lengths))


def square_root(H: Array, r: Array) -> tuple[SquareRoot, Array, Array]:
    """Return the root of H, whose diagonal is at most about one, with ``LL'`` and r.

    Where H is nearly singular, it is lifted a little: of all coefficients that are as good, the
    smallest are taken. Along directions that change no decision, H and r are rounding, which so
    small a lift would magnify: there they are taken to be zero, each direction by itself.
    """
    for lift in (0.0, *LIFTS):
        if lift and len(r) <= MOST_SEEN:
            sizes, directions = np.linalg.eigh(H)
            if sizes[0] < -LIFTS[-1]:
                break
            return _direction_by_direction(sizes, directions, r, lift)
        with contextlib.suppress(LinAlgError):
            lifted = H + lift * np.eye(len(H))
            factor = np.asarray(cholesky(lifted, lower=True))
            if np.diag(factor).min() > (0.0 if lift else WELL_POSED):
                return SquareRoot(factor), lifted, r
    raise SolverError("the moments of the data are not those of any data: rounding took over")


def _direction_by_direction(
    sizes: Array, directions: Array, r: Array, lift: float
) -> tuple[SquareRoot, Array, Array]:
    seen = sizes > lift
    roots = np.sqrt(np.where(seen, sizes + lift, UNSEEN))
    root = SquareRoot(directions * roots, directions, roots)
    return root, root.L @ root.L.T, directions @ np.where(seen, r @ directions, 0.0)


# Least squares over a cone that is given by rows, exactly.
#
# .. math:: \min_y \; \tfrac12 \|y - c\|^2 \quad \text{s.t.} \quad v_j'y \ge 0 \; \forall j
#
# The method of Goldfarb and Idnani: from the unconstrained optimum, rows are made to hold one
# after
# the other, each time keeping the multipliers of the rows held before from becoming negative.


class DualActiveSet:
    """The optimum over the rows that were given so far; more can follow.

    Parameters
    ----------
    start : ndarray of shape (m,)
        The unconstrained optimum c.
    run : Run, optional
        Says when the time is up; the search then raises `OutOfTime`.

    Attributes
    ----------
    y : ndarray of shape (m,)
        The optimum.
    active : list of int
        The rows that hold with equality, by their position.
    multipliers : ndarray
        Their multipliers, not negative.
    """

    def __init__(self, start: Array, run: Run | None = None) -> None:
        self._run = Run() if run is None else run
        m = len(start)
        self._start, self.y = start, start.copy()
        self.active: list[int] = []
        self.multipliers = np.zeros(0)
        # The active rows as an orthonormal basis Q, with room for more, and a triangle R.
        self._room: Array = np.empty((m, 16), order="F")
        self._R: Array = np.zeros((0, 0))
        self._size = float(np.linalg.norm(start)) or 1.0

    @property
    def _Q(self) -> Array:
        return self._room[:, : len(self.active)]

    def add_rows(self, V: Array) -> None:
        """Make all columns of ``V`` (m, P), of length one, hold; those of before come first."""
        fresh = False
        for _ in range(20 * (V.shape[1] + len(self.y)) + 100):
            self._run.check_time()
            slack = self.y @ V
            slack[self.active] = 0.0
            worst = int(np.argmin(slack)) if len(slack) else 0
            if len(slack) and slack[worst] < -HOLDS * self._size:
                self._hold(V[:, worst], worst)
                fresh = False
            elif fresh or not self.active:
                return
            else:
                self._refresh()
                fresh = True
        raise SolverError("the rows of a least-squares problem could not be made to hold in turn")

    def _refresh(self) -> None:
        """Compute optimum and multipliers from the active rows alone.

        Steps along rows that nearly depend on each other leave the rounding of their differences
        behind. Rows whose multipliers turn out negative are dropped.
        """
        while self.active:
            along = self._Q.T @ self._start
            multipliers = solve_triangular(self._R, -along, check_finite=False)
            place = int(np.argmin(multipliers))
            if multipliers[place] >= -DEPENDENT * float(np.abs(multipliers).max()):
                self.y = self._start - self._Q @ along
                self.multipliers = np.maximum(multipliers, 0.0)
                return
            self._remove(place)
        self.y = self._start.copy()

    def _hold(self, v: Array, place: int) -> None:
        """Move until row ``v`` holds with equality, dropping rows that it replaces."""
        own = 0.0
        while True:
            along = self._Q.T @ v
            outside = v - self._Q @ along
            # Once is not enough where little is left.
            again = self._Q.T @ outside
            along, outside = along + again, outside - self._Q @ again
            length = float(np.linalg.norm(outside))
            falls = (
                solve_triangular(self._R, along, check_finite=False) if self.active else np.zeros(0)
            )
            steps = np.where(
                falls > 1e-14, self.multipliers / np.where(falls > 1e-14, falls, 1), np.inf
            )
            first = int(np.argmin(steps)) if self.active else -1
            drop = float(steps[first]) if self.active else np.inf
            full = np.inf if length <= DEPENDENT else -float(self.y @ v) / length**2
            if not min(drop, full) < np.inf:
                # Only rounding can make a row of a cone impossible: it holds already.
                return
            step = min(drop, full)
            if length > DEPENDENT:
                self.y = self.y + step * outside
            self.multipliers = np.maximum(self.multipliers - step * falls, 0.0)
            own += step
            if full <= drop:
                self._append(outside / length, along, length, place, own)
                return
            self._remove(first)

    def _append(self, q: Array, along: Array, length: float, place: int, own: float) -> None:
        size = len(self.active)
        if size == self._room.shape[1]:
            self._room = np.asfortranarray(np.pad(self._room, ((0, 0), (0, size))))
        self._room[:, size] = q
        R = np.zeros((size + 1, size + 1), order="F")
        R[:size, :size], R[:size, size], R[size, size] = self._R, along, length
        self._R = R
        self.active.append(place)
        self.multipliers = np.append(self.multipliers, own)

    def _remove(self, place: int) -> None:
        left = len(self.active) - 1
        if left:
            Q, R = qr_delete(self._Q, self._R, place, 1, "col", check_finite=False)
            self._room[:, :left] = Q[:, :left]
            self._R = np.asfortranarray(R[:left], dtype=np.float64)
        else:
            self._R = np.zeros((0, 0))
        del self.active[place]
        self.multipliers = np.delete(self.multipliers, place)
