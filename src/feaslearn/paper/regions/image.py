"""One region: the image of a set under one map, with its faces and nearest points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.kernels import can_project, code_of, nearest
from feaslearn.paper.regions.cones import ConicForm
from feaslearn.paper.regions.faces import turn
from feaslearn.paper.regions.programs import (
    NORM_ORDERS,
    Nearest,
    minimize_linear,
    nearest_by_solver,
    nearest_listed,
    unit,
)
from feaslearn.sets.half_spaces import distinct, extreme_points, flat_dimension
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex
from feaslearn.tolerances import ACCEPT_TOL, MOST_VERTICES, ROUNDING, extent_of, powers_of_two


def form_of(Z: PrimitiveSet) -> ConicForm:
    """Return the conic form ``{z : H z - h in K}`` of a set; of a binary one, of its hull."""
    return cast(ConicForm, Z.conic_form())


def face_of(Z: PrimitiveSet, q: Array, tolerance: float | None = None) -> Image:
    """Return all minimisers of ``q'z`` in Z as the image of a (smaller) set."""
    face = Z.face(q, tolerance)
    return face if isinstance(face, Image) else Image(face.primitive, face.matrix, face.offset)


def turn_of(Z: PrimitiveSet, q: Array, direction: Array) -> Array:
    """Return the derivative of the minimiser of ``q'z`` when q moves in a direction.

    Zero where Z is polyhedral and the minimiser unique; a curved set turns.
    """
    form = form_of(Z)
    if form.polyhedral:
        return np.zeros(len(q))
    return turn(form, minimize_linear(form, q), q, direction)


@dataclass(frozen=True, eq=False, init=False)
class Image:
    r"""The set :math:`\{M z + m : z \in Z\}`.

    Parameters
    ----------
    Z : PrimitiveSet
        The set.
    matrix : array-like of shape (n, p)
        The matrix M.
    offset : array-like of shape (n,), default=None
        The vector m, zero by default.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> from feaslearn.paper import Image
    >>> triangle = Image(Simplex(3), [[0.0, 2, 0], [0, 0, 2]], [1.0, 1.0])
    >>> triangle.minimize([-1.0, 0.0])
    array([3., 1.])
    >>> triangle.distance([0.0, 1.0])
    1.0
    """

    Z: PrimitiveSet
    matrix: Array
    offset: Array

    def __init__(self, Z: PrimitiveSet, matrix: ArrayLike, offset: ArrayLike | None = None) -> None:
        M = np.ascontiguousarray(matrix, dtype=float)
        m = np.zeros(len(M)) if offset is None else np.ascontiguousarray(offset, dtype=float)
        if M.shape != (len(m), Z.dimension) or not (np.isfinite(M).all() and np.isfinite(m).all()):
            raise DataError(
                f"Image: matrix {M.shape} and offset {m.shape} do not map {Z!r}, or not to numbers"
            )
        for name, value in (("Z", Z), ("matrix", M), ("offset", m)):
            object.__setattr__(self, name, value)

    @classmethod
    def point(cls, value: Array) -> Image:
        """Return the set that holds one point."""
        return cls(Simplex(1), np.asarray(value, dtype=float)[:, None])

    @property
    def is_point(self) -> bool:
        """Whether the image is a single point by its description."""
        return self.Z.dimension == 1 and self.Z.absorbs_offset

    def at(self, z: Array) -> Array:
        """Return the image of a latent point."""
        return np.asarray(self.matrix @ z + self.offset)

    def minimize(self, cost: ArrayLike) -> Array:
        """Return a point of least cost ``c'x``."""
        return self.at(self.Z.argmin(self.matrix.T @ np.asarray(cost, dtype=float)))

    def optimal_face(self, cost: ArrayLike) -> Image:
        """Return all points of least cost."""
        face = face_of(self.Z, self.matrix.T @ np.asarray(cost, dtype=float))
        return Image(face.Z, self.matrix @ face.matrix, self.matrix @ face.offset + self.offset)

    def nearest(self, x: ArrayLike, norm: str = "l2") -> Nearest:
        """Return the latent z of the point nearest to ``x``; NaN entries of x do not count."""
        target = np.asarray(x, dtype=float) - self.offset
        # Standardized, so that tolerances mean the same for small numbers as for large ones.
        unit_size = powers_of_two(extent_of(self.matrix, np.nan_to_num(target)))
        target, M = target / unit_size, self.matrix / unit_size
        seen = ~np.isnan(target)
        if not seen.all():
            target, M = np.where(seen, target, 0.0), np.where(seen[:, None], M, 0.0)
        if self.Z.discrete:
            return nearest_listed(self.Z.vertices(), M, target, norm)
        code = code_of(self.Z)
        if norm == "l2" and code is not None and can_project(code):
            z = np.empty(self.Z.dimension)
            nearest(code, M, target, np.zeros(len(z)), 0.0, z)
            return Nearest(z, unit(M @ z - target, target))
        return nearest_by_solver(form_of(self.Z), M, target, norm)

    def distance(self, x: ArrayLike, norm: str = "l2") -> float:
        """Return the distance of ``x`` to the image in a norm; NaN entries do not count."""
        gap = np.nan_to_num(np.asarray(x, dtype=float) - self.at(self.nearest(x, norm).latent))
        return float(np.linalg.norm(gap, NORM_ORDERS[norm]))

    def contains(self, X: ArrayLike, tolerance: float = 1e-7) -> Mask:
        """Return for each row of ``X`` whether it lies in the image.

        The tolerance is relative to the size of the image; of a single point, which may be near
        zero by a solver's account, the last digits do not count either.
        """
        rows = np.atleast_2d(np.asarray(X, dtype=float))
        size = extent_of(self.matrix, ACCEPT_TOL * self.offset)
        allowed = max(tolerance * size, ROUNDING * self.is_point)
        return np.array([self.distance(x) <= allowed for x in rows])

    def bounding_box(self) -> tuple[Array, Array]:
        """Return the least and the greatest value of each coordinate."""
        n = len(self.offset)
        least = self.Z.minimum(np.vstack([self.matrix, -self.matrix]))
        return least[:n] + self.offset, self.offset - least[n:]

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices of the image as rows; all its points where Z is discrete."""
        if len(self.offset) == 1 and not self.Z.discrete:
            return distinct(np.array(self.bounding_box()))
        unit_size = powers_of_two(extent_of(self.matrix, self.offset))
        corners = self.Z.vertices(limit)
        points = corners @ (self.matrix / unit_size).T + self.offset / unit_size
        if self.Z.discrete:
            points = distinct(points)
        elif flat_dimension(points) != flat_dimension(corners):
            # Otherwise the map folds nothing and keeps every vertex.
            points = extreme_points(points)
        return np.asarray(unit_size * points)
