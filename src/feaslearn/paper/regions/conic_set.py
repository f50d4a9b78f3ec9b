"""Equation (7b): sets given by their conic form, Z = {z : H z - h in K}."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import SetError, TooManyVerticesError
from feaslearn.paper.regions.cones import CONE_KINDS, Cone, ConicForm, side
from feaslearn.paper.regions.faces import check_nonempty_and_bounded, optimal_face
from feaslearn.paper.regions.image import Image
from feaslearn.paper.regions.programs import (
    minimize_linear,
    vertices_of_least_cost,
)
from feaslearn.sets.primitive_set import PrimitiveSet, Ties
from feaslearn.sets.vertex_enumeration import vertices_of_form
from feaslearn.tolerances import (
    INSIDE_TOL,
    MOST_VERTICES,
    POINT_TOL,
    TIE_TOL,
    divisors,
    size_of,
)


@dataclass(eq=False, repr=False)
class ConicSet(PrimitiveSet):
    r"""The set :math:`\{z : Hz - h \in K\}` for linear rows and second-order or semidefinite cones.

    Parameters
    ----------
    H : array-like of shape (l, p)
        Rows.
    h : array-like of shape (l,)
        Right-hand sides.
    cones : sequence of (kind, size)
        The factors of K in the order of the rows: ``("nonnegative", m)``, ``("zero", m)``,
        ``("second-order", m)``, whose first row bounds the norm of the others, or
        ``("semidefinite", m (m + 1) / 2)``, whose rows are the upper triangle of a symmetric
        m x m matrix, column by column, with entries off the diagonal times :math:`\sqrt 2`.

    Examples
    --------
    The upper half of the unit disc:

    >>> from feaslearn.paper import ConicSet
    >>> half_disc = ConicSet([[0, 0], [1, 0], [0, 1], [0, 1]], [-1, 0, 0, 0],
    ...                      [("second-order", 3), ("nonnegative", 1)])
    >>> half_disc.argmin([[0.0, -1.0]]).round(6) + 0.0
    array([[0., 1.]])

    The matrices ``[[1, z_0], [z_0, z_1]]`` without negative eigenvalues and with ``z_1 <= 1``:

    >>> root = 2 ** 0.5
    >>> cap = ConicSet([[0, 0], [root, 0], [0, 1], [0, -1]], [-1, 0, 0, -1],
    ...                [("semidefinite", 3), ("nonnegative", 1)])
    >>> cap.argmin([[1.0, 1.0]]).round(6)
    array([[-0.5 ,  0.25]])
    """

    H: ArrayLike
    h: ArrayLike
    cones: Sequence[Cone | tuple[str, int]]

    def __post_init__(self) -> None:
        self.H = H = np.asarray(self.H, dtype=float)
        self.h = h = np.asarray(self.h, dtype=float)
        if H.ndim != 2 or not H.shape[1] or h.shape != H.shape[:1]:
            raise SetError(f"ConicSet: H and h have shapes {H.shape} and {h.shape}")
        if not (np.isfinite(H).all() and np.isfinite(h).all()):
            raise SetError("ConicSet: H and h must be finite")
        self.cones = cones = tuple(Cone(*cone) for cone in self.cones)
        for cone in cones:
            wrong = cone.kind == "semidefinite" and side(cone.size) is None
            if cone.kind not in CONE_KINDS or cone.size < 0 or wrong:
                raise SetError(f"ConicSet: {cone} is no cone; kinds are {', '.join(CONE_KINDS)}")
        if sum(cone.size for cone in cones) != len(H):
            raise SetError(f"ConicSet: the cones take another number of rows than {len(H)}")
        self._form = ConicForm(H, h, cones)

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(self._form.H.shape[1])

    def conic_form(self) -> ConicForm:  # type: ignore[override]
        """Return the rows and the cones."""
        return self._form

    def check(self) -> None:
        """Refuse an empty set, and an unbounded one with the entry that has no limit."""
        check_nonempty_and_bounded(self._form, self)

    def contains(self, Z: ArrayLike, tolerance: float = INSIDE_TOL) -> Mask:
        """Return for each row of ``Z`` whether it lies in the set, relative to the set's size."""
        return Image(self, np.eye(self.dimension)).contains(Z, tolerance)

    def argmin(self, Q: ArrayLike, ties: Ties = "first") -> Array:
        """Return a minimiser of ``q'z`` for each row q of ``Q``; any, where several are optimal.

        With ``ties="center"``, the centre of their face.
        """
        rows = np.atleast_2d(np.asarray(Q, dtype=float))
        if self._form.polyhedral:
            # The solver's tolerances are absolute.
            Z = vertices_of_least_cost(
                self._form, rows / divisors(np.abs(rows).max(axis=1, keepdims=True))
            ).points
        else:
            Z = np.array([minimize_linear(self._form, q).point for q in rows])
        if ties == "center":
            for i in np.flatnonzero(self.tied(rows)):
                face = self.face(rows[i])
                Z[i] = face.at(face.Z.center())
        return Z.reshape(np.shape(Q))

    def tied(self, Q: ArrayLike) -> Mask:
        """Return for each row of ``Q`` whether it has more than one minimiser."""
        rows = np.atleast_2d(np.asarray(Q, dtype=float))
        return np.array([not self.face(q).is_point for q in rows], dtype=bool)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> Image:  # type: ignore[override]
        """Return all minimisers of ``q'z``; costs closer than the tolerance tie."""
        cost, face = np.asarray(q, dtype=float), Image(self, np.eye(self.dimension))
        margin = TIE_TOL * np.abs(cost).max() if tolerance is None else tolerance
        if np.abs(cost).max() > margin:
            point, basis, within = optimal_face(self._form, minimize_linear(self._form, cost), cost)
            if basis.shape[1] == 0:
                return Image.point(point)
            face = Image(ConicSet(*within), basis, point)
        lower, upper = face.bounding_box()
        if np.max(upper - lower) <= POINT_TOL * size_of(upper):
            return Image.point((lower + upper) / 2.0)
        return face

    def argmin_and_ties(self, Q: ArrayLike) -> tuple[Array, Mask]:
        """Return the minimisers of `argmin` and the answers of `tied`."""
        return self.argmin(Q), self.tied(Q)

    def minimum(self, Q: ArrayLike) -> Array:
        """Return ``min {q'z : z in Z}`` for each row q of ``Q``."""
        rows = np.atleast_2d(np.asarray(Q, dtype=float))
        return np.asarray(np.einsum("ij,ij->i", rows, self.argmin(rows)))

    def center(self) -> Array:
        """Return a point in the (relative) interior."""
        return minimize_linear(self._form, np.zeros(self.dimension)).point

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices of a polyhedral set as rows, in a fixed order."""
        if not self._form.polyhedral:
            raise TooManyVerticesError(f"{self!r} is curved: it has no finite list of vertices")
        return vertices_of_form(self._form, limit, self)  # type: ignore[arg-type]
