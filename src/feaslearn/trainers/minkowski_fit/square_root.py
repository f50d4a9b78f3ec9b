"""Square roots ``H = LL'`` of moments, nearly singular ones too."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from feaslearn.exceptions import SolverError

Array = NDArray[np.float64]

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
