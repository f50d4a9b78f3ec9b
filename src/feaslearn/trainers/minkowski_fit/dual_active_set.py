r"""Least squares over a cone that is given by rows, exactly.

.. math:: \min_y \; \tfrac12 \|y - c\|^2 \quad \text{s.t.} \quad v_j'y \ge 0 \; \forall j

The method of Goldfarb and Idnani: from the unconstrained optimum, rows are made to hold one after
the other, each time keeping the multipliers of the rows held before from becoming negative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr_delete, solve_triangular

from feaslearn.exceptions import SolverError
from feaslearn.runs import Run

Array = NDArray[np.float64]

#: A row whose part outside the span of the active ones is a smaller share depends on them.
DEPENDENT = 1e-9
#: Rows that are broken by less than this, relative to the size of y, hold.
HOLDS = 1e-13


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
