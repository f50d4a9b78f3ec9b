r"""Least squares over a cone given by rows: the dual active-set method of Goldfarb and Idnani.

.. math:: \min_y \; \tfrac12 \|y - c\|^2 \quad \text{s.t.} \quad v_j'y \ge 0 \; \forall j

From the unconstrained optimum, rows are made to hold one after the other, each time keeping the
multipliers of the rows held before from becoming negative. Square roots of nearly singular moments
turn a quadratic program into this form.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr_delete, solve_triangular

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError
from feaslearn.runs import Run
from feaslearn.tolerances import (
    DEPENDENT_TOL,
    EXACT_TOL,
    SUM_ROUNDING,
    UNDETERMINED_CURVATURE,
)

#: Least pivot of a matrix that needs no lift.
WELL_POSED = 1e-4
#: What is added to the diagonal of others, the first that is enough.
LIFTS = (1e-10, 1e-8, 1e-6)
#: Coefficients up to which the directions of a matrix that needs a lift are looked at.
MOST_SEEN = 500


class SquareRoot(NamedTuple):
    """A triangle ``L``; or directions (columns) and their lengths, the columns of L."""

    # The second is for matrices that are nearly singular.

    L: Array
    directions: Array | None = None
    lengths: Array | None = None

    def below(self, table: Array) -> Array:
        """Return ``L^-1 T``."""
        if self.directions is None or self.lengths is None:
            return np.asarray(solve_triangular(self.L, table, lower=True))
        along = self.directions.T @ table
        # What has no part along a short direction must not get one by rounding.
        along[np.abs(along) <= EXACT_TOL * np.linalg.norm(table, axis=0)] = 0.0
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
    roots = np.sqrt(np.where(seen, sizes + lift, UNDETERMINED_CURVATURE))
    root = SquareRoot(directions * roots, directions, roots)
    return root, root.L @ root.L.T, directions @ np.where(seen, r @ directions, 0.0)


class DualActiveSet:
    """The optimum over the rows that were given so far; more can follow."""

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
            if len(slack) and slack[worst] < -EXACT_TOL * self._size:
                self._hold(V[:, worst], worst)
                fresh = False
            elif fresh or not self.active:
                return
            else:
                self._refresh()
                fresh = True
        raise SolverError("the rows of a least-squares problem could not be made to hold in turn")

    def _refresh(self) -> None:
        """Compute optimum and multipliers from the active rows alone, without rounding errors."""
        while self.active:
            along = self._Q.T @ self._start
            multipliers = solve_triangular(self._R, -along, check_finite=False)
            place = int(np.argmin(multipliers))
            if multipliers[place] >= -DEPENDENT_TOL * float(np.abs(multipliers).max()):
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
                falls > SUM_ROUNDING,
                self.multipliers / np.where(falls > SUM_ROUNDING, falls, 1),
                np.inf,
            )
            first = int(np.argmin(steps)) if self.active else -1
            drop = float(steps[first]) if self.active else np.inf
            full = np.inf if length <= DEPENDENT_TOL else -float(self.y @ v) / length**2
            if not min(drop, full) < np.inf:
                # Only rounding can make a row of a cone impossible: it holds already.
                return
            step = min(drop, full)
            if length > DEPENDENT_TOL:
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
