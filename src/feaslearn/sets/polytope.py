"""Polytopes given by their rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import Problems, SetError, TooManyVerticesError
from feaslearn.kernels.set_code import POINTS, SetCode, single
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_form import Cone, ConicForm
from feaslearn.sets.primitive_set import PrimitiveSet, numbers
from feaslearn.sets.simplex import Simplex

Array = NDArray[np.float64]

#: Kernels list the vertices up to this many; above it linear programs are solved by HiGHS.
MOST_LISTED = 2_000
#: More rows or entries than this are not even tried.
MOST_ROWS, MOST_ENTRIES = 60, 8


class Polytope(PrimitiveSet):
    r"""The polytope :math:`\{z : Hz \ge h,\; Ez = e\}`.

    Parameters
    ----------
    H : array-like of shape (l, p)
        Rows of the inequalities.
    h : array-like of shape (l,)
        Their right-hand sides.
    E : array-like of shape (k, p), default=None
        Rows of the equalities.
    e : array-like of shape (k,), default=None
        Their right-hand sides.

    Examples
    --------
    >>> from feaslearn import Polytope
    >>> triangle = Polytope([[1, 0], [0, 1], [-1, -2]], [0, 0, -2])
    >>> triangle.vertices()
    array([[2., 0.],
           [0., 1.],
           [0., 0.]])
    >>> triangle.argmin([[-1.0, -1.0]])
    array([[2., 0.]])
    """

    def __init__(
        self, H: ArrayLike, h: ArrayLike, E: ArrayLike | None = None, e: ArrayLike | None = None
    ) -> None:
        self.H = H
        self.h = h
        self.E = E
        self.e = e

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(self.conic_form().H.shape[1])

    def conic_form(self) -> ConicForm:
        """Return inequalities first, then equalities."""
        problems = Problems()
        H, h = numbers(self.H, "H", "Polytope"), numbers(self.h, "h", "Polytope")
        if H.ndim != 2 or H.shape[1] == 0:
            problems.add(f"H has shape {H.shape}; expected (rows, p) with p at least 1")
            problems.raise_if_any(SetError, "Polytope")
        if (self.E is None) != (self.e is None):
            problems.add("E and e must be given together")
            problems.raise_if_any(SetError, "Polytope")
        E = np.zeros((0, H.shape[1])) if self.E is None else numbers(self.E, "E", "Polytope")
        e = np.zeros(0) if self.e is None else numbers(self.e, "e", "Polytope")
        for matrix, vector, names in ((H, h, "H and h"), (E, e, "E and e")):
            if matrix.shape != (*vector.shape, H.shape[1]):
                problems.add(
                    f"{names} have shapes {matrix.shape} and {vector.shape}; "
                    f"expected (rows, {H.shape[1]}) and (rows,)"
                )
            elif not (np.isfinite(matrix).all() and np.isfinite(vector).all()):
                problems.add(f"{names} must be finite; leave out rows without a limit")
        problems.raise_if_any(SetError, "Polytope")
        cones = (Cone("nonnegative", len(H)), Cone("zero", len(E)))
        return ConicForm(np.vstack([H, E]), np.concatenate([h, e]), cones)

    def code(self) -> SetCode | None:
        """Return the list of vertices where it is short, otherwise None."""
        form = self.conic_form()
        if form.H.shape[0] > MOST_ROWS or form.H.shape[1] > MOST_ENTRIES:
            return None
        try:
            points = self.vertices(MOST_LISTED)
        except TooManyVerticesError:
            return None
        return single(POINTS, form.H.shape[1], points=points)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the hull of the vertices with the least cost, where they can be listed."""
        code = self.code()
        if code is None:
            return super().face(q, tolerance)
        cost, margin = self._cost(q, tolerance)
        values = code.points @ cost
        # The size of the points enters as in the kernel, so that both see the same ties.
        size = max(1.0, float(np.abs(code.points).max()))
        tied = code.points[values <= values.min() + margin * size]
        return AffineImage(Simplex(len(tied)), tied.T, np.zeros(len(cost)))

    def center(self) -> Array:
        """Return the mean of the vertices where they can be listed, otherwise an inner point."""
        code = self.code()
        return super().center() if code is None else np.asarray(code.points.mean(axis=0))
