"""Polytopes given by their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import Problems, SetError, TooManyVerticesError
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.half_spaces import half_spaces_of_points
from feaslearn.sets.primitive_set import PrimitiveSet, checked_flag, numbers
from feaslearn.sets.simplex import Simplex
from feaslearn.sets.vertex_enumeration import binary_points_of_form, middle_point
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import BINARY_POINTS, POINTS, SetCode, single
from feaslearn.tolerances import MOST_VERTICES, size_of

#: Kernels list the vertices up to this many; above it linear programs are solved by HiGHS.
MAX_VERTICES = 2_000
#: More rows or entries than this are not even tried.
MAX_ROWS, MAX_ENTRIES = 60, 8


@dataclass(eq=False, repr=False)
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
    binary : bool, default=False
        Whether the set holds only its points of zeros and ones, :math:`z \in \{0, 1\}^p`. The
        conic form is then their convex hull; distances are to the nearest of the points.

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

    H: ArrayLike
    h: ArrayLike
    E: ArrayLike | None = None
    e: ArrayLike | None = None
    binary: bool = False

    @property
    def discrete(self) -> bool:
        """Whether the set holds only its points of zeros and ones."""
        return checked_flag(self.binary, "Polytope")

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(self._given_rows().H.shape[1])

    def conic_form(self) -> ConicForm:
        """Return inequalities first, then equalities; those of the hull, if binary."""
        if self.discrete:
            return half_spaces_of_points(self.vertices()).form()
        return self._given_rows()

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices as rows, or the binary points, the first entries first."""
        if self.discrete:
            return binary_points_of_form(self._given_rows(), limit, self)
        return super().vertices(limit)

    def check(self) -> None:
        """Refuse wrong parameters, an empty set and an unbounded one, with the reason."""
        if self.discrete:
            self.vertices()
        else:
            super().check()

    def _given_rows(self) -> ConicForm:
        H, h = numbers(self.H, "H", "Polytope"), numbers(self.h, "h", "Polytope")
        if H.ndim != 2 or H.shape[1] == 0:
            raise SetError(f"Polytope: H has shape {H.shape}; expected (rows, p) with p at least 1")
        if (self.E is None) != (self.e is None):
            raise SetError("Polytope: E and e must be given together")
        problems = Problems()
        E = np.empty((0, H.shape[1])) if self.E is None else numbers(self.E, "E", "Polytope")
        e = np.empty(0) if self.e is None else numbers(self.e, "e", "Polytope")
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
        if self.discrete:
            points = self.vertices()
            return single(BINARY_POINTS, points.shape[1], points=points)
        form = self.conic_form()
        if form.H.shape[0] > MAX_ROWS or form.H.shape[1] > MAX_ENTRIES:
            return None
        try:
            points = self.vertices(MAX_VERTICES)
        except TooManyVerticesError:
            return None
        return single(POINTS, form.H.shape[1], points=points)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the hull of the vertices with the least cost, where they can be enumerated.

        The points alone if binary.
        """
        code = self.code()
        if code is None:
            return super().face(q, tolerance)
        cost, margin = self._cost(q, tolerance)
        values = code.points @ cost
        # The size of the points enters as in the kernel, so that both see the same ties.
        tied = code.points[values <= values.min() + margin * size_of(code.points)]
        return AffineImage(Simplex(len(tied), self.binary), tied.T, np.zeros(len(cost)))

    def center(self) -> Array:
        """Return the mean of the vertices where they can be enumerated, otherwise an inner point.

        The point nearest to the mean if binary.
        """
        if self.discrete:
            return middle_point(self.vertices())
        code = self.code()
        return super().center() if code is None else np.asarray(code.points.mean(axis=0))
